//! What the decisions of a tick depend on, taken from the configuration.

use crate::Usd;
use crate::brakes::Brakes;
use crate::config::{self, Config, Harness, HarnessRef, PhaseName, WorkSourceKind, WorktreeFor};
use crate::phase::Phases;
use crate::step::Role;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The smallest context window that a role may declare, in tokens (seeds: the
/// 16k context floor).
pub const CONTEXT_FLOOR: u64 = 16_000;

/// The part of a loop's configuration that decisions depend on. It stands in
/// the `opened` record, so that a tick can be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Whether the loop works on one task that a person gives it.
    pub single: bool,
    /// What a worktree is for; `None` when the work is done in the project itself.
    pub worktree: Option<WorktreeFor>,
    /// The loop's phases.
    pub phases: Phases,
    /// The limits.
    pub brakes: Brakes,
    /// How implement is called.
    pub implement: CallRules,
    /// How verify is called.
    pub verify: CallRules,
    /// How orchestrate is called; `None` when the engine decides alone.
    pub orchestrate: Option<CallRules>,
}

/// What the decisions need to know of a role's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRules {
    /// The longest that a call may take, in milliseconds.
    pub timeout_ms: u64,
    /// What a call is taken to cost, when the harness reports nothing.
    pub cost_per_call: Option<Usd>,
    /// The context window that the role declares, in tokens.
    pub context_window: Option<u64>,
}

impl Rules {
    /// Returns how `role` is called; `None` when it is not.
    #[must_use]
    pub fn call(&self, role: Role) -> Option<&CallRules> {
        match role {
            Role::Implement => Some(&self.implement),
            Role::Verify => Some(&self.verify),
            Role::Orchestrate => self.orchestrate.as_ref(),
        }
    }

    /// Returns the first role that declares too small a context window.
    pub(crate) fn below_context_floor(&self) -> Option<(Role, u64)> {
        [Role::Implement, Role::Verify, Role::Orchestrate]
            .into_iter()
            .find_map(|role| {
                let window = self.call(role)?.context_window?;
                (window < CONTEXT_FLOOR).then_some((role, window))
            })
    }
}

impl Rules {
    /// Takes from a configuration what decisions depend on.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let brakes = config.brakes();
        Self {
            single: config.work_source().kind() == WorkSourceKind::Single,
            worktree: (config.blast_radius().use_worktree()).then(|| config.worktree_for()),
            phases: phases(config),
            brakes: Brakes {
                max_iterations: brakes.max_iterations(),
                score_plateau_window: brakes.score_plateau_window().unwrap_or(0),
                score_plateau_delta: brakes.score_plateau_delta().get(),
                min_score: brakes.min_score(),
                max_harness_failures: brakes.max_harness_failures(),
                no_progress_window: brakes.no_progress_window().unwrap_or(0),
                max_wall_ms: brakes.max_wall().map(millis),
                max_ticks_per_day: brakes.max_ticks_per_day(),
                max_cost: brakes.max_cost(),
            },
            implement: call_rules(config, config.roles().implement.as_ref()),
            verify: call_rules(config, config.roles().verify.as_ref()),
            orchestrate: config
                .roles()
                .orchestrate
                .as_ref()
                .map(|role| call_rules(config, Some(role))),
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

fn call_rules(config: &Config, role: Option<&config::Role>) -> CallRules {
    let harness = config
        .harness_of(role)
        .and_then(|choice| choice.as_slice().first())
        .and_then(HarnessRef::described)
        .map_or_else(Harness::default, Harness::clone);
    CallRules {
        timeout_ms: millis(harness.timeout()),
        cost_per_call: harness.cost_per_call(),
        context_window: role.and_then(config::Role::context_window).map(u64::from),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
