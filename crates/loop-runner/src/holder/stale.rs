//! What an engine that died may have left.

use super::{
    error::{Refusal, alive},
    lock::{Owner, StepLock},
};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// What was found of an earlier step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// Nothing, or it ended by itself.
    Gone,
    /// A holder that had to be told.
    Ended {
        /// The holder's process id.
        pid: u32,
    },
}

/// Why an earlier step cannot be known to have ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StaleError {
    /// The lock is still held.
    #[error("an earlier attempt is alive, {}", alive(*.pid))]
    Alive {
        /// The process that holds the lock, if its file names one.
        pid: Option<u32>,
    },
    /// Something else stands in the place of the lock's file.
    #[error("{} {what}; remove it", .path.display())]
    LockForeign {
        /// The lock's file.
        path: PathBuf,
        /// What it is, as it follows the path.
        what: String,
    },
    /// The lock could not be tried.
    #[error("cannot {doing}")]
    Io {
        /// What was being done, as it follows "cannot".
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Makes sure that nothing of an earlier step is alive.
///
/// A holder whose engine is gone ends everything by itself, so this first waits
/// up to `patience`. Then it ends the holder that the lock's file names, first
/// with SIGTERM and, after `patience` again, by killing all of it. It never
/// touches a process that started at another time than the file says, nor one
/// that is more than a holder.
///
/// Call it while holding the loop's own lock: then no other engine has a step.
/// The step's lock is free when this returns, and a holder that takes it later
/// starts nothing, because its engine is gone.
///
/// # Errors
///
/// Returns [`StaleError::Alive`] if the lock is held in spite of all that.
pub fn end_stale(step_lock: &Path, patience: Duration) -> Result<Stale, StaleError> {
    // A link to nothing is something.
    let exists = step_lock.exists() || step_lock.is_symlink();
    if !exists || is_free(step_lock, patience)? {
        return Ok(Stale::Gone);
    }
    match Owner::of(step_lock) {
        Some(Owner::Holder { pid, start }) => end_holder(step_lock, patience, pid, start),
        other => Err(StaleError::Alive {
            pid: other.map(Owner::pid),
        }),
    }
}

#[cfg(target_os = "linux")]
fn end_holder(
    step_lock: &Path,
    patience: Duration,
    pid: u32,
    start: u64,
) -> Result<Stale, StaleError> {
    use super::process::Process;
    use rustix::process::Signal;

    let alive = StaleError::Alive { pid: Some(pid) };
    let Some(holder) = Process::noted(pid, start) else {
        return Err(alive);
    };
    holder.signal(Signal::TERM);
    holder.signal(Signal::CONT);
    if is_free(step_lock, patience)? {
        return Ok(Stale::Ended { pid });
    }
    holder.kill_family();
    if is_free(step_lock, patience)? {
        return Ok(Stale::Ended { pid });
    }
    Err(alive)
}

#[cfg(not(target_os = "linux"))]
fn end_holder(_: &Path, _: Duration, pid: u32, _: u64) -> Result<Stale, StaleError> {
    Err(StaleError::Alive { pid: Some(pid) })
}

/// Tells whether the lock can be had within `patience`.
fn is_free(step_lock: &Path, patience: Duration) -> Result<bool, StaleError> {
    match StepLock::take(step_lock, patience, || true) {
        Ok(_) => Ok(true),
        Err(Refusal::LockForeign { what }) => Err(StaleError::LockForeign {
            path: step_lock.to_owned(),
            what,
        }),
        Err(Refusal::Io { doing, errno }) => Err(StaleError::Io {
            doing,
            source: super::error::system_error(errno),
        }),
        Err(_) => Ok(false),
    }
}
