//! The checks that need no judge: the baseline, what changed, the acceptance gate.

use super::Driver;
use crate::baseline;
use crate::kept;
use crate::scope_check::{ScopeError, scope_check, take_out, take_start};
use crate::setup::Setup;
use crate::store::HeldError;
use crate::workplace::Unready;
use loop_core::answer::{Scoped, StepFault};
use loop_core::outcome::Error;
use loop_core::step::{Check, Workplace};
use loop_core::{Step, StepAnswer};
use std::sync::atomic::AtomicBool;

impl Driver<'_> {
    /// Keeps the state that the task's changes are measured from.
    pub(super) fn baseline(&mut self, place: &Workplace) -> Result<(), HeldError> {
        let setup = self.setup;
        let (kept, elapsed) = self.in_thread(|stop| {
            match take_start(setup, place.recorded.as_ref(), stop) {
                Ok(start) => baseline::keep(setup, &place.task, &start).map(Some),
                // Without limits nothing depends on it.
                Err(ScopeError::Unknown) if !setup.config.limits_changes() => Ok(None),
                Err(error) => Err(unknown(error)),
            }
        });
        let answer = match kept {
            Ok(kept) => StepAnswer::Baseline(kept),
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }

    /// Lists what has changed, and what of it was not allowed.
    pub(super) fn scope(&mut self, check: &Check) -> Result<(), HeldError> {
        let setup = self.setup;
        let (scoped, elapsed) = self.in_thread(|stop| look(setup, check, stop));
        let answer = match scoped {
            Ok(scoped) => {
                let words = match scoped.files {
                    1 => "1 file differs".to_owned(),
                    files => format!("{files} files differ"),
                };
                self.watch.ended(Step::Scope, &words);
                StepAnswer::Scope(scoped)
            }
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }

    /// Takes the work of a task that is put aside out of the worktree that the
    /// next task is worked on in.
    pub(super) fn set_aside(&mut self, check: &Check) -> Result<(), HeldError> {
        self.held.begin()?;
        self.watch.started(Step::SetAside);
        let setup = self.setup;
        let (taken, elapsed) = self.in_thread(|_| {
            let (Some(worktree), Some(kept)) = (&check.worktree, &check.baseline) else {
                return Ok(None);
            };
            // It is short, and has to be done to its end.
            let never = AtomicBool::new(false);
            let start = baseline::read(kept)?;
            let patch = take_out(setup, worktree, &start, check.tick, &never).map_err(unknown)?;
            let named = patch.map(|path| {
                kept::name(&path).map_err(|source| unknown(ScopeError::Write { path, source }))
            });
            named.transpose()
        });
        let answer = match taken {
            Ok(patch) => {
                if let Some(patch) = &patch {
                    let words = format!("what it had changed is in {}", patch.path);
                    self.watch.ended(Step::SetAside, &words);
                }
                StepAnswer::SetAside(patch)
            }
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }
}

/// Compares the place of work with how it was as the task started.
pub(super) fn look(setup: &Setup, check: &Check, stop: &AtomicBool) -> Result<Scoped, Unready> {
    let Some(kept) = &check.baseline else {
        return Ok(Scoped::default());
    };
    let start = baseline::read(kept)?;
    let worktree = check.worktree.as_ref();
    let own = &check.judges_own;
    let checked = scope_check(setup, worktree, &start, own, check.tick, stop).map_err(unknown)?;
    let patch = kept::name(&checked.patch).map_err(|source| {
        unknown(ScopeError::Write {
            path: checked.patch.clone(),
            source,
        })
    })?;
    Ok(Scoped {
        files: checked.changes.len() as u64,
        violations: checked.violations,
        patch: Some(patch),
    })
}

/// What is not known must not be taken for allowed.
fn unknown(error: ScopeError) -> Unready {
    if error.is_interrupted() {
        return Unready::Stopped;
    }
    let what = error.to_string();
    Unready::Fault(match error {
        ScopeError::Replaced(_) => StepFault::WorktreeReplaced { what },
        ScopeError::Pattern(_) => StepFault::Error {
            reason: Error::Config,
            what,
        },
        ScopeError::Write { .. } => StepFault::Error {
            reason: Error::OutputsUnwritable,
            what,
        },
        _ => StepFault::Error {
            reason: Error::Disk,
            what,
        },
    })
}
