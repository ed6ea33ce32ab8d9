//! One engine at a time registers a worktree with a repository.

use std::{
    fs::{File, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// The longest wait. A registration takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is tried.
const STEP: Duration = Duration::from_millis(5);

/// Holds off the registrations of other loops while it lives.
///
/// While a worktree is added, all entries are read, and one that is being written at that moment
/// makes this fail. The lock is on the repository's folder itself, so nothing is written into it;
/// the system frees it when its holder is killed.
#[derive(Debug)]
pub(super) struct Turn {
    _held: Option<File>,
}

impl Turn {
    /// Waits for its turn. Where folders cannot be locked, or nobody else finishes, it goes on.
    pub(super) fn wait(common_dir: &Path) -> Self {
        let Ok(folder) = File::open(common_dir) else {
            return Self { _held: None };
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match folder.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(STEP),
                Err(_) => return Self { _held: None },
            }
        }
        Self {
            _held: Some(folder),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    // cases: 80
    #[test]
    fn a_second_one_waits_for_the_first() {
        let dir = tempfile::TempDir::new().unwrap();
        let first = Turn::wait(dir.path());
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let second = Turn::wait(dir.path());
                sender.send(()).unwrap();
                drop(second);
            });
            let early = receiver.recv_timeout(Duration::from_millis(50));
            assert!(early.is_err());
            drop(first);
            receiver.recv_timeout(PATIENCE).unwrap();
        });
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
