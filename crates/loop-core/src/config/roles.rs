//! The roles of a tick.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::harness::HarnessChoice;
use super::number::Whole;

/// The settings of each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with a role for each key")]
pub struct Roles {
    /// Plans an autonomous run; not called when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Role>,
    /// Does the work; called without a prompt when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implement: Option<Role>,
    /// Judges the work; when absent, called without a prompt in a loop that has no gate, and not
    /// called in one that has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Role>,
    /// Asks for the next transition; not called when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orchestrate: Option<Role>,
}

impl Roles {
    /// Returns every role by its name, in the order of a tick.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, Option<&Role>)> {
        let Self {
            plan,
            implement,
            verify,
            orchestrate,
        } = self;
        [
            ("plan", plan.as_ref()),
            ("implement", implement.as_ref()),
            ("verify", verify.as_ref()),
            ("orchestrate", orchestrate.as_ref()),
        ]
        .into_iter()
    }
}

/// The settings of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that describes a role, or null"
)]
pub struct Role {
    /// The prompt's file, looked for in the loop's folder and then in the home's prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The harness of this role alone; the loop's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<HarnessChoice>,
    /// A note on the kind of model that the role needs; has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The context window of the role's model in tokens; below 16000 the tick is skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_window: Option<Whole<1, { u32::MAX }>>,
}

impl Role {
    /// Returns the context window of the role's model in tokens, if it is declared.
    #[must_use]
    pub fn context_window(&self) -> Option<u32> {
        self.context_window.map(Whole::get)
    }
}
