//! Throw-away folders of the gate's, beside the worktrees of the loop's tasks.

use super::{At, GateError};
use crate::nonce::random_bits;
use crate::setup::Setup;
use crate::workplace;
use loop_core::config::WorktreeFor;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How the names of such folders start; no task's name can.
const PREFIX: &str = ".gate-";

/// A folder that only the user can enter. Dropped, it is removed.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    /// Locked as long as the folder is in use.
    _lock: File,
}

impl Scratch {
    /// Makes one with these empty folders in it.
    pub(super) fn make(setup: &Setup, folders: &[&str]) -> Result<Self, GateError> {
        let parent = parent(setup);
        fs::create_dir_all(&parent).at("make", &parent)?;
        let folder = parent.join(format!("{PREFIX}{:016x}", random_bits()));
        make(&folder)?;
        // No repository around the home ever sees it.
        let hidden = folder.join(".gitignore");
        fs::write(&hidden, "*\n").at("write", &hidden)?;
        let lock = folder.join("lock");
        let locked = File::create_new(&lock).at("make", &lock)?;
        locked.lock().at("lock", &lock)?;
        let made = Self {
            folder,
            _lock: locked,
        };
        for name in folders {
            make(&made.at(name))?;
        }
        Ok(made)
    }

    /// Names a place in it.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is removed at the next start.
        let _left = remove(&self.folder);
    }
}

fn make(folder: &Path) -> Result<(), GateError> {
    DirBuilder::new()
        .mode(0o700)
        .create(folder)
        .at("make", folder)
}

/// Removes the folders that an engine left behind when it was killed. Those of a
/// running command stay.
///
/// # Errors
///
/// [`GateError`] when the folder that they lie in cannot be listed.
pub fn clean_up(setup: &Setup) -> Result<(), GateError> {
    let parent = parent(setup);
    let entries = match fs::read_dir(&parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at("list", &parent),
    };
    for entry in entries {
        let entry = entry.at("list", &parent)?;
        let is_ours = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        if is_ours && !is_in_use(&entry.path()) {
            let _left = remove(&entry.path());
        }
    }
    Ok(())
}

fn is_in_use(folder: &Path) -> bool {
    let opened = crate::git::plain_file::open(&folder.join("lock"));
    matches!(opened, Ok(Some((lock, _))) if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Removes a folder, also with folders in it that its gate has made read-only.
fn remove(folder: &Path) -> std::io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    make_writable(folder)?;
    fs::remove_dir_all(folder)
}

fn make_writable(folder: &Path) -> std::io::Result<()> {
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        if !folder.symlink_metadata()?.is_dir() {
            continue;
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                left.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The folder beside the worktrees of the loop's tasks.
pub(super) fn parent(setup: &Setup) -> PathBuf {
    let mut path = workplace::destination(setup, WorktreeFor::Loop, "");
    path.pop();
    path
}
