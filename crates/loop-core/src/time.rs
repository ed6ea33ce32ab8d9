//! Points in time, as the driver passes them in.

use serde::{Deserialize, Serialize, de};
use std::fmt;
use std::str::FromStr;

/// A point in time with millisecond precision, written as RFC 3339 UTC
/// (`2026-11-30T23:10:04.123Z`).
///
/// The core never asks what time it is: every timestamp comes from the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(jiff::Timestamp);

/// Text that is not an RFC 3339 time.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time such as 2026-11-30T23:10:04.123Z")]
pub struct InvalidTimestamp {
    /// The text as it was given.
    pub text: String,
}

impl Timestamp {
    /// Makes a timestamp from milliseconds since 1970-01-01 UTC; a number
    /// outside the calendar (years -9999 to 9999) becomes its nearest end.
    #[must_use]
    pub fn from_unix_millis(millis: i64) -> Self {
        let nearest = if millis < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        };
        Self(jiff::Timestamp::from_millisecond(millis).unwrap_or(nearest))
    }

    /// Returns the milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn unix_millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Returns the time so many seconds later; the end of the calendar is the latest.
    #[must_use]
    pub fn after_seconds(self, seconds: i64) -> Self {
        let millis = seconds.saturating_mul(1000);
        Self::from_unix_millis(self.unix_millis().saturating_add(millis))
    }

    /// Returns the UTC day, such as `2026-11-30`.
    #[must_use]
    pub fn day(self) -> String {
        self.to_string().chars().take(10).collect()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let parsed: jiff::Timestamp = text.parse().map_err(|_| InvalidTimestamp {
            text: text.to_owned(),
        })?;
        Ok(Self::from_unix_millis(parsed.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_milliseconds_and_round_trips() {
        let time: Timestamp = "2026-11-30T23:10:04.1239Z".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-30T23:10:04.123Z");
        assert_eq!(time.day(), "2026-11-30");
        assert_eq!(time.to_string().parse(), Ok(time));
        assert_eq!(Timestamp::default().to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn numbers_outside_the_calendar_do_not_panic() {
        assert!(Timestamp::from_unix_millis(i64::MAX) > Timestamp::default());
        assert!(Timestamp::from_unix_millis(i64::MIN) < Timestamp::default());
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}
