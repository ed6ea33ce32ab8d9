//! What a run of the acceptance gate means (decision D-13).

mod level;

pub use level::{Level, UnknownLevel};

use serde::{Deserialize, Serialize};

/// What a run of the gate says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The exit code; 124 for a gate that took too long.
    pub exit: i32,
    /// How many tests ran; null when nobody can tell.
    pub tests: Option<u64>,
    /// How far it can be trusted.
    pub level: Level,
    /// Whether the work is accepted.
    pub green: bool,
    /// Why, in one line.
    pub why: String,
    /// What the next attempt is told; null for a green gate.
    pub hint: Option<String>,
    /// What a person should know besides, a line each.
    pub flags: Vec<String>,
    /// SHA-256 of the output without durations and temporary paths.
    pub output: String,
}
