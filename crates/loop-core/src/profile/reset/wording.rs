//! The wordings by which providers say when something is over.

use std::sync::LazyLock;
use std::time::Duration;

use regex_lite::{Captures, Regex};

use super::{Reset, clock};
use crate::profile::amount::units;
use crate::time::Timestamp;

/// Finds a time in a text; the surest wordings are tried first.
pub(super) fn find(text: &str) -> Option<Reset> {
    let ways = [number, date_and_time, epoch, wait, seconds, clock::find];
    ways.into_iter().find_map(|way| way(text))
}

/// A pattern of this file; the tests find every one, so each can be read.
pub(super) type Wording = LazyLock<Option<Regex>>;

pub(super) fn captures<'t>(wording: &Wording, text: &'t str) -> Option<Captures<'t>> {
    wording.as_ref()?.captures(text)
}

/// Reads a text that is a number: seconds, or a point in time in seconds or milliseconds.
fn number(text: &str) -> Option<Reset> {
    let text = text.trim();
    let millis = units(text, 3)?;
    match text.len() {
        10 | 13 if text.bytes().all(|byte| byte.is_ascii_digit()) => since_1970(text),
        _ => Some(Reset::After(Duration::from_millis(millis))),
    }
}

/// Finds `2026-12-01T09:00:00Z` and `Tue, 01 Dec 2026 09:00:00 GMT`.
fn date_and_time(text: &str) -> Option<Reset> {
    static ISO: Wording = LazyLock::new(|| {
        let zone = r"(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})";
        let time = r"\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?";
        Regex::new(&format!(
            r"(\d{{4}}-\d{{2}}-\d{{2}})[Tt ]({time}) ?({zone})"
        ))
        .ok()
    });
    if let Some(found) = captures(&ISO, text) {
        let zone = match &found[3] {
            "UTC" | "GMT" => "Z",
            zone => zone,
        };
        return at(&format!("{}T{}{zone}", &found[1], &found[2]));
    }
    static HTTP: Wording = LazyLock::new(|| {
        Regex::new(r"(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT").ok()
    });
    let found = captures(&HTTP, text)?;
    let month = clock::month(&found[2])?;
    at(&format!(
        "{}-{month:02}-{:0>2}T{}Z",
        &found[3], &found[1], &found[4]
    ))
}

fn at(text: &str) -> Option<Reset> {
    text.parse::<Timestamp>().ok().map(Reset::At)
}

/// Finds `|1749924000` and `resets_at: 1749924000`.
fn epoch(text: &str) -> Option<Reset> {
    static EPOCH: Wording = LazyLock::new(|| {
        Regex::new(r"(?:\||(?i:reset\w*)\W{1,4}(?:at\W{1,4})?)([12]\d{9}(?:\d{3})?)(?:\D|$)").ok()
    });
    since_1970(&captures(&EPOCH, text)?[1])
}

fn since_1970(digits: &str) -> Option<Reset> {
    let number: i64 = digits.parse().ok()?;
    let millis = if digits.len() > 10 {
        number
    } else {
        number * 1000
    };
    Some(Reset::At(Timestamp::from_unix_millis(millis)))
}

const UNIT: &str =
    "milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w";

/// Finds `try again in 2h 5m`, `retry after 12.5s`, `"retryDelay": "34s"`, and `14 hours` alone.
fn wait(text: &str) -> Option<Reset> {
    static WAIT: Wording = LazyLock::new(|| {
        let piece = format!(
            r"(?:\d+(?:\.\d+)?\s?(?:{UNIT})|\b(?:an?|one)\s(?:second|minute|hour|day|week))"
        );
        let about =
            r"(?:again|retry\w*|resets?\w*|wait|available|renew\w*|refresh\w*|resumes?|back)\b";
        let alone = r"^\s*(?:in\s)?\s*";
        let pieces = format!(r"({piece}(?:[\s,]*(?:and\s)?{piece})*)(?:[^a-zA-Z]|$)");
        Regex::new(&format!(
            r"(?i)(?:{alone}|{about}[^.;\n]{{0,40}}?\b){pieces}"
        ))
        .ok()
    });
    static PIECE: Wording = LazyLock::new(|| {
        Regex::new(&format!(r"(?i)(\d+(?:\.\d+)?\s?|\b(?:an?|one)\s)({UNIT})")).ok()
    });
    let found = captures(&WAIT, text)?;
    let pieces = PIECE.as_ref()?.captures_iter(found.get(1)?.as_str());
    let total = pieces
        .map(|piece| millis(&piece[1], &piece[2]))
        .sum::<Option<u64>>()?;
    Some(Reset::After(Duration::from_millis(total)))
}

/// Finds `Retry-After: 3600` and `retry-after-ms: 1500`.
fn seconds(text: &str) -> Option<Reset> {
    static SECONDS: Wording = LazyLock::new(|| {
        Regex::new(r#"(?i)retry[-_ ]?after(?:[-_ ]?(ms|seconds))?["'\s:=]{1,4}(\d+(?:\.\d+)?)"#)
            .ok()
    });
    let found = captures(&SECONDS, text)?;
    let unit = found.get(1).map_or("s", |unit| unit.as_str());
    millis(&found[2], unit).map(|millis| Reset::After(Duration::from_millis(millis)))
}

/// Returns so many of a unit in milliseconds; the sum of a few stays far below the largest.
fn millis(number: &str, unit: &str) -> Option<u64> {
    const LARGEST: u64 = 1 << 53;
    let unit = unit.to_ascii_lowercase();
    let (decimals, seconds) = match unit.as_bytes() {
        [b'm', b's', ..] | [b'm', b'i', b'l', ..] => (0, 1),
        [b's', ..] => (3, 1),
        [b'm', ..] => (3, 60),
        [b'h', ..] => (3, 3600),
        [b'd', ..] => (3, 24 * 3600),
        _ => (3, 7 * 24 * 3600),
    };
    // "a" and "one" are no digits.
    let is_digits = number.starts_with(|first: char| first.is_ascii_digit());
    let number = if is_digits { number.trim_end() } else { "1" };
    let millis = units(number, decimals)?.checked_mul(seconds)?;
    (millis < LARGEST).then_some(millis)
}
