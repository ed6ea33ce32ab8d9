//! The user's other worktrees, and the submodules of the main checkout.
//!
//! Only their administration is looked at: that a worktree is there, where, and what it stands on;
//! what a submodule runs and how it is configured. The files and the indexes of both are not.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use gix::bstr::ByteSlice;

use crate::git::{
    plain_file::{self, is_absent},
    snapshot::SnapshotError,
    workspace::to_path,
};

use super::administration::MAX_FILES;

/// The files of a worktree's entry that count.
pub(super) const WORKTREE: [&str; 2] = ["gitdir", "HEAD"];
/// The longest `gitdir` that is read, in bytes.
const MAX_LINK: u64 = 1 << 16;

/// Returns the entries of the worktrees that are not below a folder of `engines`.
///
/// One whose checkout is missing is left out: git's own tidying removes it sooner or later. One
/// without a place, or with a part of one, is just being made, or unmade: a place ends in `.git`.
pub(super) fn users_worktrees(
    common_dir: &Path,
    engines: &[PathBuf],
) -> Result<Vec<PathBuf>, SnapshotError> {
    let real = engines
        .iter()
        .filter_map(|folder| folder.canonicalize().ok());
    let engines: Vec<_> = engines.iter().cloned().chain(real).collect();
    let is_users = |entry: &PathBuf| {
        let link = plain_file::read(&entry.join("gitdir"), MAX_LINK);
        let Some(link) = link.ok().flatten() else {
            return false;
        };
        // It may be relative to its entry.
        let place = entry.join(to_path(link.trim().as_bstr()));
        let is_loops = engines.iter().any(|folder| place.starts_with(folder))
            && !place.components().any(|part| part == Component::ParentDir);
        !is_loops && place.ends_with(".git") && place.symlink_metadata().is_ok()
    };
    let mut entries = folders(&common_dir.join("worktrees"))?;
    entries.retain(is_users);
    Ok(entries)
}

/// Returns the git folders of the submodules, and of theirs. Their names may have several parts.
pub(super) fn submodules(common_dir: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let mut found = Vec::new();
    let mut open = vec![common_dir.join("modules")];
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        for inner in folders(&folder)? {
            seen += 1;
            if seen > MAX_FILES {
                return Err(too_many(folder));
            }
            if inner.join("HEAD").symlink_metadata().is_ok() {
                open.push(inner.join("modules"));
                found.push(inner);
            } else {
                open.push(inner);
            }
        }
    }
    Ok(found)
}

/// Lists the folders in a folder, if it is there; a link is none.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let failed = |source| SnapshotError::Read {
        path: folder.to_owned(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            found.push(entry.path());
        }
        if found.len() > MAX_FILES {
            return Err(too_many(folder.to_owned()));
        }
    }
    Ok(found)
}

fn too_many(path: PathBuf) -> SnapshotError {
    SnapshotError::Read {
        path,
        source: io::Error::other("it holds too many folders"),
    }
}
