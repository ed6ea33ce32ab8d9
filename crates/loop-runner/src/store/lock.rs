//! The loop's lock: one writer at a time.

use super::error::OpenError;
use super::file::{At, open_to_read, open_to_write};
use super::paths::LoopDir;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between a fork and its exec a child holds a copy of every descriptor, so a
/// lock that is free can look held for an instant.
const TRIES: u32 = 4;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// The lock while it is held. The kernel frees it when its process ends, and
/// its file is never deleted.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    pub(super) fn acquire(dir: &LoopDir) -> Result<Self, OpenError> {
        let path = dir.lock();
        let mut tries = 0;
        loop {
            tries += 1;
            let mut file = open_to_write(&path, OpenOptions::new().read(true).write(true))
                .at("open", &path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    write_pid(&mut file).at("write", &path)?;
                    return Ok(Self { file, path });
                }
                // Somebody took the file away meanwhile: lock the one that is there.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if tries >= TRIES => {
                    return Err(OpenError::Locked { by: pid(&mut file) });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
                Err(TryLockError::Error(error)) => return Err(error).at("lock", &path)?,
            }
        }
    }

    /// Whether its path still names the file that is locked. If it does not,
    /// somebody else can lock what is there now, and drive the loop as well.
    pub(super) fn is_ours_alone(&self) -> bool {
        debug_assert!(
            self.refuses_others(),
            "the lock is held as long as it exists"
        );
        is_at(&self.file, &self.path)
    }

    /// Whether the file, if it is still there, cannot be locked a second time.
    fn refuses_others(&self) -> bool {
        match open_to_read(&self.path) {
            Ok(other) if same(&self.file.metadata(), &other.metadata()) => {
                matches!(other.try_lock(), Err(TryLockError::WouldBlock))
            }
            _ => true,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether `path` itself, and not a link there, names `file`.
fn is_at(file: &File, path: &Path) -> bool {
    same(&file.metadata(), &path.symlink_metadata())
}

fn same(one: &io::Result<Metadata>, other: &io::Result<Metadata>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Leaves our number for people; the lock does not depend on it.
fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
