//! How good an attempt is, from 0 to 1.

use serde::{Deserialize, Serialize};

/// A number from 0 to 1, never NaN, so that comparisons are total.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Score(f64);

/// A number that is no score.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("score {value} is not between 0 and 1")]
pub struct InvalidScore {
    /// The number as it was given.
    pub value: f64,
}

impl Score {
    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = InvalidScore;

    fn try_from(value: f64) -> Result<Self, InvalidScore> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(InvalidScore { value })
        }
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> Self {
        score.0
    }
}
