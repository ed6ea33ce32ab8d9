//! What a loop has changed in the worktree of a task.

use crate::git::{Changes, ChangesError, FileStat, Reach, Replaced, Stray, Workspace};
use crate::setup::Setup;
use crate::workplace;
use loop_core::answer::WorktreeRecord;
use loop_core::state::State;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Changes that cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// There is no worktree to compare.
    #[error("{what}")]
    NoWorktree {
        /// Why, and what to do instead.
        what: String,
    },
    /// The worktree is not the one that was made.
    #[error(transparent)]
    Replaced(#[from] Replaced),
    /// The comparison failed.
    #[error(transparent)]
    Changes(#[from] ChangesError),
    /// The patch could not be written out.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes what `task` has changed since its worktree was made, as a patch with
/// new files in it, and returns the numbers of lines by file.
///
/// # Errors
///
/// [`DiffError`].
pub fn write_patch(
    setup: &Setup,
    worktree: &WorktreeRecord,
    out: &mut dyn Write,
) -> Result<Vec<FileStat>, DiffError> {
    let Some(repository) = &setup.repository else {
        return Err(DiffError::NoWorktree {
            what: format!(
                "{} is not in a git repository",
                setup.project.root().display()
            ),
        });
    };
    let recorded = workplace::recorded(worktree);
    if recorded.path.symlink_metadata().is_err() {
        return Err(DiffError::NoWorktree {
            what: format!(
                "the worktree {} was removed; its branch {} is still there, and what was in no \
                 commit was saved when it was pruned",
                worktree.path, worktree.branch
            ),
        });
    }
    let workspace = Workspace::of_worktree(repository, &recorded, Path::new(""))?;
    let stop = AtomicBool::new(false);
    let changes = Changes::since_commit(&workspace, &recorded.base, Reach::Repository, &stop)?;
    Ok(changes.write_patch(out)?)
}

/// Returns what a worktree stands on instead of its branch, if that can be told.
#[must_use]
pub fn stray_of(setup: &Setup, worktree: &WorktreeRecord) -> Option<Stray> {
    let repository = setup.repository.as_ref()?;
    let found = Stray::of(repository, &workplace::recorded(worktree));
    found.ok().flatten()
}

/// Returns the worktree of `task`; without a name, that of the current task,
/// else of the latest finished one.
///
/// # Errors
///
/// [`DiffError::NoWorktree`] when there is none.
pub fn worktree_of(
    setup: &Setup,
    state: &State,
    task: Option<&str>,
) -> Result<WorktreeRecord, DiffError> {
    let finished = |name: Option<&str>| {
        let mut latest = state.finished.iter().rev();
        latest.find(|done| name.is_none_or(|name| done.task == name))
    };
    let current = task.or(state.current_task.as_deref());
    let found = current
        .and_then(|task| state.progress_of(task).worktree)
        .or_else(|| state.worktree.clone())
        .or_else(|| finished(task).and_then(|done| done.worktree.clone()));
    found.ok_or_else(|| DiffError::NoWorktree {
        what: match (task, setup.config.blast_radius().use_worktree()) {
            (_, false) => format!(
                "{} works in the project itself; git diff shows what was changed",
                setup.name
            ),
            (Some(task), true) => format!("{} has no worktree for {task} yet", setup.name),
            (None, true) => format!("{} has no worktree yet", setup.name),
        },
    })
}
