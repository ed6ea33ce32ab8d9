//! From a judgement to what is done about it.

use super::{Decision, Machine, Stage};
use crate::answer::{Advanced, Called, StepFault};
use crate::outcome::{Halt, Outcome};
use crate::phase::{COMPLETE, HUMAN_INTERVENTION};
use crate::state::{Awaited, Finished, OwedMove, Status};
use crate::step::{Advance, Role};

impl Machine {
    pub(super) fn escalate(&mut self, halt: Halt, why: String) {
        if let Some(tick) = &mut self.tick {
            tick.decision = Some(Decision::Escalate { halt, why });
        }
        self.decide();
    }

    /// Lets orchestrate carry the decision out, or carries it out alone: there
    /// is nothing for it to read without a verdict, and no call after a cap.
    pub(super) fn decide(&mut self) {
        let judged = self
            .tick
            .as_ref()
            .is_some_and(|tick| tick.verdict.is_some());
        let configured = self
            .rules
            .as_ref()
            .is_some_and(|rules| rules.orchestrate.is_some());
        let decided = !matches!(
            self.tick.as_ref().and_then(|tick| tick.decision.as_ref()),
            None | Some(Decision::Complete)
        );
        if judged && configured && decided && self.cap_before(Role::Orchestrate).is_none() {
            self.choose(Role::Orchestrate);
            self.stage = Stage::Orchestrate;
        } else {
            self.carry_out();
        }
    }

    /// Does what was decided. Orchestrate has had its say, or had none.
    pub(super) fn carry_out(&mut self) {
        let Some(tick) = &self.tick else { return };
        let name = tick
            .task
            .as_ref()
            .map_or_else(String::new, |task| task.name.clone());
        match tick.decision.clone() {
            Some(Decision::Advance { from, to }) => {
                let to = if tick.hand_over {
                    HUMAN_INTERVENTION.to_owned()
                } else {
                    to
                };
                self.stage = Stage::Advance(Advance {
                    task: name,
                    from,
                    to,
                    tick: Some(tick.number),
                    by: None,
                });
            }
            Some(Decision::AskApproval { from, to }) => {
                let why = format!("{name} passed `{from}`; a person has to let it go on to `{to}`");
                self.state.awaiting = Some(Awaited {
                    item: tick.task.as_ref().and_then(|task| task.item.clone()),
                    task: name,
                    from,
                    to,
                });
                self.halt(Halt::ApprovalRequired, why);
            }
            Some(Decision::Escalate { halt, why }) => self.halt(halt, why),
            Some(Decision::Complete) | None => {
                self.complete(&name);
                self.finish(Outcome::Pass, format!("{name} passed and is complete"));
                self.finish_item();
            }
        }
    }

    /// Orchestrate has ended, however it did.
    pub(super) fn orchestrated(&mut self, called: &Called) {
        let outside = self.outside(Role::Orchestrate.as_str(), &called.outside, &called.inputs);
        if let Some(tick) = &mut self.tick {
            tick.outside = outside;
        }
        self.carry_out();
    }

    pub(super) fn advanced(&mut self, advanced: Advanced) {
        if self.tick.is_none() {
            return self.owed_advanced(advanced);
        }
        let Stage::Advance(advance) = self.stage.clone() else {
            return;
        };
        if let Advanced::Conflict { what } = advanced {
            return self.halt(Halt::Conflict, what);
        }
        self.state.current_phase = Some(advance.to.clone());
        if let Some(task) = self.tick.as_mut().and_then(|tick| tick.task.as_mut()) {
            task.phase = Some(advance.to.clone());
        }
        match advance.to.as_str() {
            HUMAN_INTERVENTION => {
                let why = format!("orchestrate handed {} to a person", advance.task);
                self.state.awaiting = Some(Awaited {
                    task: advance.task,
                    from: advance.to,
                    to: advance.from,
                    item: None,
                });
                self.halt(Halt::Escalated, why);
            }
            COMPLETE => {
                self.complete(&advance.task);
                self.finish(
                    Outcome::Pass,
                    format!("{} passed `{}` and is complete", advance.task, advance.from),
                );
                self.finish_item();
            }
            to => {
                let why = format!(
                    "{} passed `{}` and goes on to `{to}`",
                    advance.task, advance.from
                );
                self.finish(Outcome::Pass, why);
            }
        }
    }

    /// A move that was owed has been made.
    fn owed_advanced(&mut self, advanced: Advanced) {
        self.owed_begun = false;
        let Some(owed) = self.state.owed.take() else {
            return;
        };
        match advanced {
            Advanced::Conflict { what } => self.wait(Halt::Conflict, what, Some(owed.advance.task)),
            Advanced::Moved if owed.advance.to == COMPLETE => {
                self.owe_finish(&owed.advance.task, owed.item, owed.owed_by);
                self.complete(&owed.advance.task);
            }
            Advanced::Moved => {
                if self.state.current_task.as_ref() == Some(&owed.advance.task) {
                    self.state.current_phase = Some(owed.advance.to);
                }
            }
        }
    }

    /// What has passed stays passed: the move is owed, and made before any other
    /// work, so that nothing is done and paid for twice.
    pub(super) fn advance_failed(&mut self, fault: &StepFault) {
        let Stage::Advance(advance) = self.stage.clone() else {
            return;
        };
        let Some(tick) = &self.tick else { return };
        self.state.owed = Some(OwedMove {
            owed_by: tick.opened,
            item: tick.task.as_ref().and_then(|task| task.item.clone()),
            advance,
        });
        let why = format!("it passed, but could not be moved: {}", fault.what());
        self.finish(Outcome::Error(fault.error()), why);
    }

    /// The move could not be made. One that was approved waits for a person as it
    /// did before; one that a judgement decided stays owed.
    pub(super) fn owed_failed(&mut self, fault: &StepFault) {
        self.owed_begun = false;
        let Some(owed) = self.state.owed.take() else {
            return;
        };
        if owed.advance.by.is_none() {
            let task = &owed.advance.task;
            let why = format!("{task} passed, but could not be moved: {}", fault.what());
            self.state.owed = Some(owed);
            return self.end_without_tick(Outcome::Error(fault.error()), why);
        }
        let advance = owed.advance;
        let halt = if advance.from == HUMAN_INTERVENTION {
            Halt::Escalated
        } else {
            Halt::ApprovalRequired
        };
        self.wait(
            halt,
            format!("the approved move could not be made: {}", fault.what()),
            Some(advance.task.clone()),
        );
        self.state.awaiting = Some(Awaited {
            task: advance.task,
            from: advance.from,
            to: advance.to,
            item: owed.item,
        });
    }

    /// The task is done: its record goes, the place of its work is kept.
    fn complete(&mut self, task: &str) {
        let progress = self.state.progress.remove(task);
        self.state.remember_finished(Finished {
            task: task.to_owned(),
            tick: self.tick.as_ref().map(|tick| tick.number),
            baseline: progress
                .as_ref()
                .and_then(|progress| progress.baseline.clone()),
            gate: progress
                .as_ref()
                .and_then(|progress| progress.gate.as_ref())
                .map(|gate| gate.frozen.clone()),
            worktree: progress
                .and_then(|progress| progress.worktree)
                .or_else(|| self.state.worktree.clone()),
        });
        if let Some(tick) = &mut self.tick {
            tick.complete = true;
        }
        if self.state.current_task.as_deref() == Some(task) {
            self.state.current_task = None;
            self.state.current_phase = None;
            if self.state.single && self.state.status == Status::Active {
                self.state.status = Status::Complete;
            }
        }
    }
}
