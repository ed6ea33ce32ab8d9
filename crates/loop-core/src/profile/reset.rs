//! When a fault is over, in the words of a provider.

mod clock;
#[cfg(test)]
mod tests;
mod wording;

use std::time::Duration;

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};

use crate::time::Timestamp;

/// A reset that lies further ahead than this is not waited for.
const FURTHEST: Duration = Duration::from_secs(32 * 24 * 3600);
/// A clock time that passed less than this long ago is meant as past: it is over.
const JUST_PASSED_SECONDS: i64 = 3600;

/// When a fault is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reset {
    /// After so much time from now.
    After(Duration),
    /// At a point in time.
    At(Timestamp),
    /// At a time of day.
    Clock {
        /// The time of day.
        time: Time,
        /// The day, when it is named; else the next one.
        day: Option<Day>,
        /// The time zone as it is written; the local one when absent.
        zone: Option<String>,
    },
}

/// The day of a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    /// A date; without a year the next such date.
    Date {
        /// The year.
        year: Option<i16>,
        /// The month, from 1.
        month: i8,
        /// The day of the month, from 1.
        day: i8,
    },
    /// A day of the week.
    Weekday(Weekday),
    /// The day after today.
    Tomorrow,
}

impl Reset {
    /// Finds a point in time in the words of a provider, such as `try again at 5:33 PM` or
    /// `resets in 2h 5m`.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        wording::find(text)
    }

    /// Returns the point in time that is meant. `None` when it is over, lies more than 32 days
    /// ahead, or `zone` does not know the time zone; the local one is asked for with `None`.
    #[must_use]
    pub fn resolve(
        &self,
        now: Timestamp,
        zone: &dyn Fn(Option<&str>) -> Option<TimeZone>,
    ) -> Option<Timestamp> {
        let at = match self {
            Self::After(wait) => {
                let millis = i64::try_from(wait.as_millis()).ok()?;
                Timestamp::from_unix_millis(now.unix_millis().checked_add(millis)?)
            }
            Self::At(at) => *at,
            Self::Clock {
                time,
                day,
                zone: name,
            } => {
                let zone = named(name.as_deref(), zone)?;
                let here = jiff::Timestamp::from_millisecond(now.unix_millis()).ok()?;
                let here = here.to_zoned(zone);
                let then = next(&here, *time, *day)?;
                Timestamp::from_unix_millis(then.timestamp().as_millisecond())
            }
        };
        let ahead = at.unix_millis().checked_sub(now.unix_millis())?;
        let ahead = Duration::from_millis(u64::try_from(ahead).ok()?);
        (!ahead.is_zero() && ahead <= FURTHEST).then_some(at)
    }
}

/// Finds a time zone; UTC needs no list of zones.
fn named(name: Option<&str>, zone: &dyn Fn(Option<&str>) -> Option<TimeZone>) -> Option<TimeZone> {
    match name {
        Some(utc) if ["utc", "gmt", "z"].contains(&utc.to_ascii_lowercase().as_str()) => {
            Some(TimeZone::UTC)
        }
        _ => zone(name),
    }
}

/// Returns the next time that a clock and a calendar show this.
fn next(now: &Zoned, time: Time, day: Option<Day>) -> Option<Zoned> {
    let today = now.date();
    let (first, step) = match day {
        None => (today, Some(Span::new().days(1))),
        Some(Day::Tomorrow) => (today.tomorrow().ok()?, None),
        Some(Day::Weekday(weekday)) => {
            let ahead = today.weekday().until(weekday);
            let first = today.checked_add(Span::new().days(i64::from(ahead))).ok()?;
            (first, Some(Span::new().days(7)))
        }
        Some(Day::Date { year, month, day }) => {
            let first = Date::new(year.unwrap_or_else(|| today.year()), month, day).ok()?;
            (first, year.is_none().then(|| Span::new().years(1)))
        }
    };
    let zone = now.time_zone();
    let then = first.to_datetime(time).to_zoned(zone.clone()).ok()?;
    let passed = now.timestamp().as_second() - then.timestamp().as_second();
    match step {
        _ if then > *now => Some(then),
        Some(step) if passed >= JUST_PASSED_SECONDS => {
            let later = first.checked_add(step).ok()?;
            later.to_datetime(time).to_zoned(zone.clone()).ok()
        }
        _ => None,
    }
}
