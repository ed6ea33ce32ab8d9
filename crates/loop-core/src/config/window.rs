//! Windows: how many scores a plateau needs, and at which time of day a loop may work.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::number::Whole;

/// The number of scores that a plateau needs: 0 for none, else at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct ScoreWindow(Whole<0, 32>);

impl ScoreWindow {
    /// Returns the number of scores, or `None` when the brake is off.
    #[must_use]
    pub(super) const fn get(self) -> Option<u32> {
        if self.0.get() == 0 {
            None
        } else {
            Some(self.0.get())
        }
    }
}

impl<'de> Deserialize<'de> for ScoreWindow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scores = Whole::deserialize(deserializer)?;
        if scores.get() == 1 {
            return Err(D::Error::custom(
                "one score is no plateau; write 0 to turn the brake off, or at least 2",
            ));
        }
        Ok(Self(scores))
    }
}

impl JsonSchema for ScoreWindow {
    fn schema_name() -> Cow<'static, str> {
        "ScoreWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": 32, "not": {"const": 1}})
    }
}

/// The time of day in which a loop may work, such as `22:00-06:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DayWindow {
    start: u16,
    end: u16,
}

/// A text that is no time of day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time of day; write two different times such as \"22:00-06:00\"")]
pub struct InvalidDayWindow(String);

impl DayWindow {
    /// Returns the minute of the day with which the window opens.
    #[must_use]
    pub const fn start(self) -> u16 {
        self.start
    }

    /// Returns the minute of the day with which the window closes; it may be before the start,
    /// for a window over midnight.
    #[must_use]
    pub const fn end(self) -> u16 {
        self.end
    }

    /// Reports whether a minute of the day lies in the window.
    #[must_use]
    pub const fn contains(self, minute: u16) -> bool {
        if self.start < self.end {
            self.start <= minute && minute < self.end
        } else {
            self.start <= minute || minute < self.end
        }
    }
}

impl TryFrom<String> for DayWindow {
    type Error = InvalidDayWindow;

    fn try_from(text: String) -> Result<Self, InvalidDayWindow> {
        let times = text
            .split_once('-')
            .and_then(|(start, end)| Some((minute(start)?, minute(end)?)));
        match times {
            Some((start, end)) if start != end => Ok(Self { start, end }),
            _ => Err(InvalidDayWindow(text)),
        }
    }
}

/// Reads `HH:MM` as a minute of the day.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two_digits = |part: &str| -> Option<u16> {
        let is_plain = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { part.parse().ok() } else { None }
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

impl fmt::Display for DayWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, end } = self;
        write!(
            f,
            "{:02}:{:02}-{:02}:{:02}",
            start / 60,
            start % 60,
            end / 60,
            end % 60
        )
    }
}

impl From<DayWindow> for String {
    fn from(window: DayWindow) -> Self {
        window.to_string()
    }
}

impl JsonSchema for DayWindow {
    fn schema_name() -> Cow<'static, str> {
        "DayWindow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &str) -> DayWindow {
        text.to_owned().try_into().unwrap()
    }

    #[test]
    fn a_window_holds_its_start_and_not_its_end() {
        let by_day = window("08:30-17:00");
        for (minute, inside) in [
            (0, false),
            (509, false),
            (510, true),
            (1019, true),
            (1020, false),
            (1439, false),
        ] {
            assert_eq!(by_day.contains(minute), inside, "{minute}");
        }
        let over_midnight = window("22:00-06:00");
        for (minute, inside) in [
            (0, true),
            (359, true),
            (360, false),
            (1319, false),
            (1320, true),
            (1439, true),
        ] {
            assert_eq!(over_midnight.contains(minute), inside, "{minute}");
        }
    }

    #[test]
    fn times_are_written_with_two_digits() {
        for good in ["00:00-23:59", "22:00-06:00", "09:05-09:06"] {
            assert_eq!(window(good).to_string(), good);
        }
        for bad in [
            "",
            "-",
            "22:00",
            "22:00-22:00",
            "24:00-01:00",
            "22:60-01:00",
            "1:00-02:00",
            "22:00 - 06:00",
            "+2:00-03:00",
        ] {
            assert!(DayWindow::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
