//! Exit codes, a documented part of the interface (design/loops/technical.md, section 10).

/// The work is done, or a command did what it was asked.
pub const DONE: u8 = 0;
/// An operation failed or was refused.
pub const FAILED: u8 = 1;
/// Wrong usage, configuration or preflight; nothing was started.
pub const USAGE: u8 = 2;
/// The planner refused, or an agent asked for what only a person may do.
pub const REFUSED: u8 = 3;
/// The acceptance gate was not red at the start, or is broken, flaky or unwritten.
pub const GATE: u8 = 4;
/// Something frozen was changed.
pub const TAMPERED: u8 = 5;
/// No more progress: stuck, plateau, or the harness failed too often in a row.
pub const STUCK: u8 = 6;
/// The planner or the verifier broke its contract.
pub const CONTRACT: u8 = 7;
/// A cap: iterations, time, cost, tokens, ticks a day.
pub const CAP: u8 = 8;
/// A person is needed.
pub const PERSON: u8 = 9;
/// The environment: harness missing, not logged in, rate limited, offline.
pub const ENVIRONMENT: u8 = 10;
/// Not done yet: the attempt failed inside the brakes, or the tick was skipped.
pub const NOT_YET: u8 = 11;
/// Interrupted; the state is saved and the loop can go on.
pub const INTERRUPTED: u8 = 130;
