//! Which harness of a role is called, and what becomes of one that is out of
//! service.
//!
//! A role may have several harnesses. The first that is in service is called; one
//! that was refused is left alone for a while, and the next one takes its place in
//! the same tick. A fault of the last one is the tick's (decision D-4).

use super::Machine;
use crate::outcome::EnvironmentFault;
use crate::rules::HarnessRules;
use crate::state::Cooling;
use crate::step::{Role, Step};
use crate::time::Timestamp;

/// The first wait for a harness that does not say when it is back, in seconds.
const FIRST_WAIT: i64 = 300;
/// The first wait beyond a time that was named and did not hold, in seconds.
const FIRST_EXTRA_WAIT: i64 = 60;
/// No wait that nobody has named is longer than this, in seconds.
const LONGEST_WAIT: i64 = 3600;

impl Machine {
    /// Settles which harness the call of `role` that comes now goes to. Time goes by
    /// while it runs, and with it what would be chosen.
    pub(super) fn choose(&mut self, role: Role) {
        let index = self.harness(role).map_or(0, |(index, _)| index);
        if let Some(tick) = &mut self.tick {
            tick.harness = index;
        }
    }

    /// Returns the harness that the call of `role` went to.
    pub(super) fn chosen(&self, role: Role) -> Option<&HarnessRules> {
        let index = self.tick.as_ref().map_or(0, |tick| tick.harness);
        self.rules.as_ref()?.call(role)?.harnesses.get(index)
    }

    /// Returns the index and the rules of the harness that `role` is called with:
    /// the first that is in service, else the one that is so soonest.
    pub(super) fn harness(&self, role: Role) -> Option<(usize, &HarnessRules)> {
        let harnesses = &self.rules.as_ref()?.call(role)?.harnesses;
        let in_service = |(index, _): &(usize, &HarnessRules)| self.may_call(role, *index);
        let all = || harnesses.iter().enumerate();
        let until = |name: &str| {
            let cooling = self.state.cooling.get(name);
            cooling.map_or(self.now, |cooling| cooling.until)
        };
        all()
            .find(in_service)
            .or_else(|| all().min_by_key(|(_, harness)| until(&harness.name)))
    }

    /// Whether a harness is in service, was not refused in this tick, and may do
    /// what the role does.
    fn may_call(&self, role: Role, index: usize) -> bool {
        let Some(harness) =
            (self.rules.as_ref()).and_then(|rules| rules.call(role)?.harnesses.get(index))
        else {
            return false;
        };
        let name = &harness.name;
        let is_it = |(other, refused): &(Role, String)| (*other, refused) == (role, name);
        let refused = (self.tick.as_ref()).is_some_and(|tick| tick.refused.iter().any(is_it));
        let cooling = (self.state.cooling.get(name)).is_some_and(|out| self.now < out.until);
        let itself = match role {
            Role::Verify => self.would_judge_itself(name),
            // Nobody would be left to judge its work.
            Role::Implement => index > 0 && self.judges_alone(name),
            Role::Plan | Role::Orchestrate => false,
        };
        !(refused || cooling || itself)
    }

    /// Whether a judge that is meant to be independent would be the harness that
    /// did the work: it never judges itself.
    fn would_judge_itself(&self, name: &str) -> bool {
        let worker = self.tick.as_ref().and_then(|tick| tick.worker.as_deref());
        self.judge_is_independent() && worker == Some(name)
    }

    /// Whether the independent judge has no other harness than this one.
    fn judges_alone(&self, name: &str) -> bool {
        let judges = self.rules.as_ref().filter(|rules| rules.judge);
        self.judge_is_independent()
            && judges.is_some_and(|rules| rules.verify.harnesses.iter().all(|h| h.name == name))
    }

    /// Whether the configuration gives the judge another harness than the implementer.
    fn judge_is_independent(&self) -> bool {
        let first = |harnesses: &[HarnessRules]| harnesses.first().map(|h| h.name.clone());
        self.rules.as_ref().is_some_and(|rules| {
            first(&rules.verify.harnesses) != first(&rules.implement.harnesses)
        })
    }

