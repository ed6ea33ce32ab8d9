//! Telling a work source that its item is complete.
//!
//! What a pass has completed stays complete whatever the source says. A source
//! that cannot be told is asked again before any other work is looked for, so
//! that nothing is forgotten and nothing is spent meanwhile.

use super::{Machine, Stage};
use crate::answer::{FileRef, Finished, StepFault};
use crate::outcome::{Error, Halt, Outcome};
use crate::step::{Action, Finishing};

impl Machine {
    /// Returns what is owed outside a tick.
    pub(super) fn owed_action(&self) -> Option<Action> {
        match &self.state.owed {
            Some(owed) => Some(Action::Advance(owed.advance.clone())),
            None => Some(Action::Finish(self.state.to_finish.first()?.clone())),
        }
    }

    /// Returns the number of the record that made it owed; 0 when nothing is.
    pub(super) fn owed_by(&self) -> u64 {
        match (&self.state.owed, self.state.to_finish.first()) {
            (Some(owed), _) => owed.owed_by,
            (None, Some(finishing)) => finishing.owed_by,
            (None, None) => 0,
        }
    }

    /// Notes that the source of `task` has to be told.
    pub(super) fn owe_finish(&mut self, task: &str, item: Option<FileRef>, owed_by: u64) {
        if let Some(item) = item {
            self.state.to_finish.push(Finishing {
                task: task.to_owned(),
                item,
                owed_by,
            });
        }
    }

    /// Tells the source of the tick's task, which is complete, before the tick
    /// is closed.
    pub(super) fn finish_item(&mut self) {
        let Some(tick) = &self.tick else { return };
        let opened = tick.opened;
        let Some(task) = tick.task.clone() else {
            return;
        };
        if task.item.is_some() {
            self.owe_finish(&task.name, task.item, opened);
            self.stage = Stage::Finish;
        }
    }

    pub(super) fn item_finished(&mut self, finished: Finished) {
        self.owed_begun = false;
        if self.state.to_finish.is_empty() {
            return;
        }
        let done = self.state.to_finish.remove(0);
        match (finished, self.tick.is_some()) {
            (Finished::Done, true) => self.stage = Stage::Close,
            (Finished::Done, false) => {}
            // The task is complete; only its item is not as it was.
            (Finished::Conflict { what }, true) => {
                let why = format!("{} is complete, but {what}", done.task);
                self.wait(Halt::Conflict, why.clone(), None);
                self.finish(Outcome::HumanIntervention(Halt::Conflict), why);
            }
            (Finished::Conflict { what }, false) => {
                let why = format!("{} is complete, but {what}", done.task);
                self.wait(Halt::Conflict, why, None);
            }
        }
    }

    pub(super) fn finish_failed(&mut self, fault: &StepFault) {
        self.owed_begun = false;
        let Some(owed) = self.state.to_finish.first() else {
            return;
        };
        let why = format!(
            "{} is complete, but its source could not be told: {}",
            owed.task,
            fault.what()
        );
        let outcome = Outcome::Error(Error::SourceFailed);
        if self.tick.is_some() {
            self.finish(outcome, why);
        } else {
            self.end_without_tick(outcome, why);
        }
    }
}
