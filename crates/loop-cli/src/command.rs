//! The commands, one file each.

pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod config;
pub(crate) mod create;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod dry_run;
pub(crate) mod freeze;
pub(crate) mod gate;
pub(crate) mod gate_words;
pub(crate) mod harness;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod prompt;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod task;
pub(crate) mod tick;
pub(crate) mod trust;
pub(crate) mod validate;
pub(crate) mod worktree;
