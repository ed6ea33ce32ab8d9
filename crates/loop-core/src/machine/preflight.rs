//! The checks before any work is looked for, and the opening of a tick.

use super::{Machine, Stage, Tick};
use crate::bill::Usage;
use crate::outcome::{Halt, Outcome, Skip};
use crate::state::{Status, Today};
use crate::step::{Ended, Role, WorkTask};
use crate::time::Timestamp;

impl Machine {
    /// Decides, in the order of row L-03, whether work may be looked for.
    pub(super) fn preflight(&mut self) {
        if self.state.paused {
            return self.skip(Skip::Paused);
        }
        if self.state.status == Status::HumanIntervention {
            let halt = self.state.reason.unwrap_or(Halt::Conflict);
            return self.skip(Skip::HumanIntervention(halt));
        }
        if self.loop_cap().is_some() {
            // The halt has to stand in a tick's record; it needs no task.
            self.stage = Stage::Open(None);
            return;
        }
        if self.state.not_before.is_some_and(|time| self.now < time) {
            return self.skip(Skip::NotBefore);
        }
        if self.closed_until().is_some_and(|time| self.now < time) {
            return self.skip(Skip::Window);
        }
        let below = self
            .rules
            .as_ref()
            .and_then(|rules| rules.below_context_floor());
        if below.is_some() {
            return self.skip(Skip::ContextFloor);
        }
        self.stage = Stage::FindWork;
    }

    fn closed_until(&self) -> Option<Timestamp> {
        self.rules.as_ref()?.closed_until
    }

    /// Returns the cap of the whole loop that is reached, if any.
    fn loop_cap(&self) -> Option<(Halt, String)> {
        let brakes = &self.rules.as_ref()?.brakes;
        let today = self.ticks_today();
        if let Some(max) = brakes.max_ticks_per_day
            && today >= max
        {
            return Some((
                Halt::MaxTicks,
                format!("{today} of {max} ticks were made today"),
            ));
        }
        self.usage_cap()
    }

    /// Returns the cap that ends a tick as it opens. Without a task there was one
    /// before; only the cap of a day that has ended since can be gone.
    fn cap_at_opening(&self, task: Option<&WorkTask>) -> Option<(Halt, String)> {
        let gone = || (Halt::MaxTicks, "the day's ticks were made".to_owned());
        match task {
            Some(_) => self.loop_cap(),
            None => Some(self.loop_cap().unwrap_or_else(gone)),
        }
    }

    fn ticks_today(&self) -> u32 {
        if self.state.today.day == self.now.day() {
            self.state.today.ticks
        } else {
            0
        }
    }

    pub(super) fn skip(&mut self, skip: Skip) {
        let why = match skip {
            Skip::NoWork => match self.state.parked.len() {
                0 => "there is no work".to_owned(),
                1 => "there is no more work; 1 task is put aside".to_owned(),
                aside => format!("there is no more work; {aside} tasks are put aside"),
            },
            Skip::NoCurrentTask => match self.state.finished.last() {
                Some(done) if self.state.status == Status::Complete => {
                    format!("{} is complete, and the loop has no other task", done.task)
                }
                _ => "the loop has no task".to_owned(),
            },
            Skip::Paused => "the loop is paused".to_owned(),
            Skip::Locked => "another tick of this loop is running".to_owned(),
            Skip::Window => match self.closed_until() {
                Some(time) => format!("the schedule's window is closed; it opens at {time}"),
                None => "the schedule's window is closed".to_owned(),
            },
            Skip::NotBefore => match self.state.not_before {
                Some(time) => format!("no tick before {time}"),
                None => "a known time has to pass first".to_owned(),
            },
            Skip::ContextFloor => match self.rules.as_ref().and_then(|r| r.below_context_floor()) {
                Some((role, window)) => format!(
                    "roles.{}.context_window is {window}; at least {} tokens are needed",
                    role.as_str(),
                    crate::rules::CONTEXT_FLOOR
                ),
                None => "a role's context window is too small".to_owned(),
            },
            Skip::HumanIntervention(halt) => match &self.state.why {
                Some(why) => format!("waiting for a person: {why}"),
                None => format!("waiting for a person: {halt}"),
            },
            Skip::Untrusted => "this project's loops are not trusted yet".to_owned(),
        };
        self.end_without_tick(Outcome::Skipped(skip), why);
    }

    pub(super) fn end_without_tick(&mut self, outcome: Outcome, why: String) {
        self.stage = Stage::Idle;
        // Without work there is no task, whatever the latest one was.
        let several = self.rules.as_ref().is_some_and(|rules| !rules.single);
        let none = several && outcome == Outcome::Skipped(Skip::NoWork);
        let task = self.state.current_task.clone().filter(|_| !none);
        self.ended = Some(Ended {
            outcome,
            why,
            tick: None,
            phase: self.state.current_phase.clone().filter(|_| !none),
            iteration: task
                .as_deref()
                .map_or(0, |task| self.state.progress_of(task).iteration),
            task,
            verdict: None,
            gate: None,
            violations: Vec::new(),
            complete: false,
            worktree: None,
            used: Usage::default(),
        });
    }

