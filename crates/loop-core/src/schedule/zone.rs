//! Time zones, as the driver passes them in.

use crate::time::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp as Instant};

/// How many changes of the clock two zones have to share to be taken for the same:
/// ten years of summer and winter time.
const SHARED_CHANGES: usize = 20;

/// A time zone with its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

/// Bytes that are no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no file of time zone rules (TZif)")]
pub struct InvalidZone {
    /// The name of the zone.
    pub name: String,
}

impl Zone {
    /// Universal time.
    #[must_use]
    pub fn utc() -> Self {
        Self {
            name: "UTC".to_owned(),
            rules: TimeZone::UTC,
        }
    }

    /// Reads the rules of a zone in the format of the IANA database (RFC 9636).
    ///
    /// # Errors
    ///
    /// [`InvalidZone`] when it is not in that format.
    pub fn from_tzif(name: &str, data: &[u8]) -> Result<Self, InvalidZone> {
        let invalid = || InvalidZone {
            name: name.to_owned(),
        };
        let rules = TimeZone::tzif(name, data).map_err(|_| invalid())?;
        Ok(Self {
            name: name.to_owned(),
            rules,
        })
    }

    /// Returns the name, such as `Europe/Berlin`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether clocks in both zones show the same from `time` on, for the next
    /// years: one zone may have several names.
    #[must_use]
    pub fn agrees_with(&self, other: &Self, time: Timestamp) -> bool {
        let from = instant(time);
        let changes = |zone: &Self| {
            let following = zone.rules.following(from).take(SHARED_CHANGES);
            following
                .map(|change| (change.timestamp(), change.offset()))
                .collect::<Vec<_>>()
        };
        self.rules.to_offset(from) == other.rules.to_offset(from) && changes(self) == changes(other)
    }

    /// Writes a time as clocks in the zone show it, to the minute, with the zone's
    /// name: `2026-12-01 08:00 Europe/Berlin`.
    #[must_use]
    pub fn clock(&self, time: Timestamp) -> String {
        let shown = self.civil(time);
        let (date, time) = (shown.date(), shown.time());
        format!(
            "{date} {:02}:{:02} {}",
            time.hour(),
            time.minute(),
            self.name
        )
    }

    /// Returns what a calendar and a clock in the zone show.
    pub(super) fn civil(&self, time: Timestamp) -> DateTime {
        self.rules.to_datetime(instant(time))
    }

    /// Returns the rules.
    pub(super) fn rules(&self) -> &TimeZone {
        &self.rules
    }

    /// Returns the moments after `time` at which clocks in the zone are changed, as
    /// far as `days` ahead.
    pub(super) fn changes(&self, time: Timestamp, days: i64) -> Vec<Timestamp> {
        let from = instant(time);
        let until = from
            .checked_add(SignedDuration::from_hours(24 * days))
            .unwrap_or(Instant::MAX);
        let following = self.rules.following(from);
        following
            .map(|change| change.timestamp())
            .take_while(|change| *change <= until)
            .map(of_instant)
            .collect()
    }
}

/// Returns the time for the calendar library.
pub(super) fn instant(time: Timestamp) -> Instant {
    // Every timestamp lies in the calendar; the start of 1970 stands for none.
    Instant::from_millisecond(time.unix_millis()).unwrap_or_default()
}

pub(super) fn of_instant(instant: Instant) -> Timestamp {
    Timestamp::from_unix_millis(instant.as_millisecond())
}
