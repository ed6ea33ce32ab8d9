//! Fills a new worktree without running any program.

use std::sync::atomic::AtomicBool;

use gix::{
    progress::Discard,
    worktree::{stack::state::attributes::Source, state::checkout},
};

use super::fault::GitFault;

/// Writes the files of HEAD and the index of `worktree`, whose folder is empty but for `.git`.
///
/// Line endings, encodings and keywords are converted as the configuration and the attributes have
/// it. Filter drivers are left out: a filter is a program, and what is stored is what is written.
/// Patterns of a sparse checkout are left out too, so the whole tree is there.
pub(super) fn fill(worktree: &gix::Repository, stop: &AtomicBool) -> Result<(), GitFault> {
    let folder = worktree
        .workdir()
        .ok_or_else(|| GitFault::new("the worktree has no folder"))?;
    let mut index = worktree.index_from_tree(&worktree.head_tree_id()?)?;
    let mut options = worktree.checkout_options(Source::IdMapping)?;
    options.filters.options_mut().drivers.clear();
    options.destination_is_initially_empty = true;
    let outcome = checkout(
        &mut index,
        folder,
        worktree.objects.clone().into_arc()?,
        &Discard,
        &Discard,
        stop,
        options,
    )?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(GitFault::new("interrupted"));
    }
    if let Some(collision) = outcome.collisions.first() {
        return Err(GitFault::new(format!(
            "two files of the tree have the same place on this file system: {}",
            collision.path
        )));
    }
    index.write(gix::index::write::Options::default())?;
    Ok(())
}
