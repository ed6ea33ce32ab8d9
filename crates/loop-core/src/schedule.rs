//! When a loop ticks by itself, and at which time of day it may work.
//!
//! Nothing here asks what time it is: the time and the zone are passed in.

mod cron;
mod window;
mod zone;

pub use cron::{CronField, CronTimes};
pub use window::{closed_until, is_open};
pub use zone::{InvalidZone, Zone};

use crate::config::{DayWindow, Schedule};
use crate::time::Timestamp;
use std::time::Duration;
use window::next_open;

/// How many fires outside the window are passed over before it is taken that none
/// lies inside: more than four years of daily ones.
const LOOKS: u32 = 1_500;

/// What makes a timer fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fires {
    /// A tick this long after the one before.
    Every(Duration),
    /// A tick at each of these times.
    At(CronTimes),
}

impl Fires {
    /// Returns what makes the timer of a schedule fire; `None` when it only says at
    /// which time of day the loop may work.
    #[must_use]
    pub fn of(schedule: &Schedule) -> Option<Self> {
        let times = || Some(Self::At(CronTimes::of(schedule.cron.as_ref()?)));
        schedule.interval().map(Self::Every).or_else(times)
    }

    /// Returns the first fire after `now`. An interval is counted from `now`, which
    /// is when the latest tick began. Fires that were missed are made up for by one
    /// at most, as each is asked for with the time of its day.
    fn after(&self, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::Every(interval) => Some(later(now, millis(*interval))),
            Self::At(times) => times.after(now, zone),
        }
    }

    /// Returns the first fire from `time` on, where `fire` is one before it.
    fn from(&self, time: Timestamp, fire: Timestamp, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::Every(interval) => {
                let interval = millis(*interval).max(1);
                let missing = time.unix_millis().saturating_sub(fire.unix_millis());
                let steps = missing.saturating_add(interval - 1) / interval;
                Some(later(fire, steps.saturating_mul(interval)))
            }
            Self::At(times) => times.after(later(time, -1), zone),
        }
    }
}

/// Returns when a loop with this schedule ticks next after `now`: the first fire of
/// its timer that lies in its window. `None` when there is none, or nothing that
/// fires.
///
/// An interval is counted from `now`, so pass the time of the latest tick.
#[must_use]
pub fn next_fire(schedule: &Schedule, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let window = schedule.window.map(|window| (window, zone));
    next_of(&Fires::of(schedule)?, zone, window, now)
}

/// Returns the first fire after `now` that lies in the window, for a timer that may
/// fire otherwise than the schedule says and in another zone than its window's, such
/// as a crontab at the times that make an interval.
#[must_use]
pub fn next_of(
    fires: &Fires,
    zone: &Zone,
    window: Option<(DayWindow, &Zone)>,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut fire = fires.after(now, zone)?;
    let Some((window, of)) = window else {
        return Some(fire);
    };
    for _ in 0..LOOKS {
        if is_open(window, fire, of) {
            return Some(fire);
        }
        fire = fires.from(next_open(window, fire, of)?, fire, zone)?;
    }
    None
}

fn later(time: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(time.unix_millis().saturating_add(millis))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