    /// Ends a look for work that a signal cut short; nothing was opened.
    pub fn abandon(&mut self, by: crate::outcome::Interruption) {
        if matches!(self.stage, Stage::FindWork | Stage::Open(_)) {
            self.end_without_tick(
                Outcome::Interrupted(by),
                super::interrupted_why(by, Some(crate::step::Step::FindWork)),
            );
        }
    }

    /// Goes to where an `opened` record was written: a replay does not look for
    /// work again.
    pub(crate) fn reopen(
        &mut self,
        rules: crate::rules::Rules,
        task: Option<WorkTask>,
        at: Timestamp,
    ) -> Result<(), super::Refused> {
        if let Some(action) = self.action() {
            return Err(super::Refused::Busy(action.step()));
        }
        self.now = at;
        self.rules = Some(rules);
        self.ended = None;
        self.stage = Stage::Open(task);
        Ok(())
    }

    /// The tick has its number. Decides what comes first, or that nothing does.
    pub(super) fn opened(&mut self, seq: u64, nonce: String) {
        let Stage::Open(task) = std::mem::replace(&mut self.stage, Stage::Worktree) else {
            return;
        };
        let cap = self.cap_at_opening(task.as_ref());
        let moved_on = task.as_ref().and_then(|task| self.outside_phases(task));
        self.take_number(self.state.tick + 1, seq, nonce, task);
        if let Some((halt, why)) = cap {
            return self.halt(halt, why);
        }
        if let Some(why) = moved_on {
            return self.halt(Halt::Conflict, why);
        }
        self.drop_held_of_other_phase();
        if let Some((halt, why)) = self.tripped() {
            return self.halt(halt, why);
        }
        let next = match self.progress().unjudged {
            Some(_) => Role::Verify,
            None if self.has_to_plan() => Role::Plan,
            None => Role::Implement,
        };
        if let Some((halt, why)) = self.cap_before(next) {
            self.halt(halt, why);
        }
    }

    /// Makes tick `number` the open one; `seq` is that of its `opened` record.
    pub(super) fn take_number(
        &mut self,
        number: u64,
        seq: u64,
        nonce: String,
        task: Option<WorkTask>,
    ) {
        let next_task = self.set_meanwhile(task.as_ref());
        self.state.tick = number;
        self.state.in_progress = Some(number);
        // A tick that only says that a cap is reached has waited for nothing.
        self.state.not_before = self.state.not_before.filter(|time| self.now < *time);
        self.state.single = self.rules.as_ref().is_some_and(|rules| rules.single);
        self.state.status = Status::Active;
        self.forget_other_harnesses();
        if let Some(task) = &task {
            self.count_tick();
            self.forget_other_starts(&task.name);
            self.state.current_task = Some(task.name.clone());
            self.state.current_phase.clone_from(&task.phase);
        }
        self.tick = Some(Tick {
            opened: seq,
            number,
            nonce,
            task,
            attempt: 1,
            begun: false,
            judging: false,
            worktree: None,
            output: None,
            tree_before: None,
            tree_after: None,
            diff: None,
            violations: Vec::new(),
            gate: None,
            outside: None,
            parking: None,
            verdict: None,
            fault: None,
            decision: None,
            requested: false,
            hand_over: false,
            stopping: None,
            next_task,
            used: Usage::default(),
            charge: None,
            harness: 0,
            refused: Vec::new(),
            worker: None,
            asked: 0,
            passed_after: None,
            complete: false,
            outcome: None,
        });
    }

    /// Returns the task that a person gave a single loop after its source had
    /// answered with another: it counts from the next tick on.
    fn set_meanwhile(&self, found: Option<&WorkTask>) -> Option<(String, Option<String>)> {
        let single = self.rules.as_ref().is_some_and(|rules| rules.single);
        let set = self.state.current_task.clone().filter(|_| single)?;
        (set != found?.name).then(|| (set, self.state.current_phase.clone()))
    }

    fn count_tick(&mut self) {
        let ticks = self.ticks_today() + 1;
        self.state.today = Today {
            day: self.now.day(),
            ticks,
        };
        self.state.spent.ticks += 1;
    }

    /// Says what is wrong when the task is in a phase that the loop does not
    /// have, or that it does not have itself: where a pass leads is unknown then.
    fn outside_phases(&self, task: &WorkTask) -> Option<String> {
        let phase = task.phase.as_deref()?;
        let (whose, known) = [
            ("this loop's", &self.rules.as_ref()?.phases),
            ("its own", &task.phases),
        ]
        .into_iter()
        .find(|(_, known)| !known.contains(phase))?;
        Some(format!(
            "task {} is in phase `{phase}`, which {whose} phases lack ({})",
            task.name,
            known.list.join(", ")
        ))
    }

    /// Spends the held iteration of unjudged work whose phase has passed.
    fn drop_held_of_other_phase(&mut self) {
        let phase = self
            .tick
            .as_ref()
            .and_then(|tick| tick.task.as_ref()?.phase.clone());
        let other = self
            .progress()
            .unjudged
            .is_some_and(|held| held.phase != phase);
        if other {
            self.spend_held();
        }
    }
}
