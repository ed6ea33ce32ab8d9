//! `loop schedule show`: a loop's timer, and when it fires.

use super::{difference, text, this_program};
use crate::context::Context;
use crate::failure::Failure;
use crate::show::{field, json, warning};
use loop_core::exit;
use loop_core::record::Body;
use loop_core::schedule::{Fires, closed_until};
use loop_core::time::Timestamp;
use loop_runner::causes::with_causes;
use loop_runner::schedule::{
    Backend, Host, InstallError, Piece, Standing, Status, Timer, status, to_start, unit_name,
};
use loop_runner::setup::Setup;
use loop_runner::store::{read_state, records_after};
use serde_json::{Value, json};

/// How many records at the end of the log are looked through for the latest tick.
const RECORDS: u64 = 500;

/// Shows the timer.
pub(super) fn run(context: &Context, name: &str, as_json: bool) -> Result<u8, Failure> {
    let setup = context.setup(name)?;
    let timer = Timer::of(&setup, &this_program()?);
    let unit = unit_name(setup.kept_in.root(), name);
    let host = Host::look(&context.around.environment);
    let mut timers = Vec::new();
    for backend in Backend::ALL {
        match status(backend, timer.as_ref(), &unit, &host) {
            Err(InstallError::Crontab(error)) => {
                warning(&format!(
                    "the crontab was not looked at: {}",
                    with_causes(&error)
                ));
            }
            status => timers.push(status?),
        }
    }
    timers.retain(|status| status.standing != Standing::Absent);
    let next = timer.as_ref().ok().and_then(|timer| {
        let mut backends = timers.iter().map(|status| status.backend);
        backends.find_map(|backend| timer.next_fire(backend))
    });
    let last = last_tick(&setup)?;
    if as_json {
        json(&json!({
            "v": 1, "loop": name, "unit": unit,
            "timers": timers.iter().map(json_status).collect::<Vec<_>>(),
            "lingers": host.lingers,
            "fault": timer.as_ref().err().map(ToString::to_string),
            "zone": setup.zone().ok().map(|zone| zone.name()),
            "closed_until": closed(&setup),
            "next_fire": next,
            "last_tick": last.map(|(tick, at)| json!({"tick": tick, "at": at})),
        }))?;
        return Ok(exit::DONE);
    }
    tell_timers(&timers, name, &host, &unit);
    match &timer {
        Ok(timer) => tell_schedule(&setup, timer, &timers, next),
        Err(error) => field("schedule", error.to_string()),
    }
    match last {
        Some((tick, at)) => field("last", format!("tick {tick} at {at}")),
        None => field("last", "no tick yet"),
    }
    Ok(exit::DONE)
}

fn tell_timers(timers: &[Status], name: &str, host: &Host, unit: &str) {
    if timers.is_empty() {
        field(
            "timer",
            format!("none; install one with: loop schedule install {name}"),
        );
    }
    for status in timers {
        let backend = status.backend;
        let enabled = match status.enabled {
            Some(true) => ", enabled",
            Some(false) => ", not enabled",
            None => "",
        };
        let stale = match status.standing {
            Standing::Stale => "; it is another now, install it again",
            Standing::Absent | Standing::Current => "",
        };
        let standing = status.standing.as_str();
        field(
            "timer",
            format!("{backend}: {standing}{enabled}{stale} ({unit})"),
        );
        for piece in status.pieces.iter().filter(|piece| piece.changes()) {
            for change in changes(piece) {
                field("", change);
            }
        }
        if backend == Backend::Systemd && (status.enabled != Some(true) || !host.lingers) {
            for command in to_start(backend, unit, host) {
                field("run", command);
            }
        }
    }
}

fn changes(piece: &Piece) -> Vec<String> {
    difference(
        &text(piece.before.as_deref()),
        &text(piece.after.as_deref()),
    )
}

fn tell_schedule(setup: &Setup, timer: &Timer, timers: &[Status], next: Option<Timestamp>) {
    let cron = setup
        .config
        .schedule()
        .and_then(|schedule| schedule.cron.as_ref());
    let fires = match (&timer.fires, cron) {
        (Fires::Every(interval), _) => format!("every {} seconds", interval.as_secs()),
        (Fires::At(_), cron) => {
            let cron = cron.map_or("", |cron| cron.as_str());
            format!("{cron} in {}", timer.zone.name())
        }
    };
    let window = timer.window.map_or_else(String::new, |window| {
        let zone = timer.zone.name();
        match closed(setup) {
            Some(time) => format!(
                ", within {window} in {zone}: closed until {}",
                timer.zone.clock(time)
            ),
            None => format!(", within {window} in {zone}: open"),
        }
    });
    field("schedule", format!("{fires}{window}"));
    match next {
        Some(time) => field("next", format!("{} ({time})", timer.zone.clock(time))),
        None if timers.is_empty() => field("next", "nothing fires"),
        None => field(
            "next",
            "the scheduler counts the interval from its own latest start",
        ),
    }
}

fn closed(setup: &Setup) -> Option<Timestamp> {
    let zone = setup.zone().ok()?;
    closed_until(setup.config.schedule()?, setup.clock.now(), zone)
}

/// Returns the number of the latest tick, and when it began.
fn last_tick(setup: &Setup) -> Result<Option<(u64, Timestamp)>, Failure> {
    let latest = read_state(&setup.dir)?.seq;
    let mut last = None;
    for record in records_after(&setup.dir, latest.saturating_sub(RECORDS))? {
        let record = record?;
        if let Body::Opened(opened) = &record.body {
            last = Some((opened.tick, record.at));
        }
    }
    Ok(last)
}

fn json_status(status: &Status) -> Value {
    json!({
        "backend": status.backend.as_str(),
        "standing": status.standing.as_str(),
        "enabled": status.enabled,
        "changes": status.pieces.iter().flat_map(changes).collect::<Vec<_>>(),
    })
}
