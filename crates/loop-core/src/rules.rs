//! What the decisions of a tick depend on, taken from the configuration.

use crate::Usd;
use crate::brakes::Brakes;
use crate::phase::Phases;
use crate::step::Role;
use serde::{Deserialize, Serialize};

/// The smallest context window that a role may declare, in tokens (seeds: the
/// 16k context floor).
pub const CONTEXT_FLOOR: u64 = 16_000;

/// The part of a loop's configuration that decisions depend on. It stands in
/// the `opened` record, so that a tick can be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Whether the loop works on one task that a person gives it.
    pub single: bool,
    /// Whether the work is done in a worktree.
    pub worktree: bool,
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
