//! How well an attempt met its criteria.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::decimal;

/// A judge's grade: a number from 0 to 1, never NaN.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f64);

/// A number that is no [`Score`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a score from 0 to 1")]
pub struct OutOfRange(f64);

impl Score {
    /// Nothing was achieved.
    pub const ZERO: Self = Self(0.0);
    /// Every criterion is met.
    pub const ONE: Self = Self(1.0);

    /// Makes a score of `hundredths` / 100; more than 100 counts as 100.
    #[must_use]
    pub const fn from_hundredths(hundredths: u8) -> Self {
        let capped = if hundredths > 100 { 100 } else { hundredths };
        Self(capped as f64 / 100.0)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = OutOfRange;

    fn try_from(value: f64) -> Result<Self, OutOfRange> {
        // The range holds no NaN. Adding 0.0 turns -0.0 into 0.0, so that equal scores print alike.
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value + 0.0))
        } else {
            Err(OutOfRange(value))
        }
    }
}

/// The range excludes NaN, so equality is total.
impl Eq for Score {}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Writes a plain decimal.
impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Unlike serde_json, `Display` writes no exponent.
        decimal::serialize(self.0.to_string(), serializer)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(ScoreVisitor)
    }
}

struct ScoreVisitor;

impl ScoreVisitor {
    fn score<E: Error>(self, value: f64) -> Result<Score, E> {
        Score::try_from(value)
            .map_err(|_| E::invalid_value(serde::de::Unexpected::Float(value), &self))
    }
}

impl Visitor<'_> for ScoreVisitor {
    type Value = Score;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 to 1")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Score, E> {
        self.score(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Score, E> {
        self.score(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Score, E> {
        self.score(value as f64)
    }
}

impl JsonSchema for Score {
    fn schema_name() -> Cow<'static, str> {
        "Score".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": 1})
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_score_lies_between_zero_and_one() {
        for good in [0.0, -0.0, 0.5, 1.0] {
            assert_eq!(Score::try_from(good).unwrap().get(), good);
        }
        for bad in [-0.1, 1.000_001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Score::try_from(bad).is_err(), "{bad}");
        }
        assert_eq!(Score::from_hundredths(70), Score::try_from(0.7).unwrap());
        assert_eq!(Score::from_hundredths(200), Score::ONE);
    }

    #[test]
    fn json_is_held_to_the_same_range() {
        for bad in ["-1", "2", "1.01", "\"0.5\"", "null", "true"] {
            assert!(serde_json::from_str::<Score>(bad).is_err(), "{bad}");
        }
        assert_eq!(serde_json::from_str::<Score>("1").unwrap(), Score::ONE);
    }

    #[test]
    fn small_scores_are_written_without_exponent() {
        assert_eq!(serde_json::to_string(&Score(1e-7)).unwrap(), "0.0000001");
        assert_eq!(serde_json::to_string(&Score::ONE).unwrap(), "1");
    }

    proptest! {
        #[test]
        fn json_gives_a_score_back(value in 0.0..=1.0_f64) {
            let score = Score::try_from(value).unwrap();
            let text = serde_json::to_string(&score).unwrap();
            prop_assert!(!text.contains('e'), "{}", text);
            let back: Score = serde_json::from_str(&text).unwrap();
            // serde_json's default reader may be one unit in the last place off.
            prop_assert!((back.get() - value).abs() <= f64::EPSILON);
        }
    }
}
