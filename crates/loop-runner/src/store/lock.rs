//! The loop's lock: one writer at a time.

use super::error::OpenError;
use super::file::At;
use super::paths::LoopDir;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
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
            let mut file = open(&path).at("open", &path)?;
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

    /// Whether nobody else could take the lock now.
    pub(super) fn is_held(&self) -> bool {
        let other = OpenOptions::new().read(true).open(&self.path);
        match other {
            // The lock lives in the open file, wherever its name has gone.
            Ok(other) if is_at(&self.file, &self.path) => {
                matches!(other.try_lock(), Err(TryLockError::WouldBlock))
            }
            _ => true,
        }
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Whether `path` still names `file`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Leaves our number for people; the lock does not depend on it.
fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
