//! The question that is open, with everything that its answer needs.

use super::{Machine, Stage};
use crate::config::WorktreeFor;
use crate::state::Progress;
use crate::step::{Action, Call, Check, Fence, Open, Report, Role, Verified, Workplace};

impl Machine {
    /// Returns what to do next; `None` between two ticks.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        Some(match &self.stage {
            Stage::Idle => return self.owed_action(),
            Stage::FindWork => Action::FindWork,
            Stage::Open(task) => Action::Open(Open {
                tick: self.state.tick + 1,
                task: task.clone(),
            }),
            Stage::Worktree => Action::Worktree(self.workplace()?),
            Stage::Plan => Action::Plan(self.call(Role::Plan)?),
            Stage::Baseline => Action::Baseline(self.workplace()?),
            Stage::Arm => Action::Arm(self.check()?),
            Stage::Tree => Action::Tree(self.workplace()?),
            Stage::Scope => Action::Scope(self.check()?),
            Stage::Gate => Action::Gate(self.check()?),
            Stage::Implement => Action::Implement(self.call(Role::Implement)?),
            Stage::Verify => Action::Verify(self.call(Role::Verify)?),
            Stage::Receipt => Action::Receipt(Box::new(self.verified_result()?)),
            Stage::Report => Action::Report(self.report()?),
            Stage::Orchestrate => Action::Orchestrate(self.call(Role::Orchestrate)?),
            Stage::Advance(advance) => Action::Advance(advance.clone()),
            Stage::SetAside => Action::SetAside(self.check()?),
            Stage::Finish => Action::Finish(self.state.to_finish.first()?.clone()),
            Stage::Close => Action::Close(Box::new(self.closing()?)),
        })
    }

    /// Returns what the answer to [`Machine::action`] has to carry.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        let step = self.action()?.step();
        let (opened, attempt) = match &self.tick {
            Some(tick) => (tick.opened, tick.attempt),
            None => (self.owed_by(), 1),
        };
        Some(Fence {
            opened,
            step,
            attempt,
        })
    }

    fn workplace(&self) -> Option<Workplace> {
        let tick = self.tick.as_ref()?;
        let task = tick.task.as_ref()?;
        Some(Workplace {
            task: task.name.clone(),
            tick: tick.number,
            worktree: self.rules.as_ref()?.worktree,
            recorded: match self.rules.as_ref()?.worktree {
                Some(WorktreeFor::Loop) => self.state.worktree.clone(),
                _ => self.state.progress_of(&task.name).worktree,
            },
        })
    }

    /// Returns how long the task may still run, in milliseconds.
    fn wall_left(&self, progress: &Progress) -> Option<u64> {
        let max = self.rules.as_ref()?.brakes.max_wall_ms;
        Some(max.map_or(u64::MAX, |max| max.saturating_sub(progress.wall_ms)))
    }

    fn check(&self) -> Option<Check> {
        let tick = self.tick.as_ref()?;
        let task = tick.task.as_ref()?;
        let rules = self.rules.as_ref()?;
        let progress = self.state.progress_of(&task.name);
        Some(Check {
            task: task.name.clone(),
            tick: tick.number,
            worktree: match self.stage {
                // It may be put aside before the place was made ready.
                Stage::SetAside => self.state.worktree.clone(),
                _ => tick.worktree.clone(),
            },
            baseline: progress.baseline,
            judges_own: progress.judges_own,
            frozen: progress.gate.map(|gate| gate.frozen),
            planned: progress.plan.map_or_else(Vec::new, |plan| plan.frozen),
            must_be_red: rules.gate.is_some_and(|gate| gate.must_start_red),
        })
    }

    fn call(&self, role: Role) -> Option<Call> {
        let tick = self.tick.as_ref()?;
        let task = tick.task.as_ref()?;
        let rules = self.rules.as_ref()?;
        let progress = self.state.progress_of(&task.name);
        let left = self.wall_left(&progress)?;
        let harness = tick.harness;
        Some(Call {
            role,
            tick: tick.number,
            attempt: tick.attempt,
            nonce: tick.nonce.clone(),
            task: task.name.clone(),
            phase: task.phase.clone(),
            hint: progress.hint,
            verdict: (role == Role::Orchestrate)
                .then(|| tick.verdict.clone())
                .flatten(),
            unjudged: progress.unjudged.filter(|_| tick.judging),
            fault: tick.fault.clone(),
            harness,
            artifact: tick.output.clone(),
            timeout_ms: rules
                .call(role)?
                .harnesses
                .get(harness)?
                .timeout_ms
                .min(left),
            budget: self.budget(),
            worktree: tick.worktree.clone(),
            frozen: progress.gate.map(|gate| gate.frozen),
            diff: tick.diff.clone(),
        })
    }

    fn verified_result(&self) -> Option<Verified> {
        let tick = self.tick.as_ref()?;
        let task = tick.task.as_ref()?;
        let progress = self.state.progress_of(&task.name);
        let frozen = progress.gate.map(|gate| gate.frozen);
        Some(Verified {
            task: task.name.clone(),
            tick: tick.number,
            worktree: tick.worktree.clone(),
            tree_before: tick.tree_before.clone(),
            tree: (self.state.last_verdict.as_ref()).and_then(|last| last.tree.clone()),
            gate: frozen.zip(tick.gate.clone()),
            verdict: tick.verdict.clone(),
        })
    }

    fn report(&self) -> Option<Report> {
        let tick = self.tick.as_ref()?;
        let task = tick.task.as_ref()?;
        Some(Report {
            task: task.name.clone(),
            file: crate::phase::Phases::artifact(task.phase.as_deref()?)?,
            output: tick.output.clone()?,
        })
    }
}
