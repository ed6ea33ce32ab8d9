//! What the decisions of a tick depend on, taken from the configuration.

use crate::Usd;
use crate::bill::CostSource;
use crate::brakes::Brakes;
use crate::config::{self, Config, Harness, OnTrip, PhaseName, Watch, WorkSourceKind, WorktreeFor};
use crate::harness::{CalledHarness, Harnesses};
use crate::phase::Phases;
use crate::step::Role;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The smallest context window that a role may declare, in tokens (seeds: the
/// 16k context floor).
pub const CONTEXT_FLOOR: u64 = 16_000;

/// The part of a loop's configuration that decisions depend on. It stands in
/// the `opened` record, so that a tick can be replayed.
///
/// A field that an older engine did not write is read as its default, so that
/// old records stay readable. No tick is replayed with it: a replay never
/// crosses two versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Whether the loop works on one task that a person gives it.
    pub single: bool,
    /// What a worktree is for; `None` when the work is done in the project itself.
    pub worktree: Option<WorktreeFor>,
    /// The loop's phases.
    pub phases: Phases,
    /// The limits.
    pub brakes: Brakes,
    /// Until when the schedule's window is closed, which the driver says of the time at
    /// which it starts a tick; `None` while it is open, and without one.
    pub closed_until: Option<Timestamp>,
    /// Whether a task that trips a brake is put aside and the next one taken.
    pub park: bool,
    /// Whether what changes is looked at, which is so for every loop of a driver
    /// that can.
    pub scope: bool,
    /// Whether a verified result leaves a receipt, which is so for every loop of a
    /// driver that can write one.
    pub receipts: bool,
    /// Whether a change outside the place of work stops the task.
    pub watch: bool,
    /// The acceptance gate; `None` when the loop has none.
    pub gate: Option<GateRules>,
    /// Whether a judge is asked.
    pub judge: bool,
    /// How the planner is called; `None` when there is no plan to make.
    pub plan: Option<CallRules>,
    /// How implement is called.
    pub implement: CallRules,
    /// How verify is called.
    pub verify: CallRules,
    /// How orchestrate is called; `None` when the engine decides alone.
    pub orchestrate: Option<CallRules>,
}

/// What the decisions need to know of the acceptance gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRules {
    /// Whether it has to be red before the first attempt.
    pub must_start_red: bool,
    /// The longest that it may take, in milliseconds.
    pub timeout_ms: u64,
}

/// What the decisions need to know of a role's calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRules {
    /// The harnesses in the order in which they are tried; never none.
    pub harnesses: Vec<HarnessRules>,
    /// The context window that the role declares, in tokens.
    pub context_window: Option<u64>,
}

/// What the decisions need to know of one harness of a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HarnessRules {
    /// Its name: its profile's, else its program's.
    pub name: String,
    /// The longest that a call may take, in milliseconds.
    pub timeout_ms: u64,
    /// What a call is taken to cost, when the harness reports nothing.
    pub cost_per_call: Option<Usd>,
    /// Whether it reports what a call has cost.
    pub reports_cost: bool,
    /// Whether it reports the tokens of a call.
    pub reports_tokens: bool,
}

impl Rules {
    /// Returns how `role` is called; `None` when it is not.
    #[must_use]
    pub fn call(&self, role: Role) -> Option<&CallRules> {
        match role {
            Role::Plan => self.plan.as_ref(),
            Role::Implement => Some(&self.implement),
            Role::Verify => Some(&self.verify),
            Role::Orchestrate => self.orchestrate.as_ref(),
        }
    }

    /// Returns the first role that declares too small a context window.
    pub(crate) fn below_context_floor(&self) -> Option<(Role, u64)> {
        Role::ALL.into_iter().find_map(|role| {
            let window = self.call(role)?.context_window?;
            (window < CONTEXT_FLOOR).then_some((role, window))
        })
    }
}

impl Default for Rules {
    /// The rules of a loop that configures nothing.
    fn default() -> Self {
        Self {
            single: true,
            worktree: None,
            park: false,
            scope: true,
            receipts: true,
            watch: true,
            gate: None,
            judge: true,
            phases: Phases::default(),
            brakes: Brakes::default(),
            closed_until: None,
            plan: None,
            implement: CallRules::default(),
            verify: CallRules::default(),
            orchestrate: None,
        }
    }
}

impl CallRules {
    /// Returns how well the cost of a call will be known.
    #[must_use]
    pub fn cost_source(&self) -> CostSource {
        let of = |harness: &HarnessRules| match (harness.reports_cost, harness.cost_per_call) {
            (true, _) => CostSource::Reported,
            (false, Some(_)) => CostSource::Estimated,
            (false, None) => CostSource::Unknown,
        };
        let worst = self.harnesses.iter().map(of).max();
        worst.unwrap_or(CostSource::Unknown)
    }
}

impl Default for CallRules {
    fn default() -> Self {
        Self {
            harnesses: vec![HarnessRules::default()],
            context_window: None,
        }
    }
}