    /// Takes note of a fault of the harness that `step` has called. Returns whether
    /// another one is to be called in its place.
    pub(super) fn falls_back(
        &mut self,
        step: Step,
        begun: bool,
        reason: EnvironmentFault,
        until: Option<Timestamp>,
    ) -> bool {
        let Some(role) = step.role() else {
            return false;
        };
        let Some(name) = self.chosen(role).map(|harness| harness.name.clone()) else {
            return false;
        };
        self.cool(&name, reason, until);
        let Some(tick) = &mut self.tick else {
            return false;
        };
        tick.refused.push((role, name));
        let count = (self.rules.as_ref())
            .and_then(|rules| rules.call(role))
            .map_or(0, |call| call.harnesses.len());
        if !(0..count).any(|index| self.may_call(role, index)) {
            return false;
        }
        if step == Step::Implement && begun {
            self.give_back_iteration();
        }
        if let Some(tick) = &mut self.tick {
            tick.attempt += 1;
        }
        true
    }

    /// A prompt that one harness cannot take says nothing about the next one.
    fn cool(&mut self, name: &str, reason: EnvironmentFault, until: Option<Timestamp>) {
        use EnvironmentFault::{Auth, MissingProgram, Offline, Quota, RateLimit};
        if !matches!(reason, Auth | MissingProgram | Offline | Quota | RateLimit) {
            return;
        }
        let before = self.state.cooling.get(name);
        // A service that says now this and now that of the same limit is at its limit.
        let kind = |reason| if reason == Quota { RateLimit } else { reason };
        let before = before.filter(|cooling| kind(cooling.reason) == kind(reason));
        let count = before.map_or(0, |cooling| cooling.count) + 1;
        let until = until.filter(|until| *until > self.now);
        let cooling = Cooling {
            reason,
            until: match until {
                Some(until) => until.max(self.now.after_seconds(extra_wait(count))),
                None => self.now.after_seconds(wait(count)),
            },
            known: until.is_some(),
            count,
        };
        self.state.cooling.insert(name.to_owned(), cooling);
    }

    /// A call of a harness that came to its end shows that it is in service.
    pub(super) fn in_service(&mut self, role: Role) {
        self.state.environment = None;
        if let Some(name) = self.chosen(role).map(|harness| harness.name.clone()) {
            self.state.cooling.remove(&name);
        }
    }

    /// Returns when one of the role's harnesses is back, if a service said so.
    pub(super) fn back_at(&self, role: Role) -> Option<Timestamp> {
        let harnesses = &self.rules.as_ref()?.call(role)?.harnesses;
        let known = |harness: &HarnessRules| {
            let cooling = self.state.cooling.get(&harness.name)?;
            (cooling.known && self.now < cooling.until).then_some(cooling.until)
        };
        harnesses.iter().filter_map(known).min()
    }

    /// Returns when it is worth trying a harness again that named no time.
    pub(super) fn again_at(&self, role: Role) -> Option<Timestamp> {
        let (_, harness) = self.harness(role)?;
        let cooling = self.state.cooling.get(&harness.name)?;
        (self.now < cooling.until).then_some(cooling.until)
    }

    /// Forgets harnesses that the loop no longer has.
    pub(super) fn forget_other_harnesses(&mut self) {
        let Some(rules) = &self.rules else { return };
        let known = |name: &String| {
            Role::ALL
                .into_iter()
                .filter_map(|role| rules.call(role))
                .any(|call| call.harnesses.iter().any(|harness| &harness.name == name))
        };
        self.state.cooling.retain(|name, _| known(name));
    }
}

/// Returns the seconds to wait after the `count`th fault in a row whose end nobody
/// knows.
fn wait(count: u32) -> i64 {
    doubled(FIRST_WAIT, count)
}

/// Returns the seconds to wait at least after the `count`th fault in a row, whatever
/// time was named: a service that always says "in a second" is not asked each second.
fn extra_wait(count: u32) -> i64 {
    match count {
        0 | 1 => 1,
        _ => doubled(FIRST_EXTRA_WAIT, count - 1),
    }
}

fn doubled(first: i64, count: u32) -> i64 {
    let doublings = count.saturating_sub(1).min(16);
    (first << doublings).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    // cases: 36
    #[test]
    fn waits_double_up_to_an_hour() {
        let waits: Vec<_> = [1, 2, 3, 4, 5, 99].map(wait).into();
        assert_eq!(waits, [300, 600, 1200, 2400, 3600, 3600]);
        let waits: Vec<_> = [1, 2, 3, 7, 8, 99].map(extra_wait).into();
        assert_eq!(waits, [1, 60, 120, 1920, 3600, 3600]);
    }
}
