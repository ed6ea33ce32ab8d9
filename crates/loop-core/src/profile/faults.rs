//! What in an output means that something around the loop is to blame.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use super::said::FaultClass;
use super::select::Where;

/// What means a fault; all that is there has to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object that describes a fault")]
pub(super) struct FaultRule {
    /// What kind of fault it is.
    pub(super) class: FaultClass,
    /// What an event has to hold.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Where>,
    /// Where the pattern is tried: on the error of standard output, or on the end of standard
    /// error; when absent, on both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<Stream>,
    /// The pattern of a line of the error.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) pattern: Option<Pattern>,
    /// The exit codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit: Option<Vec<i32>>,
    /// Where the end of the fault stands: a group of the pattern, or a path in the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reset: Option<String>,
}

/// A stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stream {
    /// Standard output, of which only the error is looked at.
    Stdout,
    /// Standard error.
    Stderr,
}