impl Default for HarnessRules {
    /// The rules of a harness that configures nothing: its cost is unknown.
    fn default() -> Self {
        Self {
            name: String::new(),
            timeout_ms: millis(Harness::default().timeout()),
            cost_per_call: None,
            reports_cost: false,
            reports_tokens: false,
        }
    }
}

impl Rules {
    /// Takes from a configuration, and from its harnesses, what decisions depend
    /// on.
    #[must_use]
    pub fn of(config: &Config, harnesses: &Harnesses) -> Self {
        let call = |role, config: Option<&config::Role>| CallRules {
            harnesses: harnesses
                .of_role(role)
                .iter()
                .map(HarnessRules::of)
                .collect(),
            context_window: config.and_then(config::Role::context_window).map(u64::from),
        };
        let roles = config.roles();
        Self {
            single: config.work_source().kind() == WorkSourceKind::Single,
            worktree: (config.blast_radius().use_worktree()).then(|| config.worktree_for()),
            park: config.brakes().on_trip() == OnTrip::Park
                && config.work_source().kind() != WorkSourceKind::Single,
            scope: true,
            receipts: true,
            watch: config.blast_radius().watch() == Watch::Stop,
            gate: config.gate().map(|gate| GateRules {
                must_start_red: config.must_start_red(),
                timeout_ms: millis(gate.timeout()),
            }),
            judge: config.has_judge(),
            phases: phases(config),
            brakes: Brakes::of(config.brakes()),
            closed_until: None,
            plan: (roles.plan.as_ref()).map(|role| call(Role::Plan, Some(role))),
            implement: call(Role::Implement, roles.implement.as_ref()),
            verify: call(Role::Verify, roles.verify.as_ref()),
            orchestrate: (roles.orchestrate.as_ref())
                .map(|role| call(Role::Orchestrate, Some(role))),
        }
    }
}

impl Brakes {
    /// Takes the limits from a configuration.
    fn of(brakes: &config::Brakes) -> Self {
        Self {
            max_iterations: brakes.max_iterations(),
            score_plateau_window: brakes.score_plateau_window().unwrap_or(0),
            score_plateau_delta: brakes.score_plateau_delta().get(),
            min_score: brakes.min_score(),
            max_harness_failures: brakes.max_harness_failures(),
            no_progress_window: brakes.no_progress_window().unwrap_or(0),
            max_wall_ms: brakes.max_wall().map(millis),
            max_ticks_per_day: brakes.max_ticks_per_day(),
            max_cost: brakes.max_cost(),
            max_tokens: brakes.max_tokens().map(u64::from),
        }
    }
}

impl Default for Brakes {
    /// The limits of a loop that configures none, which are not "off".
    fn default() -> Self {
        Self::of(&config::Brakes::default())
    }
}

impl HarnessRules {
    fn of(harness: &CalledHarness) -> Self {
        Self {
            name: harness.name.clone(),
            timeout_ms: millis(harness.timeout),
            cost_per_call: harness.cost_per_call,
            reports_cost: harness.reports_cost(),
            reports_tokens: harness.reports_tokens(),
        }
    }
}

/// Takes a loop's phases from its configuration.
fn phases(config: &Config) -> Phases {
    let names = |phases: &[PhaseName]| phases.iter().map(|p| p.as_str().to_owned()).collect();
    Phases {
        list: names(config.phases()),
        approval: names(config.approval_phases()),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Profiles;

    // rows: L-12
    #[test]
    fn what_an_older_engine_did_not_write_is_the_default_and_not_off() {
        let rules: Rules = serde_json::from_str("{}").unwrap();
        assert_eq!(rules, Rules::default());
        let text =
            r#"{"brakes": {"max_iterations": 2}, "implement": {"harnesses": [{"timeout_ms": 7}]}}"#;
        let rules: Rules = serde_json::from_str(text).unwrap();
        assert_eq!(rules.brakes.max_iterations, Some(2));
        assert_eq!(rules.brakes.max_wall_ms, Some(28_800_000));
        assert_eq!(rules.brakes.max_harness_failures, 3);
        assert_eq!(rules.implement.harnesses[0].timeout_ms, 7);
        assert_eq!(rules.verify.harnesses[0].timeout_ms, 1_800_000);
        let null = r#"{"brakes": {"max_iterations": null}}"#;
        let rules: Rules = serde_json::from_str(null).unwrap();
        assert_eq!(rules.brakes.max_iterations, None, "said to be off");
    }

    #[test]
    fn a_loop_that_configures_nothing_has_the_default_rules() {
        let config = Config::parse(r#"{"name": "l", "roles": {}}"#)
            .unwrap()
            .config;
        let harnesses = Harnesses::of(&config, &Profiles::default()).unwrap();
        let mut rules = Rules::of(&config, &harnesses);
        for call in [&mut rules.implement, &mut rules.verify] {
            assert_ne!(std::mem::take(&mut call.harnesses[0].name), "");
        }
        assert_eq!(rules, Rules::default());
    }
}
