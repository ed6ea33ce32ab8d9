//! When a loop ticks by itself.

use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name::checked_string;
use super::number::Whole;
use super::window::DayWindow;

/// When a loop ticks by itself: at an interval or at times, perhaps only at some time of day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that describes the schedule"
)]
pub struct Schedule {
    /// The seconds from one tick to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval_seconds: Option<Whole<1, 31_622_400>>,
    /// The times as five fields: minute, hour, day of the month, month, day of the week.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<Cron>,
    /// The time zone in which `cron` and `window` are read, such as `Europe/Berlin`; for a window
    /// alone the machine's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<TimeZoneName>,
    /// The time of day in which the loop may work; any time when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<DayWindow>,
}

impl Schedule {
    /// Returns the time from one tick to the next, if it is given as an interval.
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        self.interval_seconds
            .map(|seconds| Duration::from_secs(seconds.get().into()))
    }
}

checked_string!(
    /// Times in the five fields of cron, in numbers.
    Cron, check_cron,
    {"type": "string", "pattern": "^[0-9*,/-]+( [0-9*,/-]+){4}$"}
);

checked_string!(
    /// The name of a time zone in the IANA database; whether it is there is the driver's to check.
    TimeZoneName,
    |text| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'+' | b'-');
        let starts_well = text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic());
        match starts_well && text.bytes().all(is_part) {
            true => Ok(()),
            false => Err(format!("{text:?} is no time zone; write a name such as \"Europe/Berlin\" or \"UTC\"")),
        }
    },
    {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9/_+-]*$"}
);

/// The fields of cron in their order: what each is called, and its numbers.
pub(crate) const CRON_FIELDS: [(&str, RangeInclusive<u8>); 5] = [
    ("minute", 0..=59),
    ("hour", 0..=23),
    ("day", 1..=31),
    ("month", 1..=12),
    ("weekday", 0..=7),
];

fn check_cron(text: &str) -> Result<(), String> {
    let fields: Vec<&str> = text.split(' ').collect();
    if fields.len() != CRON_FIELDS.len() {
        return Err(format!(
            "{text:?} does not have five fields; write minute, hour, day, month and weekday, one space apart"
        ));
    }
    for (field, (name, range)) in fields.iter().zip(&CRON_FIELDS) {
        if !field
            .split(',')
            .all(|item| cron_item(item, range).is_some())
        {
            let (least, most) = (range.start(), range.end());
            return Err(format!(
                "{field:?} is no {name}; use numbers from {least} to {most}, *, ranges a-b and steps /n"
            ));
        }
    }
    Ok(())
}

/// Numbers of a field of cron, from the first to the last in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CronItem {
    pub(crate) first: u8,
    pub(crate) last: u8,
    pub(crate) step: u8,
}

/// Reads one item of a list: `*`, a number or a range, each perhaps with a step.
/// A number with a step goes on to the end of the field's range.
pub(crate) fn cron_item(item: &str, range: &RangeInclusive<u8>) -> Option<CronItem> {
    let number = |text: &str| -> Option<u8> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { text.parse().ok() } else { None }
    };
    let in_range = |text: &str| number(text).filter(|number| range.contains(number));
    let (base, step) = match item.split_once('/') {
        Some((base, step)) => (base, Some(number(step).filter(|step| *step > 0)?)),
        None => (item, None),
    };
    let (first, last) = match base.split_once('-') {
        None if base == "*" => (*range.start(), *range.end()),
        None => {
            let first = in_range(base)?;
            (first, if step.is_some() { *range.end() } else { first })
        }
        Some((first, last)) => (in_range(first)?, in_range(last)?),
    };
    (first <= last).then_some(CronItem {
        first,
        last,
        step: step.unwrap_or(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cron_has_five_fields_in_numbers() {
        for good in [
            "* * * * *",
            "*/5 0 1 1 0",
            "0,30 8-18 * * 1-5",
            "59 23 31 12 7",
            "0-59/10,7 * * * *",
        ] {
            assert_eq!(check_cron(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "@daily",
            "* * * *",
            "* * * * * *",
            "*  * * * *",
            " * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * 32 * *",
            "* * * 13 *",
            "* * * 0 *",
            "* * * * 8",
            "* * * * mon",
            "5-1 * * * *",
            "*/0 * * * *",
            "*/ * * * *",
            "/5 * * * *",
            "1- * * * *",
            "1,,2 * * * *",
            "-1 * * * *",
            "+1 * * * *",
            "1-2-3 * * * *",
            "*/5/5 * * * *",
        ] {
            assert!(check_cron(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_time_zone_has_a_name() {
        for good in [
            "UTC",
            "Europe/Berlin",
            "America/Argentina/Buenos_Aires",
            "Etc/GMT+5",
        ] {
            assert!(good.parse::<TimeZoneName>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/localtime",
            "../x",
            "Europe Berlin",
            "+01:00",
            "Zürich",
        ] {
            assert!(bad.parse::<TimeZoneName>().is_err(), "{bad}");
        }
    }
}
