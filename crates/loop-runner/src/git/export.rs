//! Files without their repository: those of a commit, and those that an attempt consists of.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use gix::{
    ObjectId,
    bstr::BString,
    progress::Discard,
    worktree::{stack::state::attributes::Source, state::checkout},
};

use super::{
    changes::ChangesError,
    committed::entries_of,
    fault::GitFault,
    listing::{self, Listing, RealFolders, index_of},
    repository::Repository,
    snapshot::{Reach, SnapshotError},
    workspace::{Workspace, to_path},
};

/// Writes the files of a commit into an empty folder, without a `.git` and without running any
/// program: filter drivers are left out, line endings and the like are converted.
///
/// # Errors
///
/// When the commit cannot be read, the files cannot be written, or `stop` was set.
pub(crate) fn export_commit(
    repository: &Repository,
    commit: &str,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(), ChangesError> {
    let export = || -> Result<(), GitFault> {
        let git = repository.local();
        let id = object_id(commit)?;
        let mut index = git.index_from_tree(&git.find_commit(id)?.tree_id()?)?;
        let mut options = git.checkout_options(Source::IdMapping)?;
        options.filters.options_mut().drivers.clear();
        options.destination_is_initially_empty = true;
        let objects = git.objects.clone().into_arc()?;
        let outcome = checkout(
            &mut index, folder, objects, &Discard, &Discard, stop, options,
        )?;
        match outcome.collisions.first() {
            Some(collision) => Err(GitFault::new(format!(
                "two files of the tree have the same place on this file system: {}",
                collision.path
            ))),
            None => Ok(()),
        }
    };
    let exported = export();
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted.into());
    }
    exported.map_err(|source| ChangesError::Base {
        commit: commit.to_owned(),
        source,
    })
}

/// Lists the files and links of an attempt, below the workspace's top: what the base commit has,
/// and what is not ignored. Nothing behind a link is listed, and neither is a folder.
///
/// Returns `None` when there are too many to list.
///
/// # Errors
///
/// When the workspace or the base commit cannot be read, or when interrupted.
pub(crate) fn product_files(
    workspace: &Workspace,
    base: Option<&str>,
    stop: &AtomicBool,
) -> Result<Option<Vec<PathBuf>>, ChangesError> {
    let tracked = match (base, &workspace.git) {
        (Some(base), Some(git)) => {
            let read = || {
                let commit = object_id(base)?;
                entries_of(&git.to_thread_local(), commit)
            };
            let entries = read().map_err(|source| ChangesError::Base {
                commit: base.to_owned(),
                source,
            })?;
            entries.into_keys().collect()
        }
        _ => Listing::new(),
    };
    let Some(paths) = paths(workspace, &tracked, stop)? else {
        return Ok(None);
    };
    let mut folders = RealFolders::default();
    let is_file = |path: &PathBuf| {
        let meta = workspace.root.join(path).symlink_metadata();
        meta.is_ok_and(|meta| meta.is_file() || meta.is_symlink())
    };
    let files = paths
        .iter()
        .filter(|path| folders.hold(&workspace.root, path.as_ref()))
        .map(|path| to_path(path.as_ref()).to_owned())
        .filter(is_file);
    Ok(Some(files.collect()))
}

fn paths(
    workspace: &Workspace,
    tracked: &Listing,
    stop: &AtomicBool,
) -> Result<Option<Vec<BString>>, SnapshotError> {
    let reach = Reach::Repository;
    let Some(git) = &workspace.git else {
        return listing::plain(workspace, reach, stop);
    };
    let git = git.to_thread_local();
    let index = index_of(&git);
    let mut paths = listing::named(workspace, reach, &index, tracked);
    let new = listing::unnamed(workspace, reach, &git, &index, &paths, None, stop)?;
    paths.extend(new);
    paths.sort_unstable();
    Ok(Some(paths))
}

fn object_id(commit: &str) -> Result<ObjectId, GitFault> {
    ObjectId::from_hex(commit.as_bytes()).map_err(|error| GitFault::new(error.to_string()))
}
