//! Whether an agent left alone what is not its work (decision D-16, case 88).
//!
//! Take an [`Outside`] just before a call and ask it for its [changes](Outside::changes) just after.

use crate::git::{self, SnapshotError, Watched};
use crate::setup::Setup;
use loop_core::answer::WorktreeRecord;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

pub use crate::git::OutsideChange;

/// What belonged to the user besides an agent's place of work, at one moment.
///
/// It covers the repository's hooks, configuration and `info`, HEAD, branches, tags and the stash, what is
/// staged, and in the project's own checkout the files that were as committed or staged, and new
/// files that are not ignored. Of the user's other worktrees it covers that they are there, where,
/// and their HEAD; of submodules the hooks and the configuration. It leaves out the files of both, branches of remotes and of loops, files that had been
/// edited before, ignored files, and `.automaton`. For work in the project itself the files of the
/// project are the work and do not count, staged or not.
#[derive(Debug)]
pub struct Outside {
    found: git::Outside,
    in_place: bool,
}

impl Outside {
    /// Looks at everything once; `worktree` is where the agent is going to work. Set `stop` to
    /// `true` to give up.
    ///
    /// Returns `None` outside of a repository, where there is nothing to compare with.
    ///
    /// # Errors
    ///
    /// When the repository or the checkout cannot be read, or when interrupted.
    pub fn take(
        setup: &Setup,
        worktree: Option<&WorktreeRecord>,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, SnapshotError> {
        let in_place = worktree.is_none();
        let found = with_watched(setup, in_place, |watched| git::Outside::take(watched, stop));
        let found = found.transpose()?;
        Ok(found.map(|found| Self { found, in_place }))
    }

    /// Looks again, and tells what is not as it was: up to fifty changes, and how many more.
    ///
    /// # Errors
    ///
    /// Those of [`Outside::take`]. What is not known must not be taken for unchanged.
    pub fn changes(
        &self,
        setup: &Setup,
        stop: &AtomicBool,
    ) -> Result<Vec<OutsideChange>, SnapshotError> {
        let changes = with_watched(setup, self.in_place, |watched| {
            self.found.changes(watched, stop)
        });
        changes.unwrap_or_else(|| Ok(Vec::new()))
    }
}

fn with_watched<T>(
    setup: &Setup,
    in_place: bool,
    look: impl FnOnce(&Watched<'_>) -> T,
) -> Option<T> {
    let repository = setup.repository.as_ref()?;
    // A project beside the checkout, as with a bare repository, has no file in it.
    let place = repository.place_of(setup.project.root());
    let data = setup.project.data();
    let engines: [PathBuf; 3] = [
        setup.home.worktrees(),
        data.join("loops"),
        data.join("tasks"),
    ];
    Some(look(&Watched {
        repository,
        place: &place.unwrap_or_default(),
        in_place,
        engines: &engines,
    }))
}
