//! The time zones in which services say when they are back.

use jiff::tz::TimeZone;

/// Returns the zone called `name`, or without a name the machine's own.
pub(super) fn find(name: Option<&str>) -> Option<TimeZone> {
    match name {
        None => Some(TimeZone::system()),
        Some(name) => TimeZone::get(name).ok(),
    }
}
