//! Whole numbers that are held to a range, and limits that a word can lift.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A whole number from `MIN` to `MAX`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(crate) struct Whole<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Whole<MIN, MAX> {
    /// Makes the number, if it lies in the range.
    #[must_use]
    pub(super) const fn new(value: u32) -> Option<Self> {
        if MIN <= value && value <= MAX {
            Some(Self(value))
        } else {
            None
        }
    }

    /// Returns the number.
    #[must_use]
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u32(WholeVisitor)
    }
}

struct WholeVisitor<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Visitor<'_> for WholeVisitor<MIN, MAX> {
    type Value = Whole<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {MAX}")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        u32::try_from(value)
            .ok()
            .and_then(Whole::new)
            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Whole<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Whole{MIN}To{MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

/// A limit from 1 to `MAX`, or none because a person said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit<const MAX: u32> {
    /// At most so many.
    Finite(Whole<1, MAX>),
    /// The word `"unlimited"`.
    Unlimited,
}

impl<const MAX: u32> Limit<MAX> {
    const WORD: &'static str = "unlimited";

    /// Returns the limit, or `None` when there is none.
    #[must_use]
    pub(super) const fn get(self) -> Option<u32> {
        match self {
            Self::Finite(limit) => Some(limit.get()),
            Self::Unlimited => None,
        }
    }
}

impl<const MAX: u32> Serialize for Limit<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Finite(limit) => limit.serialize(serializer),
            Self::Unlimited => serializer.serialize_str(Self::WORD),
        }
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for Limit<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor)
    }
}

struct LimitVisitor<const MAX: u32>;

impl<const MAX: u32> Visitor<'_> for LimitVisitor<MAX> {
    type Value = Limit<MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a whole number from 1 to {MAX}, or \"{}\"",
            Limit::<MAX>::WORD
        )
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        u32::try_from(value)
            .ok()
            .and_then(Whole::new)
            .map(Limit::Finite)
            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        if word == Limit::<MAX>::WORD {
            return Ok(Limit::Unlimited);
        }
        Err(E::invalid_value(Unexpected::Str(word), &self))
    }
}

impl<const MAX: u32> JsonSchema for Limit<MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Limit{MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                {"type": "integer", "minimum": 1, "maximum": MAX},
                {"const": Self::WORD},
            ]
        })
    }
}
