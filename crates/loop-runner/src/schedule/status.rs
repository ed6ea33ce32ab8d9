//! Whether a timer is in place, and what a person does about it.

use super::host::{Backend, Host};
use super::install::{InstallError, Piece, plan, removal};
use super::timer::{Timer, TimerError};
use crate::setup::Setup;
use loop_core::time::Timestamp;
use std::path::Path;

/// How what is in place compares with what would be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is in place.
    Absent,
    /// It is the same.
    Current,
    /// The schedule, the program, its paths or variables are others now.
    Stale,
}

impl Standing {
    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Current => "current",
            Self::Stale => "stale",
        }
    }
}

/// A loop's timer in the hands of one scheduler.
#[derive(Debug)]
pub struct Status {
    /// The scheduler.
    pub backend: Backend,
    /// Whether it is in place.
    pub standing: Standing,
    /// What an installation would change.
    pub pieces: Vec<Piece>,
    /// Whether the scheduler starts it; `None` when that cannot be told.
    pub enabled: Option<bool>,
}

/// Looks whether `backend` keeps the timer called `unit` as it is now.
///
/// # Errors
///
/// [`InstallError`] when what is in place cannot be read.
pub fn status(
    backend: Backend,
    timer: Result<&Timer, &TimerError>,
    unit: &str,
    host: &Host,
) -> Result<Status, InstallError> {
    let there = removal(backend, unit, host)?;
    let planned = match timer {
        Ok(timer) if !there.is_empty() => plan(backend, timer, host),
        _ => Ok(there.clone()),
    };
    // One that this scheduler could not keep any more is to go.
    let pieces = match planned {
        Err(InstallError::Timer(_)) => there.clone(),
        planned => planned?,
    };
    let standing = if there.is_empty() {
        Standing::Absent
    } else if pieces.iter().any(Piece::changes) {
        Standing::Stale
    } else {
        Standing::Current
    };
    Ok(Status {
        backend,
        standing,
        pieces,
        enabled: is_enabled(backend, unit, host).filter(|_| standing != Standing::Absent),
    })
}

/// Returns when the timer of a loop that is in place fires next; `None` when there
/// is none, or only its scheduler knows.
#[must_use]
pub fn next_fire(setup: &Setup, host: &Host) -> Option<Timestamp> {
    // Which program it starts makes no difference to when.
    let timer = Timer::of(setup, Path::new("/")).ok()?;
    let in_place = |backend: &Backend| {
        removal(*backend, &timer.unit, host).is_ok_and(|pieces| !pieces.is_empty())
    };
    let mut backends = Backend::ALL.into_iter().filter(in_place);
    backends.find_map(|backend| timer.next_fire(backend))
}

/// Whether `backend` starts the timer called `unit`, if its files tell.
#[must_use]
pub fn is_enabled(backend: Backend, unit: &str, host: &Host) -> Option<bool> {
    match backend {
        Backend::Systemd => {
            let link = host.wanted_by(unit)?;
            Some(link.symlink_metadata().is_ok())
        }
        // Every line of a crontab is in force.
        Backend::Cron => Some(true),
        Backend::Launchd => None,
    }
}

/// Returns the commands that make the timer run as it is in place now.
#[must_use]
pub fn to_start(backend: Backend, unit: &str, host: &Host) -> Vec<String> {
    match backend {
        Backend::Systemd => {
            let mut commands = vec!["systemctl --user daemon-reload".to_owned()];
            if is_enabled(backend, unit, host) == Some(true) {
                commands.push(format!("systemctl --user restart {unit}.timer"));
            } else {
                commands.push(format!("systemctl --user enable --now {unit}.timer"));
            }
            if !host.lingers {
                // Without it the timer ends with the user's last session.
                commands.push("loginctl enable-linger".to_owned());
            }
            commands
        }
        Backend::Cron => Vec::new(),
        Backend::Launchd => vec![
            format!("launchctl bootout gui/$(id -u)/{unit}"),
            format!("launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{unit}.plist"),
        ],
    }
}

/// Returns the commands that end a timer whose files are gone.
#[must_use]
pub fn to_stop(backend: Backend, unit: &str) -> Vec<String> {
    match backend {
        Backend::Systemd => vec![
            format!("systemctl --user stop {unit}.timer"),
            "systemctl --user daemon-reload".to_owned(),
        ],
        Backend::Cron => Vec::new(),
        Backend::Launchd => vec![format!("launchctl bootout gui/$(id -u)/{unit}")],
    }
}
