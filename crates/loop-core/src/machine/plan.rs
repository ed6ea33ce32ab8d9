//! The plan: a tick of its own before the first attempt at a task.

use super::{Machine, Stage};
use crate::answer::{CallEnd, PlanAnswer, Planned};
use crate::outcome::{Halt, Outcome};
use crate::step::Role;
use crate::text::counted;

impl Machine {
    /// Whether the tick's task needs a plan before anything else.
    pub(super) fn has_to_plan(&self) -> bool {
        let plans = self
            .rules
            .as_ref()
            .is_some_and(|rules| rules.plan.is_some());
        let progress = self.progress();
        plans && progress.plan.is_none() && progress.unjudged.is_none()
    }

    pub(super) fn go_plan(&mut self) {
        match self.cap_before(Role::Plan) {
            Some((halt, why)) => self.halt(halt, why),
            None => {
                self.choose(Role::Plan);
                self.stage = Stage::Plan;
            }
        }
    }

    /// A planner is asked once: whatever it gets wrong is for a person (G-06, G-36).
    pub(super) fn planned(&mut self, planned: Planned) {
        self.in_service(Role::Plan);
        if let Some(why) = self.outside(
            Role::Plan.as_str(),
            &planned.called.outside,
            &planned.called.inputs,
        ) {
            return self.halt(Halt::OutsideChanged, why);
        }
        if let CallEnd::Capped(cap) = planned.called.end {
            let (halt, why) = self.capped(Role::Plan, cap);
            return self.halt(halt, why);
        }
        if let Some(failure) = planned.called.end.failure() {
            return self.halt(Halt::PlannerBroken, format!("plan {failure}"));
        }
        match planned.answer {
            PlanAnswer::Refused { why } => self.halt(Halt::Refused, why),
            PlanAnswer::Broken { why } => self.halt(Halt::PlannerBroken, why),
            PlanAnswer::Plan(plan) => {
                let items = counted(plan.items as u64, "item");
                if let Some(progress) = self.progress_mut() {
                    progress.plan = Some(plan);
                }
                self.finish(
                    Outcome::Pass,
                    format!("planned: {items}, each with its check"),
                );
            }
        }
    }
}
