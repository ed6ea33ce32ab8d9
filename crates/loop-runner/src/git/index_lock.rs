//! Waiting for a git process that is at work in a worktree.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How often the lock is looked at.
const STEP: Duration = Duration::from_millis(20);

/// Waits until nobody holds the worktree's index, but no longer than `limit`.
///
/// Returns a warning when the lock is still there. It is left alone: whether its owner is alive
/// cannot be known (git closes the file while an editor is open), the engine itself only reads, and
/// an agent's own git says clearly what is in its way.
pub(super) fn wait(entry_dir: &Path, limit: Duration) -> Option<String> {
    let lock = entry_dir.join("index.lock");
    let deadline = Instant::now() + limit;
    while lock.symlink_metadata().is_ok() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Some(format!(
                "another git process seems to be running in the worktree, or was killed there; if \
                 there is none, remove {}",
                lock.display()
            ));
        }
        thread::sleep(STEP.min(left));
    }
    None
}
