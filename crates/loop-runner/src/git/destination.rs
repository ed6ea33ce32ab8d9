//! The folder that a worktree is to be made in, and what is there already.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use gix::{
    bstr::{BStr, ByteSlice},
    refs::FullName,
    worktree::Proxy,
};

use super::{error::WorktreeError, fault::GitFault, plain_file, rules, workspace::to_bytes};

/// What git and the engine write into `locked` while a worktree is being made.
pub(super) const INITIALIZING: &[u8] = b"initializing";

/// The longest HEAD that is read, in bytes.
const MAX_HEAD: u64 = 1 << 20;

/// What [`clear`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupant {
    /// Nothing, or no longer anything.
    Nobody,
    /// A complete worktree on the wanted branch.
    Complete,
}

/// Makes a path absolute and free of links, though its end need not exist.
pub(super) fn resolve(dest: &Path) -> Result<PathBuf, GitFault> {
    let dest = std::path::absolute(dest)?;
    let mut missing = Vec::new();
    for ancestor in dest.ancestors() {
        match ancestor.canonicalize() {
            Ok(mut path) => {
                path.extend(missing.iter().rev());
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing.extend(ancestor.file_name());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(dest)
}

/// Refuses a folder that the user's own checkout would show as untracked.
pub(super) fn refuse_inside(git: &gix::Repository, dest: &Path) -> Result<(), WorktreeError> {
    let refusal = || WorktreeError::InsideRepository {
        dest: dest.to_owned(),
    };
    let common = git.common_dir().canonicalize().map_err(GitFault::from)?;
    if dest.starts_with(common) {
        return Err(refusal());
    }
    let Some(top) = git.workdir() else {
        return Ok(());
    };
    let top = top.canonicalize().map_err(GitFault::from)?;
    match dest.strip_prefix(top) {
        Err(_) => Ok(()),
        Ok(inside) if is_ignored(git, inside)? => Ok(()),
        Ok(_) => Err(refusal()),
    }
}

/// Tells whether the repository ignores a folder, given by its place below the top level.
pub(super) fn is_ignored(git: &gix::Repository, inside: &Path) -> Result<bool, GitFault> {
    use gix::worktree::stack::state::ignore::Source;
    if let Some(top) = git.workdir() {
        rules::check_down_to(top, inside).map_err(|error| GitFault::new(error.to_string()))?;
    }
    let index = git.index_or_empty()?;
    let mut excludes = git.excludes(&index, None, Source::WorktreeThenIdMappingIfNotSkipped)?;
    let at = excludes.at_path(inside, Some(gix::index::entry::Mode::DIR))?;
    Ok(at.is_excluded())
}

/// Clears the way for a worktree at `dest` on the branch `name`.
///
/// Removes only what is the engine's own: the entry of a worktree that is gone, and a worktree that
/// was never finished and holds nothing but files of the branch.
pub(super) fn clear(
    git: &gix::Repository,
    dest: &Path,
    name: &FullName,
) -> Result<Occupant, WorktreeError> {
    let Some(entry) = entry_at(git, dest)? else {
        refuse_foreign(dest)?;
        return Ok(Occupant::Nobody);
    };
    let reason = entry.lock_reason();
    if reason
        .as_deref()
        .is_some_and(|reason| reason == INITIALIZING)
    {
        refuse_mixed(git, dest, name)?;
        remove_if_there(dest)?;
        remove_if_there(entry.git_dir())?;
        return Ok(Occupant::Nobody);
    }
    if dest.symlink_metadata().is_ok() {
        return complete(&entry, dest, name);
    }
    if entry.is_locked() {
        return Err(WorktreeError::Locked {
            dest: dest.to_owned(),
            reason: reason.unwrap_or_default().to_string(),
        });
    }
    remove_if_there(entry.git_dir())?;
    Ok(Occupant::Nobody)
}

/// The repository's entry for a worktree at `dest`.
fn entry_at<'a>(git: &'a gix::Repository, dest: &Path) -> Result<Option<Proxy<'a>>, GitFault> {
    let is_it = |entry: &Proxy<'_>| {
        entry
            .base()
            .is_ok_and(|base| resolve(&base).is_ok_and(|base| base == dest))
    };
    Ok(git.worktrees()?.into_iter().find(is_it))
}

/// Accepts a finished worktree if it is on our branch.
fn complete(entry: &Proxy<'_>, dest: &Path, name: &FullName) -> Result<Occupant, WorktreeError> {
    let head = plain_file::read(&entry.git_dir().join("HEAD"), MAX_HEAD)
        .map_err(GitFault::from)?
        .unwrap_or_default();
    let expected = format!("ref: {}", name.as_bstr());
    if head.trim() == expected.as_bytes() {
        return Ok(Occupant::Complete);
    }
    Err(WorktreeError::Occupied {
        dest: dest.to_owned(),
        found: format!("a worktree with another HEAD ({})", head.trim().as_bstr()),
    })
}

/// Refuses a place that is not free: anything but nothing or an empty folder.
fn refuse_foreign(dest: &Path) -> Result<(), WorktreeError> {
    let occupied = |found: String| WorktreeError::Occupied {
        dest: dest.to_owned(),
        found,
    };
    match dest.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(GitFault::from(error).into()),
        Ok(meta) if !meta.is_dir() => Err(occupied("it is not a folder".to_owned())),
        Ok(_) => match fs::read_dir(dest).map_err(GitFault::from)?.next() {
            None => Ok(()),
            Some(entry) => {
                let name = entry.map_err(GitFault::from)?.file_name();
                Err(occupied(format!("it holds {}", name.display())))
            }
        },
    }
}

/// Refuses to make an unfinished worktree anew when it holds a file that is not the branch's.
fn refuse_mixed(git: &gix::Repository, dest: &Path, name: &FullName) -> Result<(), WorktreeError> {
    let tree = match git
        .try_find_reference(name.as_ref())
        .map_err(GitFault::from)?
    {
        Some(mut branch) => branch
            .peel_to_commit()
            .and_then(|commit| git.index_from_tree(&commit.tree_id()?))
            .map(Some)
            .map_err(GitFault::from)?,
        None => None,
    };
    let is_ours = |path: &BStr| {
        path == ".git"
            || tree
                .as_ref()
                .is_some_and(|tree| tree.entry_by_path(path).is_some())
    };
    match first_other(dest, dest, &is_ours).map_err(GitFault::from)? {
        None => Ok(()),
        Some(other) => Err(WorktreeError::Occupied {
            dest: dest.to_owned(),
            found: format!("an unfinished worktree that holds {}", other.display()),
        }),
    }
}

/// Finds a file below `dir` that is not ours.
fn first_other(
    top: &Path,
    dir: &Path,
    is_ours: &dyn Fn(&BStr) -> bool,
) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let below = path.strip_prefix(top).unwrap_or(&path);
        let other = if entry.file_type()?.is_dir() {
            first_other(top, &path, is_ours)?
        } else {
            (!is_ours(to_bytes(below).as_ref())).then(|| below.to_owned())
        };
        if other.is_some() {
            return Ok(other);
        }
    }
    Ok(None)
}

fn remove_if_there(dir: &Path) -> Result<(), GitFault> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
