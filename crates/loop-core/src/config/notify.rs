//! Who is told what.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::command::Argv;

/// A command that is told of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with on and command")]
pub struct Notify {
    /// The events that it is told of; at least one.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(length(min = 1))]
    pub on: Vec<NotifyEvent>,
    /// The command, which gets the event on standard input.
    pub command: Argv,
}

/// An event that a person may want to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotifyEvent {
    /// The loop stopped.
    Stopped,
    /// The loop waits for an approval.
    Approval,
    /// The work is done.
    Done,
    /// The judge does not judge.
    VerifierBroken,
    /// Four fifths of the cost cap are spent.
    #[serde(rename = "budget_80")]
    Budget80,
}

impl fmt::Display for NotifyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "stopped",
            Self::Approval => "approval",
            Self::Done => "done",
            Self::VerifierBroken => "verifier_broken",
            Self::Budget80 => "budget_80",
        })
    }
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NotifyEvent>, D::Error> {
    let events = Vec::deserialize(deserializer)?;
    if events.is_empty() {
        return Err(D::Error::custom(
            "the list of events is empty; name one, or remove the entry",
        ));
    }
    Ok(events)
}
