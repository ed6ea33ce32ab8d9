//! The time of day in which a loop may work, on the calendar of a zone.

use super::zone::{Zone, of_instant};
use crate::config::{DayWindow, Schedule};
use crate::time::Timestamp;
use jiff::SignedDuration;

/// How many days ahead an opening is looked for. A window that lies in an hour that
/// the clocks skip opens on the next day, and so does one of a day that a zone
/// leaves out.
const DAYS: i64 = 4;

/// Whether the window is open at `time`.
#[must_use]
pub fn is_open(window: DayWindow, time: Timestamp, zone: &Zone) -> bool {
    let clock = zone.civil(time);
    let minute = i32::from(clock.hour()) * 60 + i32::from(clock.minute());
    u16::try_from(minute).is_ok_and(|minute| window.contains(minute))
}

/// Returns when the schedule's window opens next, if it is closed at `time`; `None`
/// while it is open, and when there is no window.
#[must_use]
pub fn closed_until(schedule: &Schedule, time: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let window = schedule.window?;
    if is_open(window, time, zone) {
        return None;
    }
    // At the end of the calendar it stays closed.
    let end = || Timestamp::from_unix_millis(i64::MAX);
    Some(next_open(window, time, zone).unwrap_or_else(end))
}

/// Returns the first time from `time` on at which the window is open.
pub(super) fn next_open(window: DayWindow, time: Timestamp, zone: &Zone) -> Option<Timestamp> {
    if is_open(window, time, zone) {
        return Some(time);
    }
    // It opens where the clock reaches its start, which an hour that comes twice does
    // twice, or where a change of the clock leads into it.
    let starts = starts(window, time, zone);
    let changes = zone.changes(time, DAYS);
    starts
        .into_iter()
        .chain(changes)
        .filter(|opening| *opening > time && is_open(window, *opening, zone))
        .min()
}

/// Returns when the clock shows the window's start on the next days.
fn starts(window: DayWindow, time: Timestamp, zone: &Zone) -> Vec<Timestamp> {
    let from = zone.civil(time).date();
    let since_midnight = SignedDuration::from_mins(i64::from(window.start()));
    let mut starts = Vec::new();
    for day in 0..=DAYS {
        let start = from
            .checked_add(SignedDuration::from_hours(24 * day))
            .and_then(|date| date.at(0, 0, 0, 0).checked_add(since_midnight));
        let Ok(start) = start else { continue };
        let moment = zone.rules().to_ambiguous_timestamp(start);
        let both = [moment.earlier(), moment.later()];
        starts.extend(both.into_iter().flatten().map(of_instant));
    }
    starts
}
