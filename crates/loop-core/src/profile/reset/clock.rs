//! Times of day, as a clock on the wall shows them.

use std::sync::LazyLock;

use jiff::civil::{Time, Weekday};
use regex_lite::{Captures, Regex};

use super::wording::{Wording, captures};
use super::{Day, Reset};

const MONTHS: &str = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";

/// Finds `resets 3pm (America/New_York)`, `try again at Dec 4th, 2026 9:12 AM`, `10:00` alone.
pub(super) fn find(text: &str) -> Option<Reset> {
    static CLOCK: Wording = LazyLock::new(|| Regex::new(&pattern()).ok());
    let found = captures(&CLOCK, text)?;
    let day = day(&found)?;
    if says_more(&found, day, text) {
        return None;
    }
    let zone = found.name("zone").map(|zone| zone.as_str().to_owned());
    Some(Reset::Clock {
        time: time(&found)?,
        day,
        zone,
    })
}

fn pattern() -> String {
    let weekday = r"\b(?<weekday>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs?|ur)?(?:day)?\b";
    let nth = r"(?:st|nd|rd|th)?";
    let year = r"(?:,?\s(?<year>\d{4}))?";
    let date = format!(r"\b(?<month>{MONTHS})[a-z]*\.?\s(?<date>\d{{1,2}}){nth}{year}\b");
    let year = r"(?:,?\s(?<year2>\d{4}))?";
    let day_first =
        format!(r"\b(?<date2>\d{{1,2}}){nth}\s(?:of\s)?(?<month2>{MONTHS})[a-z]*(?:\b\.|\b){year}");
    let iso = r"\b(?<isodate>\d{4}-\d{2}-\d{2})";
    let tomorrow = r"\b(?<tomorrow>tomorrow)\b";
    let at = r",?\s(?:at\s)?";
    let day =
        format!(r"(?:{iso}(?:T|{at})|(?:(?:{weekday}|{date}|{day_first}|{tomorrow}){at})?\b)");
    let half = r"(?<hour>\d{1,2})(?::(?<minute>\d{2})(?::\d{2})?)?\s{0,3}(?<half>[ap])\.?m\b\.?";
    let whole = r"(?<hour24>\d{1,2}):(?<minute24>\d{2})(?::\d{2})?\b";
    let zone = r"(?:\s?\(?(?<zone>(?-i:UTC|GMT|[A-Z][A-Za-z]+(?:/[A-Za-z_]+)+|[A-Z]{1,4}T)\b))?";
    let about =
        r"\b(?:again|retry\w*|resets?\w*|until|available|renew\w*|refresh\w*|resumes?|back)\b";
    // A number in between belongs to a date or a count that is not understood.
    let between = r"(?<between>[^\n\d.;]{0,60}?)";
    format!(r"(?i)(?:^\s*|{about}{between}){day}(?:{half}|{whole}){zone}")
}

/// Reports whether more is said of the time than was understood: a day that is written in another
/// way or place, an offset, or, where nothing says what the time is about, anything at all.
fn says_more(found: &Captures<'_>, day: Option<Day>, text: &str) -> bool {
    static BETWEEN: Wording = LazyLock::new(|| {
        let weekday = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
        Regex::new(&format!(r"(?i){weekday}|tomorrow|later|week|month")).ok()
    });
    static BEHIND: Wording = LazyLock::new(|| {
        let day = format!(r"{MONTHS}|mon|tue|wed|thu|fri|sat|sun|tomorrow|next");
        Regex::new(&format!(
            r"(?i)^(?:\W{{0,3}}[ap]\.?m\b|[\s,)(]*(?:on\s)?(?:the\s)?(?:[+-]?\d|{day}))"
        ))
        .ok()
    });
    let behind = found.get(0).map_or("", |all| &text[all.end()..]);
    match found.name("between") {
        None => !behind.trim_matches([')', '.', ' ', '\n']).is_empty(),
        Some(between) => {
            let is_other_day = day.is_none() && captures(&BETWEEN, between.as_str()).is_some();
            is_other_day || captures(&BEHIND, behind).is_some()
        }
    }
}

fn time(found: &Captures<'_>) -> Option<Time> {
    let number = |name| found.name(name).map(|text| text.as_str().parse::<i8>());
    let Some(hour) = number("hour") else {
        return Time::new(number("hour24")?.ok()?, number("minute24")?.ok()?, 0, 0).ok();
    };
    let hour = hour.ok().filter(|hour| (1..=12).contains(hour))?;
    let noon = match found.name("half")?.as_str() {
        "p" | "P" => 12,
        _ => 0,
    };
    let minute = number("minute").unwrap_or(Ok(0)).ok()?;
    Time::new(hour % 12 + noon, minute, 0, 0).ok()
}

/// Reads the day, if one is named; `None` when it is none.
fn day(found: &Captures<'_>) -> Option<Option<Day>> {
    if let Some(name) = found.name("weekday") {
        return Some(Some(Day::Weekday(weekday(name.as_str())?)));
    }
    if let Some(date) = found.name("isodate") {
        let date: jiff::civil::Date = date.as_str().parse().ok()?;
        let (year, month, day) = (Some(date.year()), date.month(), date.day());
        return Some(Some(Day::Date { year, month, day }));
    }
    let either = |first, second| found.name(first).or_else(|| found.name(second));
    if let Some(name) = either("month", "month2") {
        let year = either("year", "year2").map(|year| year.as_str().parse());
        return Some(Some(Day::Date {
            year: year.transpose().ok()?,
            month: month(name.as_str())?,
            day: either("date", "date2")?.as_str().parse().ok()?,
        }));
    }
    Some(found.name("tomorrow").map(|_| Day::Tomorrow))
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name.to_ascii_lowercase().as_str() {
        "mon" => Weekday::Monday,
        "tue" => Weekday::Tuesday,
        "wed" => Weekday::Wednesday,
        "thu" => Weekday::Thursday,
        "fri" => Weekday::Friday,
        "sat" => Weekday::Saturday,
        "sun" => Weekday::Sunday,
        _ => return None,
    })
}

/// Returns the number of a month by its first three letters, from 1.
pub(super) fn month(name: &str) -> Option<i8> {
    let name = name.to_ascii_lowercase();
    let before = MONTHS.split('|').position(|month| month == name)?;
    i8::try_from(before + 1).ok()
}
