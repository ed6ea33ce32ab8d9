//! The keys of a harness profile.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::faults::FaultRule;
use super::offline::Offline;
use super::select::{Cost, Selector, Sign, Usage};
use super::several::Several;
use crate::config::number::Whole;
use crate::config::{Argv, Env, ProfileName, PromptVia};

/// A harness: how it is called, and how its output is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Profile")]
pub(super) struct File {
    /// The address of this file's JSON Schema; for editors, no effect.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub(super) schema: Option<String>,
    /// The version of this format: 1.
    #[serde(deserialize_with = "version_1")]
    #[schemars(range(min = 1, max = 1))]
    pub(super) v: u32,
    /// The name of the profile, which is also the name of its file.
    pub(super) name: ProfileName,
    /// The command with its tokens.
    pub(super) command: Argv,
    /// How the prompt reaches the harness.
    pub(super) prompt_via: PromptVia,
    /// How long a prompt may be, in bytes; 131000 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_prompt_bytes: Option<Whole<1, 67_108_864>>,
    /// Whether a prompt may start with `-`; it may when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dash: Option<Dash>,
    /// The command that prints the harness's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<Argv>,
    /// The seconds that a call may go without output, for a harness that is known to hang.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) idle_timeout_seconds: Option<Whole<1, 604_800>>,
    /// How the output is read.
    pub(super) output: Output,
    /// What means that something around the loop is to blame, in the order in which it is tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) faults: Option<Vec<FaultRule>>,
    /// What the harness's environment gets and loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) env: Option<Env>,
    /// The folders in which the harness keeps its own state, such as `~/.tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state_dirs: Option<Vec<String>>,
    /// The limits that the harness itself keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<Limits>,
    /// How to point the harness at a scripted model server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offline: Option<Offline>,
}

/// Whether a prompt may start with `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Dash {
    /// It may.
    Ok,
    /// It would be read as an option, and is refused.
    Refuse,
}

/// How the output of a harness is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that says how the output is read"
)]
pub(super) struct Output {
    /// What the output is made of.
    pub(super) format: Format,
    /// The answer; all of the output when absent, which only `text` may.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Selector>,
    /// Errors, unless an answer follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Vec<Selector>>,
    /// Events that show, like an answer, that the harness went on after an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overcome: Option<Several<Sign>>,
    /// The event after which the harness has nothing more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) done: Option<Several<Sign>>,
    /// The name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<Selector>,
    /// The tokens; of several, the first that finds some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Several<Usage>>,
    /// The cost in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<Cost>,
}

impl Output {
    /// Returns the usages in the order in which they count.
    pub(super) fn usages(&self) -> &[Usage] {
        self.usage.as_ref().map_or(&[], Several::as_slice)
    }

    /// Returns the errors.
    pub(super) fn errors(&self) -> &[Selector] {
        self.error.as_deref().unwrap_or_default()
    }

    /// Returns the signs that an error is overcome.
    pub(super) fn recoveries(&self) -> &[Sign] {
        self.overcome.as_ref().map_or(&[], Several::as_slice)
    }

    /// Returns the signs of the end.
    pub(super) fn ends(&self) -> &[Sign] {
        self.done.as_ref().map_or(&[], Several::as_slice)
    }
}

/// What the output is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    /// Plain text.
    Text,
    /// One JSON document.
    Json,
    /// A JSON object on each line.
    Ndjson,
}

/// The limits that a harness itself keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with max_usd")]
pub(super) struct Limits {
    /// The option that limits what one call may cost, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_usd: Option<String>,
}

fn version_1<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match Whole::<1, { u32::MAX }>::deserialize(deserializer)?.get() {
        1 => Ok(1),
        newer => Err(serde::de::Error::custom(format_args!(
            "{newer} is a version of the format that this loop does not know; write 1, or update it"
        ))),
    }
}
