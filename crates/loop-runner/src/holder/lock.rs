//! `step.lock`: held while anything of a step may be alive.

use super::{error::Refusal, file};
use std::{
    fs::{File, TryLockError},
    io::{self, Read, Seek, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How often a lock that another process holds is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// The lock of a step, given back when it is dropped or its process dies.
///
/// The descriptor is closed on exec, so that no child ever holds the lock.
#[derive(Debug)]
pub(super) struct StepLock {
    file: File,
}

/// Who holds a lock, as its file says.
///
/// The file's content means nothing unless the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A holder, which may be ended from outside.
    Holder { pid: u32, start: u64 },
    /// A process that does more than hold this step.
    Engine { pid: u32 },
}

impl StepLock {
    /// Takes the lock at `path`, waiting up to `patience` while `go_on` says so.
    pub(super) fn take(
        path: &Path,
        patience: Duration,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<Self, Refusal> {
        let trouble = |error| Refusal::io(format!("lock {}", path.display()))(error);
        let mut file = file::open_or_create(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => Refusal::LockForeign {
                what: error.to_string(),
            },
            _ => trouble(error),
        })?;
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::Error(error)) => return Err(trouble(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            if !go_on() {
                return Err(Refusal::EngineGone);
            }
            if asked.elapsed() >= patience {
                let pid = Owner::read(&mut file).map(Owner::pid);
                return Err(Refusal::StepAlive { pid });
            }
            thread::sleep(RETRY);
        }
    }

    /// Says in the file who has taken the lock.
    pub(super) fn sign(&mut self, owner: Owner) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        match owner {
            Owner::Holder { pid, start } => writeln!(self.file, "holder {pid} {start}"),
            Owner::Engine { pid } => writeln!(self.file, "engine {pid}"),
        }
    }
}

impl Owner {
    /// Reads who holds the lock at `path`.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::read(&mut file::open(path).ok()?)
    }

    pub(super) fn pid(self) -> u32 {
        match self {
            Self::Holder { pid, .. } | Self::Engine { pid } => pid,
        }
    }

    fn read(file: &mut File) -> Option<Self> {
        let mut text = String::new();
        file.rewind().ok()?;
        file.take(100).read_to_string(&mut text).ok()?;
        // Without its newline the line is still being written.
        let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
        match words[..] {
            ["holder", pid, start] => Some(Self::Holder {
                pid: pid.parse().ok()?,
                start: start.parse().ok()?,
            }),
            ["engine", pid] => Some(Self::Engine {
                pid: pid.parse().ok()?,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_taker_is_told_who_was_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("step.lock");
        let take = |patience| StepLock::take(&path, patience, || true);

        let mut first = take(Duration::ZERO).unwrap();
        let unsigned = take(Duration::ZERO).unwrap_err();
        assert_eq!(unsigned, Refusal::StepAlive { pid: None });
        for owner in [
            Owner::Engine { pid: 123_456 },
            Owner::Holder { pid: 7, start: 8 },
        ] {
            first.sign(owner).unwrap();
            assert_eq!(Owner::of(&path), Some(owner));
            let pid = Some(owner.pid());
            assert_eq!(
                take(Duration::ZERO).unwrap_err(),
                Refusal::StepAlive { pid }
            );
        }
        let hurried = StepLock::take(&path, Duration::MAX, || false);
        assert_eq!(hurried.unwrap_err(), Refusal::EngineGone);

        drop(first);
        // Other tests start processes, which hold a copy until they exec.
        take(Duration::from_secs(10)).unwrap();
    }

    #[test]
    fn what_leads_elsewhere_is_no_lock_and_is_not_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let [lock, precious] = ["step.lock", "precious"].map(|name| dir.path().join(name));
        std::fs::write(&precious, "holder 1 2\n").unwrap();
        type Plant = fn(&Path, &Path);
        let planted: [(&str, Plant); 4] = [
            ("is a link", |precious, lock| {
                std::os::unix::fs::symlink(precious, lock).unwrap();
            }),
            ("is a link", |_, lock| {
                std::os::unix::fs::symlink("absent", lock).unwrap();
            }),
            ("has another name elsewhere", |precious, lock| {
                std::fs::hard_link(precious, lock).unwrap();
            }),
            ("is not a regular file", |_, lock| {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, lock, kind, mode, 0).unwrap();
            }),
        ];
        for (what, plant) in planted {
            plant(&precious, &lock);
            let refusal = StepLock::take(&lock, Duration::ZERO, || true).unwrap_err();
            let what = what.to_owned();
            assert_eq!(refusal, Refusal::LockForeign { what });
            assert_eq!(Owner::of(&lock), None);
            assert_eq!(std::fs::read(&precious).unwrap(), b"holder 1 2\n");
            assert!(!dir.path().join("absent").exists());
            std::fs::remove_file(&lock).unwrap();
        }
    }

    #[test]
    fn unreadable_owners_are_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("step.lock");
        for text in [
            "",
            "holder 1 2",
            "holder 1\n",
            "engine x\n",
            "holder -1 2\n",
            "1 2\n",
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Owner::of(&path), None, "{text:?}");
        }
    }
}
