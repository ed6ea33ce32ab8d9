//! How far a gate's word can be trusted.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The level of trust in a gate (decision D-13), from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Level {
    /// An exit code in the agent's own tree.
    ExitCode,
    /// Frozen inputs, and a report in which the frozen tests ran.
    SameTests,
    /// A clean checkout of the product files under the frozen gate files.
    Clean,
    /// A clean checkout under files that the agent has never seen.
    Unseen,
}

/// Tells that a number is not a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no level of trust {0}; levels are 0 to 3")]
pub struct UnknownLevel(u8);

impl Level {
    /// All levels, from the lowest.
    pub const ALL: [Self; 4] = [Self::ExitCode, Self::SameTests, Self::Clean, Self::Unseen];

    /// Returns the number, 0 to 3.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::ExitCode => 0,
            Self::SameTests => 1,
            Self::Clean => 2,
            Self::Unseen => 3,
        }
    }

    /// Says what the level rests on, for a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ExitCode => "an exit code in the agent's own tree",
            Self::SameTests => "frozen inputs, and a report in which the same tests ran",
            Self::Clean => "a clean checkout of the product under the frozen files",
            Self::Unseen => "a clean checkout under files that the agent never saw",
        }
    }

    /// Says what the level does not see, for a person.
    #[must_use]
    pub fn blind_to(self) -> &'static str {
        match self {
            Self::ExitCode => {
                "changed tests, files left behind, and code that ends the tests early"
            }
            Self::SameTests => "files left behind, and code that forges the report",
            Self::Clean => "code that ends or rewrites the tests from inside their process",
            Self::Unseen => "what the gate's author did not compare",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level {}: {}", self.number(), self.words())
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> Self {
        level.number()
    }
}

impl TryFrom<u8> for Level {
    type Error = UnknownLevel;

    fn try_from(number: u8) -> Result<Self, UnknownLevel> {
        let mut levels = Self::ALL.into_iter();
        levels
            .find(|level| level.number() == number)
            .ok_or(UnknownLevel(number))
    }
}
