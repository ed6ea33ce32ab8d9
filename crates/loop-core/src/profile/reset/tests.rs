use super::*;
use proptest::prelude::*;

// A Monday, 17:00 UTC, which is 12:00 in New York.
const NOW: &str = "2026-11-30T17:00:00Z";

fn zones(name: Option<&str>) -> Option<TimeZone> {
    match name {
        None => Some(TimeZone::fixed(jiff::tz::offset(1))),
        Some("America/New_York") => Some(TimeZone::fixed(jiff::tz::offset(-5))),
        Some(_) => None,
    }
}

fn resolve(text: &str) -> Option<String> {
    let at = Reset::find(text)?.resolve(NOW.parse().unwrap(), &zones)?;
    Some(at.to_string().replace(":00.000Z", "Z"))
}

// cases: 36, 43
#[test]
fn the_wordings_of_providers_are_understood() {
    for (text, at) in [
        // A clock time is the next one in its zone; here local time is an hour ahead of UTC.
        ("or try again at 6:33 PM.", "2026-11-30T17:33Z"),
        ("try again at 5:00 AM.", "2026-12-01T04:00Z"),
        ("resets 9am (UTC)", "2026-12-01T09:00Z"),
        ("resets 3pm (America/New_York)", "2026-11-30T20:00Z"),
        (
            "You've hit your limit · resets 3pm (America/New_York)",
            "2026-11-30T20:00Z",
        ),
        (
            "Your limit will reset at 3 p.m. (America/New_York).",
            "2026-11-30T20:00Z",
        ),
        ("resets 12am (UTC)", "2026-12-01T00:00Z"),
        ("resets 12:30pm (UTC)", "2026-12-01T12:30Z"),
        ("resets at 18:15", "2026-11-30T17:15Z"),
        ("available again at 23:05 UTC", "2026-11-30T23:05Z"),
        ("18:15", "2026-11-30T17:15Z"),
        ("6:33 PM", "2026-11-30T17:33Z"),
        // A day.
        ("resets Dec 4 at 9am", "2026-12-04T08:00Z"),
        ("resets Dec 4, 9am (UTC)", "2026-12-04T09:00Z"),
        ("try again at Dec 4th, 2026 9:12 AM.", "2026-12-04T08:12Z"),
        ("resets Monday 10:00 (UTC)", "2026-12-07T10:00Z"),
        ("resets Wed 10:00 (UTC)", "2026-12-02T10:00Z"),
        ("resets Thursday at 9am (UTC)", "2026-12-03T09:00Z"),
        ("resets tomorrow at 9am (UTC)", "2026-12-01T09:00Z"),
        ("quota resets on 2026-12-02 09:30", "2026-12-02T08:30Z"),
        // A wait.
        ("in 14 hours", "2026-12-01T07:00Z"),
        ("quota resets in 14 hours", "2026-12-01T07:00Z"),
        ("resets in 2h 5m", "2026-11-30T19:05Z"),
        ("Your quota will reset after 2h5m0s.", "2026-11-30T19:05Z"),
        ("try again in 3 days", "2026-12-03T17:00Z"),
        (
            "try again in 3 days, 2 hours and 4 minutes.",
            "2026-12-03T19:04Z",
        ),
        (
            "Please wait 5 minutes before trying again",
            "2026-11-30T17:05Z",
        ),
        ("try again in an hour", "2026-11-30T18:00Z"),
        ("Please try again in 60000ms.", "2026-11-30T17:01Z"),
        ("Retrying in 60s (attempt 1/10)", "2026-11-30T17:01Z"),
        ("\"retryDelay\": \"60s\"", "2026-11-30T17:01Z"),
        ("Retry-After: 3600", "2026-11-30T18:00Z"),
        ("{\"retry-after\":\"3600\"}", "2026-11-30T18:00Z"),
        ("retry-after-ms: 60000", "2026-11-30T17:01Z"),
        ("3600", "2026-11-30T18:00Z"),
        // A point in time.
        (
            "Retry-After: Tue, 01 Dec 2026 09:00:00 GMT",
            "2026-12-01T09:00Z",
        ),
        ("reset at 2026-12-01T09:00:00Z", "2026-12-01T09:00Z"),
        ("reset at 2026-12-01 09:00 UTC", "2026-12-01T09:00Z"),
        ("reset at 2026-12-01T09:00:00+02:00", "2026-12-01T07:00Z"),
        (
            "Claude AI usage limit reached|1796119200",
            "2026-12-01T10:00Z",
        ),
        ("\"resetsAt\":1796119200,", "2026-12-01T10:00Z"),
        ("1796119200000", "2026-12-01T10:00Z"),
    ] {
        assert_eq!(resolve(text).as_deref(), Some(at), "{text}");
    }
    assert_eq!(
        Reset::find("retry after 12.5s"),
        Some(Reset::After(Duration::from_millis(12_500)))
    );
}

// cases: 43
#[test]
fn what_is_over_too_far_or_not_a_time_is_nothing() {
    for text in [
        // Less than an hour ago, in local time, in a zone, and as a date.
        "try again at 5:33 PM.",
        "resets 11:30am (America/New_York)",
        "resets Nov 30 at 5:45pm",
        // Absolute and past.
        "reset at 2026-11-30T16:59:59Z",
        "usage limit reached|1749924000",
        "try again at Nov 30th, 2025 6:12 PM.",
        "0",
        // More than 32 days ahead.
        "try again in 33 days",
        "resets Jan 15 at 9am",
        "try again in 99999999999999999999 weeks",
        // A zone that nobody knows.
        "resets 9am (Mars/Olympus)",
        // No times.
        "resets 99:99",
        "resets 13pm",
        "resets Feb 31 at 9am",
        "Please try again later.",
        "try again as soon as you can",
        "Rate limit reached for model at 127.0.0.1:18080",
        "see src/main.rs:12:34",
        "100 requests per 5 hours",
        "",
    ] {
        assert_eq!(resolve(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}", near in "(resets?|try again|in|at|\\|| |[0-9]{1,13}|:|am|pm|h|Dec|Mon|\\(UTC\\)){0,12}") {
        for text in [text, near] {
            let found = Reset::find(&text);
            let now: Timestamp = NOW.parse().unwrap();
            if let Some(at) = found.and_then(|reset| reset.resolve(now, &zones)) {
                prop_assert!(at > now);
            }
        }
    }
}
