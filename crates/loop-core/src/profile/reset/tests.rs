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
        ("resets 3 Dec, 15:00 (UTC)", "2026-12-03T15:00Z"),
        (
            "resets on the 3rd of December at 3pm (UTC)",
            "2026-12-03T15:00Z",
        ),
        ("try again at 4 Dec. 2026, 9:12 AM", "2026-12-04T08:12Z"),
        (
            "resets Friday, December 4 at 9am (UTC)",
            "2026-12-04T09:00Z",
        ),
        ("resets Friday, 4 December, 9am (UTC)", "2026-12-04T09:00Z"),
        ("retry after 2026-12-01 23:00:00", "2026-12-01T22:00Z"),
        ("retry after 2026-12-01T23:00:00", "2026-12-01T22:00Z"),
        (
            "attempt 3 of 3: available again at 18:15",
            "2026-11-30T17:15Z",
        ),
        // Spaces that are not ASCII, and more than one.
        ("resets 5:33\u{202f}PM (UTC)", "2026-11-30T17:33Z"),
        ("resets 5:33  PM\u{a0}(UTC)", "2026-11-30T17:33Z"),
        ("try again in\u{a0}5\u{2009}minutes", "2026-11-30T17:05Z"),
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
        ("{\"retry_after\": 3600 }", "2026-11-30T18:00Z"),
        ("Retry after 3600. Thank you", "2026-11-30T18:00Z"),
        ("3600", "2026-11-30T18:00Z"),
        ("x-ratelimit-reset-tokens: 6m0s", "2026-11-30T17:06Z"),
        ("quotaResetDelay: '2h5m0s'", "2026-11-30T19:05Z"),
        ("Retry your request after 20 minutes", "2026-11-30T17:20Z"),
        ("wait for about an hour", "2026-11-30T18:00Z"),
        ("resets automatically in ~3 hrs", "2026-11-30T20:00Z"),
        // The wait that is asked for, and no other time in the text.
        (
            "429 The retry budget of 30 days is used; try again in 5 minutes",
            "2026-11-30T17:05Z",
        ),
        (
            "429 quota refreshed 12 hours ago, try again in 10 minutes",
            "2026-11-30T17:10Z",
        ),
        (
            "5 hours limit reached, resets 9am (UTC)",
            "2026-12-01T09:00Z",
        ),
        (
            "2026-11-30T17:30:00Z 429 try again in 5 minutes",
            "2026-11-30T17:05Z",
        ),
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
        "429 Too many requests, please try again later (request id: 9d3f1a22-77)",
        "429 retry 2 w",
        "429 retry after 2 attempts",
        "retry after 1,000",
        "the retry budget of 30 days is used",
        "quota refreshed 12 hours ago",
        "last reset: 12 hours ago",
        "the limit resets every 5 hours",
        "limits reset per 24 hours",
        "the refresh token expires in 30 days",
        "callback after 5 minutes",
        "5 hours limit reached",
        "18:15:02 ERROR too many requests",
        "please try again later (asked at 18:15)",
        // A day, an offset or a half of the day that is not understood.
        "resets 12/04/2026 3:00 PM UTC",
        "12/04/2026 3:00 PM UTC",
        "resets 4.12.2026 15:00",
        "resets at 18:15, 3 Dec",
        "resets 6:15pm on Friday",
        "resets Thursday morning at 9:00",
        "resets monthly at 10:00",
        "resets at 18:15 +05:00",
        "resets at 18:15 UTC+5",
        "reset at 2026-12-01 09:00 UTC+5",
        "resets 6:33\u{200b}PM",
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
