//! User units of systemd: a service that ticks once, and a timer that starts it.

use super::files::MARK;
use super::timer::{Timer, TimerError};
use loop_core::schedule::{CronField, CronTimes, Fires};
use std::fmt::Write;

/// Returns the text of the service.
pub(super) fn service(timer: &Timer) -> Result<String, TimerError> {
    if timer.binary.contains(['"', '\'', '\\']) {
        return Err(TimerError::Quotes {
            value: timer.binary.clone(),
        });
    }
    // In the program itself a `$` stands for itself, and `$$` would be two of them.
    let words = timer.argv(false).into_iter().enumerate();
    let words = words.map(|(at, (_, word))| match at {
        0 => quoted(word),
        _ => quoted(&word.replace('$', "$$")),
    });
    let command = words.collect::<Vec<_>>().join(" ");
    let mut text = format!(
        "# {MARK}\n\
         [Unit]\n\
         Description=A tick of the loop {name}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart={command}\n",
        name = timer.loop_name,
    );
    for (name, value) in &timer.environment {
        let assignment = quoted(&format!("{name}={value}"));
        text = format!("{text}Environment={assignment}\n");
    }
    // A tick knows its own limits. On a stop it ends its agents and says so in its
    // records; what is left of them afterwards goes with it.
    text.push_str("TimeoutStartSec=infinity\nKillMode=mixed\nTimeoutStopSec=90\n");
    Ok(text)
}

/// Returns the text of the timer.
pub(super) fn timer(timer: &Timer) -> String {
    let mut fires = String::new();
    match &timer.fires {
        Fires::Every(interval) => {
            let seconds = interval.as_secs();
            // The second alone would never fire first.
            fires = format!("OnActiveSec={seconds}s\nOnUnitActiveSec={seconds}s\nAccuracySec=1s\n");
        }
        Fires::At(times) => {
            for calendar in calendars(times) {
                let zone = timer.zone.name();
                // Writing to a string cannot fail.
                let _written = writeln!(fires, "OnCalendar={calendar} {zone}");
            }
            fires.push_str("AccuracySec=1s\nPersistent=true\n");
        }
    }
    format!(
        "# {MARK}\n\
         [Unit]\n\
         Description=Ticks of the loop {name}\n\
         \n\
         [Timer]\n\
         {fires}\
         \n\
         [Install]\n\
         WantedBy=timers.target\n",
        name = timer.loop_name,
    )
}

/// Writes times as calendar events; two of them where either day is enough, as one
/// event wants both.
fn calendars(times: &CronTimes) -> Vec<String> {
    let weekdays = weekdays(times.weekdays());
    let days = listed(times.days());
    let event = |weekdays: &str, days: &str| {
        format!(
            "{weekdays}*-{}-{days} {}:{}:00",
            listed(times.months()),
            listed(times.hours()),
            listed(times.minutes())
        )
    };
    if times.either_day() {
        vec![event("", &days), event(&weekdays, "*")]
    } else {
        vec![event(&weekdays, &days)]
    }
}

fn listed(field: &CronField) -> String {
    if field.values().is_none() {
        return "*".to_owned();
    }
    let runs = field.runs().into_iter().map(|(first, last)| {
        if first == last {
            format!("{first:02}")
        } else {
            format!("{first:02}..{last:02}")
        }
    });
    runs.collect::<Vec<_>>().join(",")
}

fn weekdays(field: &CronField) -> String {
    const NAMES: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    let Some(values) = field.values() else {
        return String::new();
    };
    let names = values.iter().map(|day| NAMES[usize::from(*day) % 7]);
    format!("{} ", names.collect::<Vec<_>>().join(","))
}

/// Writes a word so that systemd reads it as it is; it holds no control character.
fn quoted(word: &str) -> String {
    let word = word
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('%', "%%");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("\"{word}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_core::config::Cron;

    // rows: C-07
    #[test]
    fn a_word_is_read_as_it_is() {
        for (word, written) in [
            ("/usr/bin/loop", "/usr/bin/loop"),
            ("/a b", "\"/a b\""),
            ("/50%", "\"/50%%\""),
            ("/a\"b\\c", r#""/a\"b\\c""#),
            ("/it's", "\"/it's\""),
            ("/Zürich;x", "\"/Zürich;x\""),
            ("", "\"\""),
        ] {
            assert_eq!(quoted(word), written);
        }
    }

    #[test]
    fn times_become_calendar_events() {
        #[rustfmt::skip]
        let table: [(&str, &[&str]); 6] = [
            ("* * * * *", &["*-*-* *:*:00"]),
            ("0 6 * * 1-5", &["Mon,Tue,Wed,Thu,Fri *-*-* 06:00:00"]),
            ("*/20 8-18 * * *", &["*-*-* 08..18:00,20,40:00"]),
            ("0 0 1,15 */6 *", &["*-01,07-01,15 00:00:00"]),
            ("0 0 * * 5-7", &["Sun,Fri,Sat *-*-* 00:00:00"]),
            ("30 4 13 * 5", &["*-*-13 04:30:00", "Fri *-*-* 04:30:00"]),
        ];
        for (text, events) in table {
            let cron: Cron = text.parse().unwrap();
            assert_eq!(calendars(&CronTimes::of(&cron)), events, "{text}");
        }
    }
}
