//! What a holder that was killed leaves behind.
//!
//! An agent can kill its holder. Its descendants, whatever session they have
//! gone to, are then orphans of the nearest ancestor that adopts any, and that
//! is the engine.

use super::process::{Entry, Process, end_all};
use rustix::process::{Signal, WaitOptions, getpid, set_child_subreaper, waitpid};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The holders that this engine has started and not reaped yet.
static HOLDERS: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// Makes this process the parent of all orphans among its descendants; returns
/// whether the system lets it.
pub(super) fn adopt() -> bool {
    set_child_subreaper(Some(getpid())).is_ok()
}

/// A holder that is known not to be a stray, until this is dropped.
#[derive(Debug)]
pub(super) struct Known(Process);

impl Known {
    pub(super) fn new(holder: Process) -> Self {
        holders().push(holder);
        Self(holder)
    }

    pub(super) fn process(&self) -> Process {
        self.0
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        holders().retain(|holder| *holder != self.0);
    }
}

/// Kills and reaps what a holder has left until nothing is, or gives up after
/// a while.
///
/// The holder must have exited, for only then are its children ours, and must
/// not be reaped yet.
pub(super) fn end(holder: &Known) {
    end_all(
        || find(holder.0),
        |stray| {
            if stray.dead {
                // Its parent may be another stray; then it comes to us later.
                let _ = waitpid(Some(stray.process.pid), WaitOptions::NOHANG);
            } else {
                stray.process.signal(Signal::KILL);
            }
        },
    );
}

/// Finds the strays, dead or alive, that `holder` may have left.
///
/// A stray is a child of ours in a session that is not ours: nobody can return
/// to a session, and the holder has left ours. It is not older than the holder,
/// and is no holder of another step. With it go all its descendants.
fn find(holder: Process) -> Vec<Entry> {
    let Some(engine) = Entry::read(getpid()) else {
        return Vec::new();
    };
    let known = holders().clone();
    let (mut strays, others): (Vec<_>, Vec<_>) = Entry::all()
        .into_iter()
        .filter(|entry| !known.contains(&entry.process))
        .partition(|entry| {
            entry.parent == Some(engine.process.pid)
                && entry.session != engine.session
                && entry.process.start() >= holder.start()
        });
    let roots: Vec<_> = strays.iter().map(|entry| entry.process.pid).collect();
    strays.extend(Entry::family(roots, others));
    strays
}

fn holders() -> MutexGuard<'static, Vec<Process>> {
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}
