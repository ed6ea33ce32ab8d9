//! Money, counted exactly.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::decimal;

const MICROS_PER_DOLLAR: i64 = 1_000_000;

/// An amount of US dollars, held as whole micro-dollars.
///
/// At most [`Usd::MAX`], which has 15 significant digits: a JSON number (a double) carries every
/// such decimal exactly, so an amount survives reading and writing without drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(i64);

/// A number or text that is no amount of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of dollars from 0 to 999999999.999999 with at most 6 decimals")]
pub struct InvalidAmount;

impl Usd {
    /// No money at all.
    pub const ZERO: Self = Self(0);
    /// The largest amount, a micro-dollar short of a thousand million.
    pub const MAX: Self = Self(999_999_999_999_999);

    /// Makes an amount of whole micro-dollars, if it lies from zero to [`Usd::MAX`].
    #[must_use]
    pub fn from_micros(micros: i64) -> Option<Self> {
        (0..=Self::MAX.0).contains(&micros).then_some(Self(micros))
    }

    /// Returns the amount in micro-dollars.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Adds two amounts, if the sum is at most [`Usd::MAX`].
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        // Both are below 10^15, so the sum cannot leave an i64.
        Self::from_micros(self.0 + other.0)
    }

    /// Adds two amounts; a sum past [`Usd::MAX`] stays there, which trips every cap.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        self.checked_add(other).unwrap_or(Self::MAX)
    }

    /// Takes an amount away; what would be less than nothing is nothing.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self((self.0 - other.0).max(0))
    }

    /// Reports whether the amount is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    fn from_dollars(dollars: f64) -> Option<Self> {
        if !(0.0..=1e9).contains(&dollars) {
            return None;
        }
        let amount = Self::from_micros((dollars * MICROS_PER_DOLLAR as f64).round() as i64)?;
        // A decimal of at most 15 digits and the double nearest to it name each other, so a
        // number with a seventh decimal comes back changed.
        (amount.dollars() == dollars).then_some(amount)
    }

    /// Writes the amount with as many decimals as it has, but at least so many.
    fn with_decimals(self, least: usize) -> String {
        let digits = format!("{:06}", self.0 % MICROS_PER_DOLLAR);
        let decimals = &digits[..digits.trim_end_matches('0').len().max(least)];
        let point = if decimals.is_empty() { "" } else { "." };
        format!("{}{point}{decimals}", self.0 / MICROS_PER_DOLLAR)
    }

    fn dollars(self) -> f64 {
        self.0 as f64 / MICROS_PER_DOLLAR as f64
    }
}

/// Shows dollars with two to six decimals and without a currency sign, such as `0.50` or `0.0123`.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_decimals(2))
    }
}

/// Reads a plain decimal such as `12` or `0.0123`: no sign, no exponent, no grouping.
impl FromStr for Usd {
    type Err = InvalidAmount;

    fn from_str(text: &str) -> Result<Self, InvalidAmount> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
        if !digits(whole) || !digits(decimals) || has_leading_zero || decimals.len() > 6 {
            return Err(InvalidAmount);
        }
        let micros = format!("{whole}{decimals:0<6}")
            .parse()
            .map_err(|_| InvalidAmount)?;
        Self::from_micros(micros).ok_or(InvalidAmount)
    }
}

/// Writes a plain decimal with as many decimals as the amount has.
impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        decimal::serialize(self.with_decimals(0), serializer)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(UsdVisitor)
    }
}

struct UsdVisitor;

impl Visitor<'_> for UsdVisitor {
    type Value = Usd;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars as a plain decimal with at most 6 decimals, not negative")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Usd, E> {
        Usd::from_dollars(value).ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Usd, E> {
        i64::try_from(value)
            .ok()
            .and_then(|dollars| dollars.checked_mul(MICROS_PER_DOLLAR))
            .and_then(Usd::from_micros)
            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Usd, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }
}

impl JsonSchema for Usd {
    fn schema_name() -> Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "US dollars, with at most 6 decimals.",
            "type": "number",
            "minimum": 0,
            "maximum": 999_999_999.999_999,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn micros(micros: i64) -> Usd {
        Usd::from_micros(micros).unwrap()
    }

    // cases: 137
    #[test]
    fn ten_thousand_additions_do_not_drift() {
        let tenth: Usd = serde_json::from_str("0.1").unwrap();
        let sum = (0..10_000).try_fold(Usd::ZERO, |sum, _| sum.checked_add(tenth));
        assert_eq!(sum, Some(micros(1_000_000_000)));
    }

    // cases: 137
    #[test]
    fn only_plain_amounts_are_read() {
        for bad in [
            "\"$1,234.50\"",
            "-1",
            "-0.5",
            "null",
            "0.0000001",
            "1e30",
            "1000000000",
            "\"1\"",
        ] {
            assert!(serde_json::from_str::<Usd>(bad).is_err(), "{bad}");
        }
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "+1",
            "-1",
            "1e3",
            "1,5",
            " 1",
            "1.0000000",
            "1000000000",
            "\u{ff15}",
        ] {
            assert!(bad.parse::<Usd>().is_err(), "{bad}");
        }
        assert_eq!("12".parse(), Ok(micros(12_000_000)));
        assert_eq!("0.0123".parse(), Ok(micros(12_300)));
        assert_eq!(serde_json::from_str::<Usd>("0.000001").unwrap(), micros(1));
    }

    #[test]
    fn amounts_are_shown_with_two_to_six_decimals() {
        for (amount, shown) in [
            (0, "0.00"),
            (500_000, "0.50"),
            (12_300, "0.0123"),
            (1_000_001, "1.000001"),
        ] {
            assert_eq!(micros(amount).to_string(), shown);
        }
        assert_eq!(Usd::MAX.to_string(), "999999999.999999");
        for (amount, json) in [(0, "0"), (12_500_000, "12.5"), (1, "0.000001")] {
            assert_eq!(serde_json::to_string(&micros(amount)).unwrap(), json);
        }
    }

    #[test]
    fn a_sum_beyond_the_largest_amount_is_refused() {
        assert_eq!(Usd::MAX.checked_add(micros(1)), None);
        assert_eq!(Usd::MAX.checked_add(Usd::ZERO), Some(Usd::MAX));
        assert_eq!(Usd::from_micros(-1), None);
    }

    proptest! {
        // cases: 137
        #[test]
        fn text_and_json_give_an_amount_back(amount in 0..=Usd::MAX.micros()) {
            let amount = micros(amount);
            prop_assert_eq!(amount.to_string().parse(), Ok(amount));
            let json = serde_json::to_string(&amount).unwrap();
            prop_assert!(!json.contains('e'), "{}", json);
            prop_assert_eq!(serde_json::from_str::<Usd>(&json).unwrap(), amount);
            prop_assert_eq!(serde_json::from_value::<Usd>(serde_json::to_value(amount).unwrap()).unwrap(), amount);
        }

        // cases: 137
        #[test]
        fn adding_is_exact(amounts in prop::collection::vec(0..1_000_000_000_i64, 0..100)) {
            let sum = amounts.iter().try_fold(Usd::ZERO, |sum, &next| sum.checked_add(micros(next)));
            prop_assert_eq!(sum.map(Usd::micros), Some(amounts.iter().sum()));
        }
    }
}
