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

/// What there is to wait for while no harness of a role is in service.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    /// When one of them can be called again.
    pub(super) until: Timestamp,
    /// Whether the service of one has said when it is back.
    pub(super) known: bool,
}

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
    /// the first that is in service, else the one that is so soonest. There is none
    /// for a judge that would have to judge what it made itself.
    pub(super) fn harness(&self, role: Role) -> Option<(usize, &HarnessRules)> {
        let until = |harness: &HarnessRules| {
            let cooling = self.state.cooling.get(&harness.name);
            cooling.map_or(self.now, |cooling| cooling.until)
        };
        self.next_in_service(role)
            .or_else(|| self.allowed(role).min_by_key(|(_, harness)| until(harness)))
    }

    /// Returns the first harness of `role` that is not out of service, and was not
    /// refused in this tick.
    fn next_in_service(&self, role: Role) -> Option<(usize, &HarnessRules)> {
        let refused = self.tick.as_ref().map_or(&[][..], |tick| &tick.refused);
        self.allowed(role).find(|(index, harness)| {
            let cooling = self.state.cooling.get(&harness.name);
            !refused.contains(&(role, *index))
                && cooling.is_none_or(|cooling| self.now >= cooling.until)
        })
    }

    /// Returns the harnesses that may do what the role does, in the order in which
    /// they are tried: no judge that is meant to be independent judges itself,
    /// whoever else is out of service.
    fn allowed(&self, role: Role) -> impl Iterator<Item = (usize, &HarnessRules)> {
        let call = self.rules.as_ref().and_then(|rules| rules.call(role));
        let harnesses = call.map_or(&[][..], |call| &call.harnesses);
        let may = move |(index, harness): &(usize, &HarnessRules)| match role {
            Role::Verify => !self.would_judge_itself(&harness.name),
            // Nobody would be left to judge its work.
            Role::Implement => *index == 0 || !self.judges_alone(&harness.name),
            Role::Plan | Role::Orchestrate => true,
        };
        harnesses.iter().enumerate().filter(may)
    }

    /// Whether a judge that is meant to be independent would be the harness that
    /// did the work.
    fn would_judge_itself(&self, name: &str) -> bool {
        self.judge_is_independent() && self.worker() == Some(name)
    }

    /// Returns the name of the harness that did the work.
    pub(super) fn worker(&self) -> Option<&str> {
        self.tick.as_ref()?.worker.as_deref()
    }

    /// Whether the independent judge has no other harness than this one.
    fn judges_alone(&self, name: &str) -> bool {
        let judges = self.rules.as_ref().filter(|rules| rules.judge);
        self.judge_is_independent()
            && judges.is_some_and(|rules| rules.verify.harnesses.iter().all(|h| h.name == name))
    }

    /// Whether the configuration gives the judge another harness than the implementer.
    /// One that both have first is what the user wants: a judge of the same kind.
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
        tick.refused.push((role, tick.harness));
        if self.next_in_service(role).is_none() {
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

    /// Returns what there is to wait for when a role has no harness in service;
    /// `None` when waiting helps none of them.
    pub(super) fn wait_for(&self, role: Role) -> Option<Wait> {
        let of = |(_, harness): (usize, &HarnessRules)| self.state.cooling.get(&harness.name);
        let out = self.allowed(role).filter_map(of);
        let out: Vec<_> = out.filter(|cooling| self.now < cooling.until).collect();
        let mut passing = out
            .iter()
            .filter(|cooling| passes(cooling.reason))
            .peekable();
        passing.peek()?;
        Some(Wait {
            known: passing.any(|cooling| cooling.known),
            until: out.iter().map(|cooling| cooling.until).min()?,
        })
    }

    /// Returns how often in a row each harness of a role has failed at least.
    pub(super) fn each_failed(&self, role: Role) -> u32 {
        let count = |name: &String| self.state.cooling.get(name).map_or(0, |out| out.count);
        let counts = self.allowed(role).map(|(_, harness)| count(&harness.name));
        counts.min().unwrap_or(0)
    }

    /// Names the role's other harnesses that are out of service, and why.
    pub(super) fn others_out(&self, role: Role) -> Option<String> {
        let met = &self.chosen(role)?.name;
        let mut others: Vec<String> = Vec::new();
        for (_, HarnessRules { name, .. }) in self.allowed(role) {
            let cooling = self.state.cooling.get(name);
            if let Some(out) = cooling.filter(|out| name != met && self.now < out.until) {
                others.push(format!("`{name}` ({})", out.reason));
            }
        }
        others.dedup();
        (!others.is_empty()).then(|| others.join(", "))
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

/// Whether a fault is over some day without anybody's doing. A program that is
/// missing and a login that is not there stay so.
fn passes(reason: EnvironmentFault) -> bool {
    use EnvironmentFault::{Offline, Quota, RateLimit};
    matches!(reason, Offline | Quota | RateLimit)
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
