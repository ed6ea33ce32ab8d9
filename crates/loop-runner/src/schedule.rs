//! Timers that tick a loop: what the machine's own schedulers are told.
//!
//! Nothing is started here, and nothing is enabled: a timer is files of the user's,
//! or a few lines of the user's crontab, and what starts it is told as a command.

mod cron;
mod crontab;
mod files;
mod host;
mod install;
mod launchd;
mod status;
mod systemd;
mod timer;
pub mod zone;

#[cfg(test)]
mod tests;

pub use cron::cron_line;
pub use crontab::CrontabError;
pub use host::{Backend, Host, UnknownBackend};
pub use install::{InstallError, Piece, Place, apply, plan, removal};
pub use status::{Standing, Status, is_enabled, next_fire, status, to_start, to_stop};
pub use timer::{Timer, TimerError, unit_name};
