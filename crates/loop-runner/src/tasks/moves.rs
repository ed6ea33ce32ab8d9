//! Moves of a task: compare and set, under the task's lock.

use super::error::{ChangeError, ReadError};
use super::folder::Locked;
use super::{RECORD, Tasks, claim, record};
use loop_core::answer::Advanced;
use loop_core::phase::{COMPLETE, HUMAN_INTERVENTION, Phases};
use loop_core::step::Advance;
use loop_core::task::{Move, MoveError, Moved, Task};
use loop_core::time::Timestamp;

/// Who `task.json` names when the engine moved a task.
const ENGINE: &str = "loop";

/// Who moves a task, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mover<'a> {
    /// A person's name.
    pub by: &'a str,
    /// The loop that it is done for, if any.
    pub loop_name: Option<&'a str>,
    /// When.
    pub at: Timestamp,
}

impl Mover<'_> {
    fn step(&self, from: &str, to: &str) -> Move {
        Move {
            from: from.to_owned(),
            to: to.to_owned(),
            at: self.at,
            by: self.by.to_owned(),
            loop_name: self.loop_name.map(str::to_owned),
            tick: None,
        }
    }
}

impl Tasks {
    /// Makes a move that a loop decided. Done twice, the second changes nothing.
    ///
    /// A task that is elsewhere, has no record, or has one that cannot be read
    /// is a conflict: a person has to look.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] when the system refused; nothing is changed then.
    pub fn advance(
        &self,
        step: &Advance,
        loop_name: &str,
        at: Timestamp,
    ) -> Result<Advanced, ChangeError> {
        let mover = Mover {
            by: step.by.as_deref().unwrap_or(ENGINE),
            loop_name: Some(loop_name),
            at,
        };
        let made = self.change(&step.task, |task| {
            let mut step_taken = mover.step(&step.from, &step.to);
            step_taken.tick = step.tick;
            Ok(task.advance(step_taken)? == Moved::Now)
        });
        match made {
            Ok(_) => Ok(Advanced::Moved),
            Err(ChangeError::File(error) | ChangeError::Read(ReadError::File(error))) => {
                Err(ChangeError::File(error))
            }
            Err(other) => Ok(Advanced::Conflict {
                what: other.to_string(),
            }),
        }
    }

    /// Moves a task for a person: to `to`, or else to the next phase.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Move`] when its phases do not allow it. A phase that needs
    /// approval is left through [`Tasks::approve`] only, so that an approval
    /// never happens by the way.
    pub fn transition(
        &self,
        task: &str,
        to: Option<&str>,
        mover: Mover<'_>,
    ) -> Result<Task, ChangeError> {
        self.change(task, |task| {
            let next = to.map(str::to_owned).or_else(|| task.next_phase());
            // Without a next phase the refusal names what is allowed.
            let to = next.unwrap_or_else(|| COMPLETE.to_owned());
            let gated = task.phases().needs_approval(&task.phase);
            if gated && to != HUMAN_INTERVENTION {
                return Err(ChangeError::Move(MoveError::NeedsApproval {
                    from: task.phase.clone(),
                }));
            }
            let step = mover.step(&task.phase, &to);
            Ok(task.advance(step)? == Moved::Now)
        })
    }

    /// Approves a task: from a person back to where it was, and out of a phase
    /// that needs approval into the next.
    ///
    /// # Errors
    ///
    /// [`ChangeError::NotWaiting`] when there is nothing to approve.
    pub fn approve(&self, task: &str, mover: Mover<'_>) -> Result<Task, ChangeError> {
        self.change(task, |task| {
            let to = if task.phase == HUMAN_INTERVENTION {
                task.previous_phase.clone()
            } else if task.phases().needs_approval(&task.phase) {
                task.next_phase()
            } else {
                None
            };
            let to = to.ok_or_else(|| ChangeError::NotWaiting {
                task: task.name.clone(),
                phase: task.phase.clone(),
            })?;
            let step = mover.step(&task.phase, &to);
            Ok(task.advance(step)? == Moved::Now)
        })
    }

    /// Puts a task back to the first of `phases`, for a run that starts over.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] when the record cannot be read or written.
    pub fn start_over(
        &self,
        task: &str,
        phases: &Phases,
        mover: Mover<'_>,
    ) -> Result<Task, ChangeError> {
        self.change(task, |task| {
            task.start_over(phases, mover.by, mover.loop_name, mover.at);
            Ok(true)
        })
    }

    /// Gives a task that has not moved yet the phases of the loop that works on
    /// it (decision D-9). Returns the record as it is then; `None` for a task
    /// without one, which stays as it is.
    ///
    /// # Errors
    ///
    /// [`ChangeError`] when the record cannot be read or written.
    pub fn adopt(
        &self,
        task: &str,
        phases: &Phases,
        at: Timestamp,
    ) -> Result<Option<Task>, ChangeError> {
        match self.change(task, |task| Ok(task.adopt(phases, at))) {
            Ok(task) => Ok(Some(task)),
            Err(ChangeError::Untracked { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a record, lets `edit` change it, and writes it if that returned
    /// true; all under the task's lock.
    fn change(
        &self,
        task: &str,
        edit: impl FnOnce(&mut Task) -> Result<bool, ChangeError>,
    ) -> Result<Task, ChangeError> {
        let folder = self.folder(task)?.lock()?;
        let mut held = record::read(&folder, task)?.ok_or_else(|| ChangeError::Untracked {
            task: task.to_owned(),
        })?;
        if edit(&mut held)? {
            write(&folder, &held)?;
        }
        Ok(held)
    }
}

fn write(folder: &Locked, task: &Task) -> Result<(), ChangeError> {
    folder.replace(RECORD, record::text(task).as_bytes())?;
    if task.phase == COMPLETE {
        folder.remove(claim::FILE)?;
    }
    Ok(())
}
