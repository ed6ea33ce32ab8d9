//! Putting a task aside so that the next one can be worked on (decision D-18).

use super::{Machine, Stage};
use crate::answer::StepFault;
use crate::config::WorktreeFor;
use crate::control::Denied;
use crate::outcome::{Halt, Outcome};

impl Machine {
    /// Whether `halt` puts the tick's task aside instead of stopping the loop.
    pub(super) fn parks(&self, halt: Halt) -> bool {
        let park = self.rules.as_ref().is_some_and(|rules| rules.park);
        park && halt.parks() && self.task_name().is_some()
    }

    /// Puts the task aside. In a worktree that all tasks share, what it has
    /// changed is taken out first.
    pub(super) fn park(&mut self, halt: Halt, why: String) {
        let takes_out = self.has_to_be_taken_out(halt);
        if let Some(tick) = &mut self.tick {
            tick.parking = Some((halt, why));
        }
        if takes_out {
            self.stage = Stage::SetAside;
        } else {
            self.parked();
        }
    }

    /// Work that has passed stays, for the tasks after it build on it; and so
    /// does work of which nobody knows what the tree was before it.
    fn has_to_be_taken_out(&self, halt: Halt) -> bool {
        let shared = self.rules.as_ref().and_then(|rules| rules.worktree);
        shared == Some(WorktreeFor::Loop)
            && self.state.worktree.is_some()
            && self.progress().baseline.is_some()
            && halt != Halt::ApprovalRequired
    }

    /// Where tasks share a place, the start of one holds until another is worked
    /// on there: what has changed since is not its own any more, and must not be
    /// taken out with it.
    pub(super) fn forget_other_starts(&mut self, task: &str) {
        let place = self.rules.as_ref().and_then(|rules| rules.worktree);
        if place == Some(WorktreeFor::Task) {
            return;
        }
        for (other, progress) in &mut self.state.progress {
            if other != task {
                progress.baseline = None;
                progress.judges_own.clear();
            }
        }
    }

    /// The work is out of the shared worktree.
    pub(super) fn set_aside(&mut self) {
        if let Some(progress) = self.progress_mut() {
            progress.baseline = None;
            progress.unjudged = None;
            progress.judges_own.clear();
        }
        self.parked();
    }

    /// Another task must not be worked on among the leavings of this one.
    pub(super) fn set_aside_failed(&mut self, fault: StepFault) {
        let parking = self.tick.as_mut().and_then(|tick| tick.parking.take());
        let Some((_, why)) = parking else { return };
        let what = fault.what();
        let why = format!("{why}; its work could not be taken out of the worktree: {what}");
        let halt = match fault {
            StepFault::WorktreeReplaced { .. } => Halt::WorktreeReplaced,
            // Whatever the task ended with, this is what a person has to look at.
            _ => Halt::Conflict,
        };
        self.wait(halt, why.clone(), self.task_name());
        self.finish(Outcome::HumanIntervention(halt), why);
    }

    fn parked(&mut self) {
        let Some(task) = self.task_name() else { return };
        let parking = self.tick.as_mut().and_then(|tick| tick.parking.take());
        let Some((halt, why)) = parking else { return };
        let awaiting = self.state.awaiting.take();
        if let Some(progress) = self.progress_mut() {
            progress.parked_why = Some(why.clone());
            progress.awaiting = awaiting;
        }
        self.state.parked.insert(task, halt);
        self.state.current_task = None;
        self.state.current_phase = None;
        self.finish(Outcome::Parked(halt), why);
    }

    /// A person takes a task back that was put aside for `halt`; it is open again.
    pub(super) fn take_back(
        &mut self,
        seq: u64,
        by: &str,
        task: &str,
        halt: Halt,
    ) -> Result<String, Denied> {
        let awaits = self.state.progress_of(task).awaiting.is_some();
        if let Some(tick) = self.tick.as_ref().filter(|_| awaits) {
            return Err(Denied::because(format!(
                "tick {} is running, and {task} has to be moved; approve it when that has ended",
                tick.number
            )));
        }
        self.state.parked.remove(task);
        let awaiting = self.state.progress.get_mut(task).and_then(|progress| {
            progress.parked_why = None;
            progress.awaiting.take()
        });
        self.approve_task(task, halt);
        Ok(match awaiting {
            Some(awaited) => self.owe_move(seq, by, awaited),
            None => format!("approved; {task} is open again after {halt}"),
        })
    }
}
