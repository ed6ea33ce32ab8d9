//! The wordings by which providers say when something is over.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;

use regex_lite::{Captures, Regex};

use super::{Reset, clock};
use crate::profile::amount::units;
use crate::time::Timestamp;

/// Finds a time in a text; the surest wordings are tried first. A time that is misread is worse
/// than none, so what is not said in one of these wordings is not looked for.
pub(super) fn find(text: &str) -> Option<Reset> {
    let text = with_plain_spaces(text);
    let ways = [number, wait, date_and_time, epoch, seconds, clock::find];
    ways.into_iter().find_map(|way| way(&text))
}

/// Makes plain spaces of those that stand only beyond ASCII, such as the narrow one in `5:33 PM`.
fn with_plain_spaces(text: &str) -> Cow<'_, str> {
    let is_other = |c: char| c.is_whitespace() && !c.is_ascii();
    if text.contains(is_other) {
        text.replace(is_other, " ").into()
    } else {
        text.into()
    }
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
            r"(\d{{4}}-\d{{2}}-\d{{2}})[Tt ]({time}) ?({zone})(?:[^\w+-]|$)"
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
    static SAID: Wording = LazyLock::new(|| {
        let what = r"(?:\s(?:your|the|this)\s\w+|\s(?:again|automatically|online|up))?";
        let over = r"\b(?:again|retry(?:ing)?|available|renew\w*|refresh\w*|resumes?|back)";
        let reset = r"reset(?:s|ting)?";
        let key = r#"(?:retry|resets?)[-_ ]?(?:delay|time|in|after|requests|tokens)"#;
        let until = format!(
            r#"(?:(?:{over}|{reset}){what},?[\s(]{{1,2}}(?:in|after)|{key}|{reset}["']?\s?[:=]|\bwait(?:ing)?(?:\sfor)?)"#
        );
        let about = r"(?:(?:about|approximately|around|another|at least|up to)\s)?";
        Regex::new(&format!(
            r#"(?i){until}["'\s:=(~]{{0,5}}{about}{}"#,
            pieces()
        ))
        .ok()
    });
    static ALONE: Wording =
        LazyLock::new(|| Regex::new(&format!(r"(?i)^\s*(?:in\s)?{}[\s.]*$", pieces())).ok());
    static PIECE: Wording = LazyLock::new(|| {
        Regex::new(&format!(r"(?i)(\d+(?:\.\d+)?\s?|\b(?:an?|one)\s)({UNIT})")).ok()
    });
    let found = captures(&SAID, text).or_else(|| captures(&ALONE, text))?;
    let behind = &text[found.get(0)?.end()..];
    if behind.trim_start().starts_with("ago") {
        return None;
    }
    let pieces = PIECE.as_ref()?.captures_iter(found.get(1)?.as_str());
    let total = pieces
        .map(|piece| millis(&piece[1], &piece[2]))
        .sum::<Option<u64>>()?;
    Some(Reset::After(Duration::from_millis(total)))
}

/// Returns the pattern of `2h5m0s` and `3 days, 2 hours and a minute`, which begins and ends where
/// words do: `9d3f` is no time.
fn pieces() -> String {
    let piece =
        format!(r"(?:\d+(?:\.\d+)?\s?(?:{UNIT})|\b(?:an?|one)\s(?:second|minute|hour|day|week))");
    format!(r"\b({piece}(?:[\s,]*(?:and\s)?{piece})*)\b")
}

/// Finds `Retry-After: 3600` and `retry-after-ms: 1500`, but no count and no part of a date.
fn seconds(text: &str) -> Option<Reset> {
    static SECONDS: Wording = LazyLock::new(|| {
        let key = r"retry[-_ ]?after(?:[-_ ]?(ms|seconds))?";
        let end = r#"\s*(?:["';)}\]\n]|[.,](?:\s|$)|$)"#;
        Regex::new(&format!(r#"(?i){key}["'\s:=]{{1,4}}(\d+(?:\.\d+)?){end}"#)).ok()
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
