//! What a kill leaves when it hits the few microseconds in which something is registered.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use gix::refs::FullName;

use super::{destination::INITIALIZING, fault::GitFault};

/// How long something may be half done. It takes a live process microseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked at.
const STEP: Duration = Duration::from_millis(10);

/// Waits for registrations that are being written, and removes those that never will be.
///
/// One with an empty `gitdir` belongs to no folder, and with it there no worktree can be added.
/// Another loop may be writing it just now; hence the wait.
pub(super) fn settle(git: &gix::Repository) -> Result<(), GitFault> {
    let deadline = Instant::now() + PATIENCE;
    let worktrees = git.common_dir().join("worktrees");
    loop {
        let torn = torn_in(&worktrees)?;
        if torn.is_empty() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            for entry in torn {
                fs::remove_dir_all(entry)?;
            }
            return Ok(());
        }
        thread::sleep(STEP);
    }
}

/// Waits for the lock of a branch that is not there yet, and removes one that nobody will.
///
/// The caller has its turn and the branch is named after a loop, so no other process has a reason to
/// create it; a lock that outlasts the wait was left by a kill.
pub(super) fn unlock_branch(git: &gix::Repository, name: &FullName) -> Result<(), GitFault> {
    let lock = git.common_dir().join(format!("{}.lock", name.as_bstr()));
    let deadline = Instant::now() + PATIENCE;
    while lock.symlink_metadata().is_ok() {
        if Instant::now() >= deadline {
            fs::remove_file(&lock)?;
        }
        thread::sleep(STEP);
    }
    Ok(())
}

fn torn_in(worktrees: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(worktrees) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut torn = Vec::new();
    for entry in entries {
        let entry = entry?.path();
        let is_empty = fs::metadata(entry.join("gitdir")).is_ok_and(|meta| meta.len() == 0);
        let is_unfinished =
            fs::read(entry.join("locked")).is_ok_and(|reason| reason.trim_ascii() == INITIALIZING);
        if is_empty && is_unfinished {
            torn.push(entry);
        }
    }
    Ok(torn)
}
