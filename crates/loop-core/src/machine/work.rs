//! The steps up to the judgement: workspace, tree, implement.

use super::{Machine, Stage, interrupted_why};
use crate::answer::{CallEnd, Implemented, StepFault, WorktreeRecord};
use crate::claim::Claim;
use crate::config::WorktreeFor;
use crate::outcome::{Failure, Halt, Interruption, Outcome};
use crate::state::{Attempt, Progress, Unjudged};
use crate::step::{Role, Step};

impl Machine {
    /// Returns how the tick's task has gone.
    pub(super) fn progress(&self) -> Progress {
        let task = self.tick.as_ref().and_then(|tick| tick.task.as_ref());
        task.map_or_else(Progress::default, |task| self.state.progress_of(&task.name))
    }

    pub(super) fn progress_mut(&mut self) -> Option<&mut Progress> {
        let task = self.tick.as_ref()?.task.as_ref()?;
        Some(self.state.progress.entry(task.name.clone()).or_default())
    }

    pub(super) fn workspace_ready(&mut self, record: Option<WorktreeRecord>) {
        if let Some(tick) = &mut self.tick {
            tick.worktree.clone_from(&record);
        }
        match self.rules.as_ref().and_then(|rules| rules.worktree) {
            Some(WorktreeFor::Loop) => self.state.worktree = record,
            Some(WorktreeFor::Task) | None => {
                self.state.worktree = None;
                if let Some(progress) = self.progress_mut() {
                    progress.worktree = record;
                }
            }
        }
        self.prepare();
    }

    /// Goes to the work, or to the judgement of what was done before.
    pub(super) fn go_work(&mut self) {
        if self.progress().unjudged.is_some() {
            self.stage = Stage::Tree;
        } else {
            self.go_implement();
        }
    }

    /// Unjudged work is judged only if it is still there unchanged.
    pub(super) fn tree_taken(&mut self, tree: Option<&str>) {
        let held = self.progress().unjudged;
        let same = tree.is_some()
            && held
                .as_ref()
                .is_some_and(|held| held.tree.as_deref() == tree);
        if !same {
            self.spend_held();
            if let Some((halt, why)) = self.tripped() {
                return self.halt(halt, why);
            }
            return self.go_implement();
        }
        if let (Some(tick), Some(held)) = (&mut self.tick, held) {
            tick.judging = true;
            tick.output = Some(held.output);
            tick.worker = held.harness;
            tick.tree_after = held.tree;
        }
        self.go_scope();
    }

    fn go_implement(&mut self) {
        match self.cap_before(Role::Implement) {
            Some((halt, why)) => self.halt(halt, why),
            None => {
                self.choose(Role::Implement);
                self.stage = Stage::Implement;
            }
        }
    }

    pub(super) fn implemented(&mut self, done: Implemented) {
        let worker = self.chosen(Role::Implement).map(|h| h.name.clone());
        self.in_service(Role::Implement);
        let changed = done.changed();
        if let Some(progress) = self.progress_mut() {
            progress.push_attempt(Attempt {
                changed,
                gate: None,
            });
        }
        if let Some(tick) = &mut self.tick {
            tick.output = Some(done.called.output.path.clone());
            tick.worker = worker;
            tick.attempt = 1;
            tick.tree_before = done.tree_before;
            tick.tree_after = done.tree_after;
        }
        let well = done.called.end.failure().is_none();
        if let Some(why) = self.outside(
            Role::Implement.as_str(),
            &done.called.outside,
            &done.called.inputs,
        ) {
            // If this was a person, the work is worth its judgement.
            if well && !matches!(done.claim, Claim::Blocked(_)) {
                self.hold();
            }
            return self.halt(Halt::OutsideChanged, why);
        }
        if let Some(failure) = done.called.end.failure() {
            let kind = match done.called.end {
                CallEnd::Exited(_) | CallEnd::Reported(_) => Failure::Exit,
                CallEnd::Signaled(_) => Failure::Signal,
                CallEnd::TimedOut(_) | CallEnd::IdleTimedOut(_) => Failure::Timeout,
                CallEnd::Capped(cap) => {
                    let (halt, why) = self.capped(Role::Implement, cap);
                    return self.halt(halt, why);
                }
            };
            return self.implement_failed(kind, format!("implement {failure}"));
        }
        match done.claim {
            Claim::Blocked(what) => self.blocked(&what),
            Claim::None if done.silent && !changed => self.implement_failed(
                Failure::Empty,
                "implement exited with 0, said nothing and changed nothing".to_owned(),
            ),
            Claim::None | Claim::NoWork(_) => {
                if let Some(progress) = self.progress_mut() {
                    progress.harness_failures = 0;
                }
                self.go_scope();
            }
        }
    }

