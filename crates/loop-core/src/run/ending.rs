//! How a run ended.

use super::change::Changed;
use super::words::RunOutcome;
use crate::Usd;
use serde::Serialize;

/// What is known only when a run has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// The outcome's word.
    pub outcome: RunOutcome,
    /// The word of the reason, such as `no_progress`; null when green.
    pub reason: Option<String>,
    /// Why it ended so, in one line.
    pub why: String,
    /// What was changed since the gate was armed; null when nobody can tell.
    pub changed: Option<Changed>,
    /// What its calls cost; null when nobody knows.
    pub cost_usd: Option<Usd>,
    /// Where that number comes from: `estimated` or `unknown`.
    pub cost_source: &'static str,
    /// The command that a person goes on with.
    pub next: Option<String>,
    /// The process's exit code.
    pub exit: u8,
}

impl Ending {
    /// Returns the reason in one line: its word, and why.
    pub(super) fn reason(&self) -> String {
        match &self.reason {
            Some(word) if self.why.trim().is_empty() => word.clone(),
            Some(word) => format!("{word}: {}", self.why),
            None => self.why.clone(),
        }
    }

    /// Returns the cost in words.
    pub(super) fn cost(&self) -> String {
        match self.cost_usd {
            Some(cost) => format!("${cost} ({})", self.cost_source),
            None => "unknown".to_owned(),
        }
    }
}
