//! What a person's command about a gate is about.

use super::{GateContext, GateError};
use crate::baseline;
use crate::changes::worktree_of;
use crate::setup::Setup;
use loop_core::answer::{FileRef, WorktreeRecord};
use loop_core::config::Gate;
use loop_core::state::{Finished, Frozen, State};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A task's gate, and where the task is worked on.
///
/// It is the task that is named, else the one that the loop waits about, else the
/// one that it is at, else the latest that it has finished.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The task; `None` when it is a finished one, or there is none.
    pub task: Option<String>,
    /// What was frozen for it; `None` when nothing was.
    pub frozen: Option<Frozen>,
    /// Its worktree; one that is gone leaves the project itself.
    pub worktree: Option<WorktreeRecord>,
    /// The commit that it began from, where it is worked on in the project itself.
    base: Option<String>,
}

impl Subject {
    /// Finds it in the state of a loop.
    ///
    /// # Errors
    ///
    /// [`GateError::NotKept`] when what was kept of the task's start is not as it
    /// was written.
    pub fn of(setup: &Setup, state: &State, task: Option<&str>) -> Result<Self, GateError> {
        let task = task
            .or(state.halted_task.as_deref())
            .or(state.current_task.as_deref());
        let progress = task.and_then(|task| state.progress.get(task));
        let gate = progress.and_then(|progress| progress.gate.as_ref());
        let finished = || state.finished.last();
        let (frozen, start) = match (progress, gate) {
            (Some(progress), Some(gate)) => (Some(gate.frozen.clone()), progress.baseline.clone()),
            _ => (
                finished().and_then(|done: &Finished| done.gate.clone()),
                finished().and_then(|done| done.baseline.clone()),
            ),
        };
        let worktree = worktree_of(setup, state, task).ok();
        Ok(Self {
            task: task.map(str::to_owned),
            frozen,
            worktree: worktree.filter(|found| Path::new(&found.path).is_dir()),
            base: start.map(|start| base_of(&start)).transpose()?.flatten(),
        })
    }

    /// Returns where its gate runs.
    #[must_use]
    pub fn context<'a>(
        &'a self,
        setup: &'a Setup,
        gate: &'a Gate,
        stop: &'a AtomicBool,
    ) -> GateContext<'a> {
        GateContext {
            setup,
            gate,
            tick: None,
            worktree: self.worktree.as_ref(),
            base: self.base.as_deref(),
            stop,
        }
    }
}

fn base_of(start: &FileRef) -> Result<Option<String>, GateError> {
    let read = baseline::of(start).map_err(|_| GateError::NotKept {
        path: start.path.clone(),
        mend: "give the loop another task",
    })?;
    Ok(read.head().map(str::to_owned))
}