    fn implement_failed(&mut self, failure: Failure, why: String) {
        if let Some(progress) = self.progress_mut() {
            progress.harness_failures += 1;
            progress.blocked = 0;
        }
        // A call that was cut to the time left says so, not "timeout".
        let wall = self.wall_cap().filter(|_| failure == Failure::Timeout);
        match wall.or_else(|| self.tripped()) {
            Some((halt, cap)) => self.halt(halt, format!("{why}; {cap}")),
            None => self.finish(Outcome::Fail(failure), why),
        }
    }

    /// The iteration of work that no judge has seen is held until one has.
    pub(super) fn hold(&mut self) {
        let Some(tick) = &self.tick else { return };
        if tick.judging {
            return;
        }
        let held = Unjudged {
            tick: tick.number,
            tree: tick.tree_after.clone(),
            phase: tick.task.as_ref().and_then(|task| task.phase.clone()),
            output: tick.output.clone().unwrap_or_default(),
            harness: tick.worker.clone(),
        };
        if let Some(progress) = self.progress_mut() {
            progress.iteration = progress.iteration.saturating_sub(1);
            progress.unjudged = Some(held);
        }
    }

    /// Counts the iteration of held work, if there is any.
    pub(super) fn spend_held(&mut self) {
        if let Some(progress) = self.progress_mut()
            && progress.unjudged.take().is_some()
        {
            progress.iteration += 1;
        }
    }

    /// An interruption never gives an iteration back: held work is spent once its
    /// judge was asked, now or earlier in the tick.
    pub(super) fn spend_if_asked(&mut self, now: bool) {
        let earlier = self.tick.as_ref().is_some_and(|tick| tick.asked > 0);
        if now || earlier {
            self.spend_held();
        }
    }

    pub(super) fn step_interrupted(&mut self, step: Step, begun: bool, by: Interruption) {
        match step {
            // The engine's own decision stands.
            Step::Orchestrate => return self.carry_out(),
            Step::Implement if begun => {
                if let Some(progress) = self.progress_mut() {
                    progress.push_attempt(unknown());
                }
            }
            Step::Verify => self.spend_if_asked(begun),
            _ => {}
        }
        self.finish(Outcome::Interrupted(by), interrupted_why(by, Some(step)));
    }

    pub(super) fn step_failed(&mut self, step: Step, begun: bool, fault: StepFault) {
        if self.tick.is_none() && step == Step::Finish {
            return self.finish_failed(&fault);
        }
        if self.tick.is_none() {
            return self.owed_failed(&fault);
        }
        if let StepFault::Environment { reason, until, .. } = &fault
            && self.falls_back(step, begun, *reason, *until)
        {
            return self.call_again(step);
        }
        match step {
            Step::Orchestrate => return self.carry_out(),
            Step::Implement if begun => self.give_back(&fault),
            // Tampering gives nothing back: work in a replaced place is not judged.
            Step::Scope | Step::Gate | Step::Verify if fault.is_tampering() => self.spend_held(),
            Step::Scope | Step::Gate | Step::Verify => self.hold(),
            // What was verified stays verified.
            Step::Receipt => return self.receipt_written(None),
            Step::Advance => return self.advance_failed(&fault),
            // A patch that cannot be made must not lead to another task's work
            // in the same tree.
            Step::SetAside => return self.set_aside_failed(fault),
            Step::Finish => return self.finish_failed(&fault),
            _ => {}
        }
        match fault {
            StepFault::Environment { reason, what, .. } => {
                self.environment(reason, what, step.role());
            }
            StepFault::WorktreeReplaced { what } => self.halt(Halt::WorktreeReplaced, what),
            StepFault::Tampered { what } => self.halt(Halt::Tampered, what),
            StepFault::Error { reason, what } => self.finish(Outcome::Error(reason), what),
        }
    }

    /// Calls another harness for a step whose first one is out of service.
    fn call_again(&mut self, step: Step) {
        match step {
            Step::Plan => self.go_plan(),
            Step::Implement => self.go_implement(),
            Step::Verify => self.go_verify(),
            Step::Orchestrate => self.decide(),
            _ => {}
        }
    }

    /// Only an environment fault gives back an iteration that had begun.
    fn give_back(&mut self, fault: &StepFault) {
        if matches!(fault, StepFault::Environment { .. }) {
            self.give_back_iteration();
        } else if let Some(progress) = self.progress_mut() {
            progress.push_attempt(unknown());
        }
    }

    pub(super) fn give_back_iteration(&mut self) {
        if let Some(progress) = self.progress_mut() {
            progress.iteration = progress.iteration.saturating_sub(1);
        }
    }
}

/// An attempt of which nothing is known counts as one that changed something.
pub(super) fn unknown() -> Attempt {
    Attempt {
        changed: true,
        gate: None,
    }
}
