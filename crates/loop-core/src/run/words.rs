//! The closed sets of words of a run.

use crate::exit;
use crate::outcome::Outcome;
use crate::text::counted;
use serde::Serialize;
use std::fmt;

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// The task and the project are looked at.
    #[default]
    Preflight,
    /// The planner works.
    Plan,
    /// The gate is red and frozen; no work has begun.
    Armed,
    /// Passes are made.
    Iterate,
    /// The gate is green.
    Done,
    /// The run has ended without that.
    Aborted,
}

impl RunPhase {
    /// Returns the word as it stands in `STATE.md`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Plan => "plan",
            Self::Armed => "armed",
            Self::Iterate => "iterate",
            Self::Done => "done",
            Self::Aborted => "aborted",
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The gate exited with 0.
    Green,
    /// A cap was reached: passes, time, cost or tokens.
    Cap,
    /// Passes no longer led anywhere.
    Stuck,
    /// Something frozen was changed.
    Tampered,
    /// The planner refused the task.
    Refused,
    /// Anything else; the reason says what.
    Aborted,
}

impl RunOutcome {
    /// Tells how a run ended whose last tick ended with `outcome`.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Pass | Outcome::Done { parked: false } => Self::Green,
            other => match other.exit_code() {
                exit::CAP => Self::Cap,
                exit::STUCK => Self::Stuck,
                exit::TAMPERED => Self::Tampered,
                exit::REFUSED => Self::Refused,
                _ => Self::Aborted,
            },
        }
    }

    /// Returns the word as it stands in `STATE.md` and in the report.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Cap => "cap",
            Self::Stuck => "stuck",
            Self::Tampered => "tampered",
            Self::Refused => "refused",
            Self::Aborted => "aborted",
        }
    }

    /// Returns the phase that a run which ended so is in.
    #[must_use]
    pub fn phase(self) -> RunPhase {
        match self {
            Self::Green => RunPhase::Done,
            _ => RunPhase::Aborted,
        }
    }
}

impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the project's files were like when the run began. A run cannot tell
/// its own changes from those of a person that were there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TreeAtStart {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// They were those of the last commit.
    Clean,
    /// Some were changed.
    Dirty {
        /// How many.
        files: u64,
    },
    /// There is no repository to tell.
    NoGit,
}

/// Shows the value of the header's field `dirty`.
impl fmt::Display for TreeAtStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("-"),
            Self::Clean => f.write_str("no"),
            Self::Dirty { files } => {
                write!(f, "yes, {} changed before the run", counted(*files, "file"))
            }
            Self::NoGit => f.write_str("no git"),
        }
    }
}
