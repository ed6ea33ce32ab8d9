//! The one path on which every tick ends, and the caps that lead to it.

use super::{Machine, Stage};
use crate::outcome::{EnvironmentFault, Halt, Outcome};
use crate::state::{Attempt, EnvironmentStreak, Status};
use crate::step::{Closing, Ended, Role};

/// Equal environment faults in a row that stop a loop.
const FAULTS_IN_A_ROW: u32 = 2;

impl Machine {
    /// Ends the tick.
    pub(super) fn finish(&mut self, outcome: Outcome, why: String) {
        let outside = self.tick.as_mut().and_then(|tick| tick.outside.take());
        let waits = matches!(outcome, Outcome::HumanIntervention(_));
        let (outcome, why) = match outside.filter(|_| !waits) {
            // What was decided is done; but somebody has to look before it goes on.
            Some(what) => {
                self.wait(Halt::OutsideChanged, what.clone(), self.task_name());
                let halt = Outcome::HumanIntervention(Halt::OutsideChanged);
                (halt, format!("{why}; {what}"))
            }
            None => (outcome, why),
        };
        if let Some(tick) = &mut self.tick {
            tick.outcome = Some((outcome, why));
            tick.attempt = 1;
            tick.begun = false;
        }
        self.stage = Stage::Close;
    }

    /// Ends the tick, and the loop waits for a person, or puts the task aside
    /// where it says so.
    pub(super) fn halt(&mut self, halt: Halt, why: String) {
        if self.parks(halt) {
            return self.park(halt, why);
        }
        self.wait(halt, why.clone(), self.task_name());
        self.finish(Outcome::HumanIntervention(halt), why);
    }

    pub(super) fn task_name(&self) -> Option<String> {
        let task = self.tick.as_ref()?.task.as_ref()?;
        Some(task.name.clone())
    }

    pub(super) fn wait(&mut self, halt: Halt, why: String, task: Option<String>) {
        self.state.status = Status::HumanIntervention;
        self.state.reason = Some(halt);
        self.state.why = Some(why);
        self.state.halted_task = task;
    }

    /// Something around the loop is wrong. `role` is the one whose harness met it.
    pub(super) fn environment(
        &mut self,
        reason: EnvironmentFault,
        what: String,
        role: Option<Role>,
    ) {
        let what = match role.and_then(|role| self.others_out(role)) {
            Some(others) => format!("{what}; also out of service: {others}"),
            None => what,
        };
        let wait = role.and_then(|role| self.wait_for(role));
        // A login and a program do not come back by themselves, whoever else does.
        use EnvironmentFault::{Auth, MissingProgram};
        if wait.is_some_and(|wait| wait.known) && !matches!(reason, Auth | MissingProgram) {
            // It will be over at a known time: waiting is enough, and it stands
            // between two faults that are not in a row then.
            self.state.environment = None;
        } else {
            let count = self.faults_in_a_row(reason, role);
            self.state.environment = Some(EnvironmentStreak { reason, count });
            if count >= FAULTS_IN_A_ROW {
                let why = format!("{what} ({count} times in a row)");
                return self.halt(Halt::Environment, why);
            }
        }
        if let Some(wait) = wait {
            self.state.not_before = Some(wait.until);
        }
        self.finish(Outcome::Environment(reason), what);
    }

    /// Counts a fault that just was. Harnesses that fail by turns, each in its own
    /// way, are in a row too once each has failed again.
    fn faults_in_a_row(&self, reason: EnvironmentFault, role: Option<Role>) -> u32 {
        let Some(before) = self.state.environment else {
            return 1;
        };
        let equal = if before.reason == reason {
            before.count + 1
        } else {
            1
        };
        equal.max(role.map_or(0, |role| self.each_failed(role)))
    }

    /// Returns the brake that the task's record trips, in words.
    pub(super) fn tripped(&self) -> Option<(Halt, String)> {
        let brakes = &self.rules.as_ref()?.brakes;
        let progress = self.progress();
        let halt = brakes.tripped(&progress)?;
        let why = match halt {
            Halt::HarnessFailures => {
                format!(
                    "implement failed {} times in a row",
                    progress.harness_failures
                )
            }
            Halt::NoProgress => {
                let what = match progress.attempts.last() {
                    Some(Attempt { changed: true, .. }) => "left the gate red in the same way",
                    _ => "changed nothing",
                };
                format!("{} attempts in a row {what}", brakes.no_progress_window)
            }
            Halt::MaxIterations => format!("all {} attempts are spent", progress.iteration),
            Halt::ScorePlateau => {
                format!(
                    "the score has not risen in {} attempts",
                    brakes.score_plateau_window
                )
            }
            other => other.to_string(),
        };
        Some((halt, why))
    }

    pub(super) fn spend_time(&mut self, elapsed_ms: u64) {
        self.state.spent.wall_ms = self.state.spent.wall_ms.saturating_add(elapsed_ms);
        if let Some(progress) = self.progress_mut() {
            progress.wall_ms = progress.wall_ms.saturating_add(elapsed_ms);
        }
    }

    /// Returns what the `closed` record holds.
    pub(super) fn closing(&self) -> Option<Closing> {
        let tick = self.tick.as_ref()?;
        let (outcome, why) = tick.outcome.clone()?;
        let task = tick.task.as_ref();
        let ended = Ended {
            why,
            tick: Some(tick.number),
            task: task.map(|task| task.name.clone()),
            phase: task.and_then(|task| task.phase.clone()),
            iteration: tick
                .passed_after
                .unwrap_or_else(|| self.progress().iteration),
            verdict: tick.verdict.clone(),
            gate: tick.gate.clone(),
            violations: tick.violations.clone(),
            complete: tick.complete,
            worktree: tick.worktree.clone(),
            used: tick.used,
            outcome,
        };
        let mut state = self.state.clone();
        state.in_progress = None;
        state.running = None;
        state.last_outcome = Some(ended.outcome.clone());
        state.updated_at = Some(self.now);
        if let Some((task, phase)) = &tick.next_task {
            state.set_task(task, phase.as_deref());
        }
        Some(Closing { ended, state })
    }

    /// The `closed` record is on disk.
    pub(super) fn closed(&mut self) {
        if let Some(closing) = self.closing() {
            self.state = closing.state;
            self.ended = Some(closing.ended);
        }
        self.tick = None;
        self.stage = Stage::Idle;
    }
}
