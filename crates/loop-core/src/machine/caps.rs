//! The caps that are checked before every call that costs, and what calls use.

use super::Machine;
use crate::answer::Cap;
use crate::bill::{Bill, Charge};
use crate::outcome::Halt;
use crate::state::UnknownBill;
use crate::step::{Budget, Role};

impl Machine {
    /// Returns the cap on what the whole loop uses that is reached, if any.
    pub(super) fn usage_cap(&self) -> Option<(Halt, String)> {
        let brakes = &self.rules.as_ref()?.brakes;
        let used = &self.state.spent.used;
        if let Some(cap) = brakes.max_cost.filter(|cap| used.usd >= *cap) {
            return Some((Halt::MaxCost, format!("${} of ${cap} are spent", used.usd)));
        }
        let tokens = used.tokens.total();
        let cap = brakes.max_tokens.filter(|cap| tokens >= *cap)?;
        Some((
            Halt::MaxTokens,
            format!("{tokens} of {cap} tokens are used"),
        ))
    }

    /// Returns the hard cap that forbids a call of `role`, in words. An
    /// estimate that would pass the cost cap forbids it: the bill stays inside.
    pub(super) fn cap_before(&self, role: Role) -> Option<(Halt, String)> {
        let brakes = &self.rules.as_ref()?.brakes;
        let (_, harness) = self.harness(role)?;
        let capped = brakes.max_cost.is_some() || brakes.max_tokens.is_some();
        if let Some(unknown) = self.state.unknown_bill.as_ref().filter(|_| capped) {
            return Some((unknown.halt, unknown.why.clone()));
        }
        let role = role.as_str();
        if let Some(cap) = brakes.max_cost {
            let spent = self.state.spent.used.usd;
            match harness.cost_per_call {
                Some(next) if spent.saturating_add(next) > cap => {
                    let why =
                        format!("${spent} of ${cap} are spent, and a call of {role} costs ${next}");
                    return Some((Halt::MaxCost, why));
                }
                None if !harness.reports_cost => {
                    let why = format!("what a call of {role} costs is unknown");
                    return Some((Halt::MaxCost, why));
                }
                _ => {}
            }
        }
        if brakes.max_tokens.is_some() && !harness.reports_tokens {
            let why = format!("how many tokens a call of {role} uses is unknown");
            return Some((Halt::MaxTokens, why));
        }
        self.usage_cap().or_else(|| self.wall_cap())
    }

    pub(super) fn wall_cap(&self) -> Option<(Halt, String)> {
        let max = self.rules.as_ref()?.brakes.max_wall_ms?;
        let used = self.progress().wall_ms;
        (used >= max).then(|| {
            let why = format!("the task has run for {}s of {}s", used / 1000, max / 1000);
            (Halt::MaxWall, why)
        })
    }

    /// Returns what is left for a call, the charge that it began with left out.
    pub(super) fn budget(&self) -> Budget {
        let Some(rules) = &self.rules else {
            return Budget::default();
        };
        let mut used = self.state.spent.used;
        if let Some((_, charge)) = self.tick.as_ref().and_then(|tick| tick.charge) {
            used.remove(&charge);
        }
        let (usd, tokens) = (used.usd, used.tokens.total());
        Budget {
            usd: rules.brakes.max_cost.map(|cap| cap.saturating_sub(usd)),
            tokens: rules
                .brakes
                .max_tokens
                .map(|cap| cap.saturating_sub(tokens)),
        }
    }

    /// Returns why a call that was ended in its middle stops the loop.
    pub(super) fn capped(&self, role: Role, cap: Cap) -> (Halt, String) {
        let halt = cap.halt();
        let (_, reached) = self.usage_cap().unwrap_or((halt, String::new()));
        let joint = if reached.is_empty() { "" } else { ": " };
        let why = match cap {
            Cap::Cost => format!(
                "{} was ended at the cost cap{joint}{reached}",
                role.as_str()
            ),
            Cap::Tokens => format!(
                "{} was ended at the token cap{joint}{reached}",
                role.as_str()
            ),
        };
        (halt, why)
    }

    /// Charges a call of `role` before it starts: a crash must not make it free.
    pub(super) fn charge(&mut self, role: Role) {
        let estimate = self.estimate(role);
        let charge = Charge::expected(estimate);
        self.add(role, &charge);
        if let Some(tick) = &mut self.tick {
            tick.charge = Some((role, charge));
        }
    }

    /// Puts what a call really used in place of what it was charged with. One that
    /// never ran has used nothing that it could tell of.
    pub(super) fn settle(&mut self, bill: Option<Bill>, never_ran: bool) {
        let Some((role, expected)) = self.tick.as_mut().and_then(|tick| tick.charge.take()) else {
            return;
        };
        let mut bill = bill.unwrap_or_default();
        if let (Some(session), Some(tokens), true) = (&bill.session, bill.tokens, bill.cumulative) {
            bill.tokens = Some(self.state.since_reported(session, tokens));
        }
        let charge = Charge::billed(self.estimate(role), &bill);
        self.remove(role, &expected);
        self.add(role, &charge);
        if !never_ran {
            self.note_unknown(role, &bill);
        }
    }

    /// A cap cannot hold over a call that has not told what it used. One that was ended after
    /// it had told of its turns lacks at most the last of them.
    fn note_unknown(&mut self, role: Role, bill: &Bill) {
        let Some(brakes) = self.rules.as_ref().map(|rules| &rules.brakes) else {
            return;
        };
        let unpriced = bill.cost.is_none() || bill.unpriced;
        let unpriced = unpriced && self.estimate(role).is_none();
        let uncounted = bill.tokens.is_none() || bill.uncounted;
        let (halt, what) = if brakes.max_cost.is_some() && unpriced {
            (Halt::MaxCost, "cost")
        } else if brakes.max_tokens.is_some() && uncounted {
            (Halt::MaxTokens, "tokens")
        } else {
            return;
        };
        let tick = self.state.tick;
        let why = format!(
            "the call of {} in tick {tick} ended without telling its {what}, over which there is a cap",
            role.as_str()
        );
        self.state.unknown_bill = Some(UnknownBill { halt, why });
    }

    fn estimate(&self, role: Role) -> Option<crate::Usd> {
        self.chosen(role)?.cost_per_call
    }

    fn add(&mut self, role: Role, charge: &Charge) {
        if let Some(tick) = &mut self.tick {
            tick.used.add(charge);
        }
        self.state.spent.used.add(charge);
        self.state
            .spent
            .by_role
            .entry(role)
            .or_default()
            .add(charge);
        if let Some(progress) = self.progress_mut() {
            progress.used.add(charge);
        }
    }

    fn remove(&mut self, role: Role, charge: &Charge) {
        if let Some(tick) = &mut self.tick {
            tick.used.remove(charge);
        }
        self.state.spent.used.remove(charge);
        self.state
            .spent
            .by_role
            .entry(role)
            .or_default()
            .remove(charge);
        if let Some(progress) = self.progress_mut() {
            progress.used.remove(charge);
        }
    }
}
