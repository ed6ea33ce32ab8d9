//! What a call said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reset::Reset;
use super::used::Used;

/// What a call said, once it has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The answer, at most the last 4 MiB of it, with controls as they were. `None` when there is
    /// none, and when the call ended in an error: its words are never a hint, a verdict or a
    /// report.
    pub text: Option<String>,
    /// The error that the call ended in, in one line.
    pub error: Option<String>,
    /// The harness's name of the session.
    pub session: Option<String>,
    /// What the call used.
    pub used: Used,
    /// What around the loop is to blame.
    pub fault: Option<Fault>,
    /// Whether there is a sign that a model did something: an answer, a tool that was called, or
    /// something that was used. Without one, a service that refused the call was not paid for it.
    pub worked: bool,
    /// How many lines or documents were too long to be read.
    pub unreadable: u64,
}

/// Something around the loop that made a call fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind of thing.
    pub class: FaultClass,
    /// When it is over, if the harness said so.
    pub reset: Option<Reset>,
    /// The harness's words, in one line.
    pub what: String,
}

/// What kind of thing around the loop made a call fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultClass {
    /// Nobody is logged in, or a key is wrong.
    Auth,
    /// Too many requests for now.
    RateLimit,
    /// What the account may use is used up.
    Quota,
    /// The provider cannot be reached, or is out of service.
    Offline,
    /// The prompt is larger than the model's context.
    Context,
}
