//! The line of a crontab that ticks a loop.

use super::host::Backend;
use super::timer::{Timer, TimerError};
use loop_core::config::Cron;
use loop_core::schedule::{CronTimes, Fires};

/// The intervals that cron can keep, in seconds, with their expressions.
const INTERVALS: [(u64, &str); 20] = [
    (60, "* * * * *"),
    (120, "*/2 * * * *"),
    (180, "*/3 * * * *"),
    (240, "*/4 * * * *"),
    (300, "*/5 * * * *"),
    (360, "*/6 * * * *"),
    (600, "*/10 * * * *"),
    (720, "*/12 * * * *"),
    (900, "*/15 * * * *"),
    (1_200, "*/20 * * * *"),
    (1_800, "*/30 * * * *"),
    (3_600, "0 * * * *"),
    (7_200, "0 */2 * * *"),
    (10_800, "0 */3 * * *"),
    (14_400, "0 */4 * * *"),
    (21_600, "0 */6 * * *"),
    (28_800, "0 */8 * * *"),
    (43_200, "0 */12 * * *"),
    (86_400, "0 0 * * *"),
    (604_800, "0 0 * * 0"),
];

/// The longest command that every cron takes, in bytes: Debian's has 1000 with the
/// end of the text.
const LONGEST: usize = 998;

/// Returns the times at which cron fires for a timer.
pub(super) fn times(fires: &Fires) -> Result<CronTimes, TimerError> {
    let seconds = match fires {
        Fires::At(times) => return Ok(times.clone()),
        Fires::Every(interval) => interval.as_secs(),
    };
    let known = INTERVALS.iter().find(|(known, _)| *known == seconds);
    let cron = known.and_then(|(_, text)| text.parse::<Cron>().ok());
    cron.map(|cron| CronTimes::of(&cron))
        .ok_or_else(|| TimerError::Interval {
            seconds,
            nearest: nearest(seconds),
        })
}

fn nearest(seconds: u64) -> u64 {
    let known = INTERVALS.iter().map(|(known, _)| *known);
    known
        .min_by_key(|known| known.abs_diff(seconds))
        .unwrap_or(seconds)
}

/// Returns the line, without its end.
pub(super) fn line(timer: &Timer) -> Result<String, TimerError> {
    timer.check_zone(Backend::Cron)?;
    let times = times(&timer.fires)?;
    let mut words = vec!["/usr/bin/env".to_owned()];
    for (name, value) in &timer.environment {
        words.push(quoted(name, &format!("{name}={value}"))?);
    }
    for (what, word) in timer.argv(true) {
        words.push(quoted(what, word)?);
    }
    // What follows a bare `%` would be standard input.
    let command = words.join(" ").replace('%', "\\%");
    if command.len() > LONGEST {
        return Err(TimerError::TooLong {
            length: command.len(),
            most: LONGEST,
        });
    }
    Ok(format!("{} {command}", times.portable()))
}

/// Returns the line of a crontab that does the same as the timer, where there is one.
#[must_use]
pub fn cron_line(timer: &Timer) -> Option<String> {
    line(timer).ok()
}

/// Writes a text as one word of any shell, without a backslash.
fn quoted(what: &'static str, word: &str) -> Result<String, TimerError> {
    if word.contains('\\') {
        return Err(TimerError::Backslash {
            what,
            value: word.to_owned(),
        });
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Ok(word.to_owned());
    }
    Ok(format!("'{}'", word.replace('\'', "'\"'\"'")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    // rows: U-31
    #[test]
    fn an_interval_that_cron_lacks_names_the_nearest() {
        for (seconds, nearest) in [
            (1, 60),
            (89, 60),
            (91, 120),
            (420, 360),
            (5_400, 3_600),
            (5_401, 7_200),
            (172_800, 86_400),
            (31_622_400, 604_800),
        ] {
            let found = times(&Fires::Every(Duration::from_secs(seconds)));
            let expected = TimerError::Interval { seconds, nearest };
            assert_eq!(found, Err(expected));
        }
        for (seconds, text) in INTERVALS {
            let times = times(&Fires::Every(Duration::from_secs(seconds))).unwrap();
            assert_eq!(times.portable(), text);
        }
    }

    #[test]
    fn a_word_is_one_word_of_any_shell() {
        for (word, written) in [
            ("/a", "/a"),
            ("/a b", "'/a b'"),
            ("/it's $HOME", "'/it'\"'\"'s $HOME'"),
            ("50%", "'50%'"),
            ("", "''"),
        ] {
            assert_eq!(quoted("x", word).unwrap(), written);
        }
        assert!(quoted("x", "a\\b").is_err());
    }
}
