//! Registrations of worktrees that a kill cut off before they named a folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{destination::INITIALIZING, fault::GitFault};

/// How long a registration may name no folder. It takes a live process microseconds.
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
