//! User agents of launchd. Written after its manual; no test has run them.

use super::files::MARK;
use super::host::Backend;
use super::timer::{Timer, TimerError};
use loop_core::schedule::{CronField, CronTimes, Fires};

/// How many times of a day and a calendar an agent may have.
const MOST: usize = 512;

/// Returns the text of the agent.
pub(super) fn agent(timer: &Timer) -> Result<String, TimerError> {
    timer.check_zone(Backend::Launchd)?;
    let mut arguments = String::new();
    for (_, word) in timer.argv(true) {
        arguments = format!("{arguments}    <string>{}</string>\n", escaped(word));
    }
    let mut environment = String::new();
    for (name, value) in &timer.environment {
        environment = format!(
            "{environment}    <key>{name}</key>\n    <string>{}</string>\n",
            escaped(value)
        );
    }
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- {MARK} -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n\
         \x20 <key>Label</key>\n\
         \x20 <string>{label}</string>\n\
         \x20 <key>ProgramArguments</key>\n\
         \x20 <array>\n\
         {arguments}\
         \x20 </array>\n\
         \x20 <key>EnvironmentVariables</key>\n\
         \x20 <dict>\n\
         {environment}\
         \x20 </dict>\n\
         {fires}\
         </dict>\n\
         </plist>\n",
        label = escaped(&timer.unit),
        fires = fires(&timer.fires)?,
    ))
}

fn fires(fires: &Fires) -> Result<String, TimerError> {
    let times = match fires {
        Fires::Every(interval) => {
            return Ok(format!(
                "  <key>StartInterval</key>\n  <integer>{}</integer>\n",
                interval.as_secs()
            ));
        }
        Fires::At(times) => times,
    };
    let entries = count(times);
    if entries > MOST {
        return Err(TimerError::TooMany {
            entries,
            most: MOST,
        });
    }
    let mut text = "  <key>StartCalendarInterval</key>\n  <array>\n".to_owned();
    for entry in self::entries(times) {
        text.push_str("    <dict>\n");
        for (key, number) in entry {
            text = format!("{text}      <key>{key}</key>\n      <integer>{number}</integer>\n");
        }
        text.push_str("    </dict>\n");
    }
    Ok(text + "  </array>\n")
}

/// Returns how many entries there are.
fn count(times: &CronTimes) -> usize {
    let of = |field: &CronField| field.values().map_or(1, <[u8]>::len);
    let (days, weekdays) = (of(times.days()), of(times.weekdays()));
    let days = if times.either_day() {
        days + weekdays
    } else {
        days * weekdays
    };
    of(times.minutes()) * of(times.hours()) * of(times.months()) * days
}

/// One key of an entry, with its number.
type Key = (&'static str, u8);

/// Returns an entry for each time; what an entry leaves out is any.
fn entries(times: &CronTimes) -> Vec<Vec<Key>> {
    let common = [
        ("Minute", times.minutes()),
        ("Hour", times.hours()),
        ("Month", times.months()),
    ];
    let day = ("Day", times.days());
    let weekday = ("Weekday", times.weekdays());
    let with = |fields: &[(&'static str, &CronField)]| {
        let fields = common.iter().chain(fields);
        fields.fold(vec![Vec::new()], |entries, (key, field)| {
            combined(&entries, key, field)
        })
    };
    if times.either_day() {
        let mut either = with(&[day]);
        either.extend(with(&[weekday]));
        either
    } else {
        with(&[day, weekday])
    }
}

fn combined(entries: &[Vec<Key>], key: &'static str, field: &CronField) -> Vec<Vec<Key>> {
    let Some(values) = field.values() else {
        return entries.to_vec();
    };
    let of = |entry: &Vec<Key>, value: &u8| {
        let mut entry = entry.clone();
        entry.push((key, *value));
        entry
    };
    entries
        .iter()
        .flat_map(|entry| values.iter().map(move |value| of(entry, value)))
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
