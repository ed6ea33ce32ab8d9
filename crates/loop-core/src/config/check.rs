//! The rules that tie keys together.

use std::collections::BTreeSet;

use super::error::Problem;
use super::{Config, OnTrip, WorkSourceKind};

/// A broken rule: the path of the key to change, and what is wrong.
pub(super) type Broken = (String, Problem);

type Rule = fn(&Config) -> Result<(), Broken>;

/// Checks every rule; the first that is broken is reported.
pub(super) fn check(config: &Config) -> Result<(), Broken> {
    const RULES: [Rule; 5] = [
        unlimited_is_limited,
        phases_are_a_list,
        source_is_complete,
        park_has_a_next,
        one_schedule,
    ];
    RULES.iter().try_for_each(|rule| rule(config))
}

fn broken(path: impl Into<String>, message: impl Into<String>) -> Result<(), Broken> {
    Err((path.into(), Problem::Invalid(message.into())))
}

/// "unlimited" needs another cap that still ends the loop.
fn unlimited_is_limited(config: &Config) -> Result<(), Broken> {
    let brakes = config.brakes();
    let other_cap = brakes.max_cost().is_some()
        || brakes.max_tokens().is_some()
        || brakes.max_ticks_per_day().is_some();
    if brakes.max_iterations().is_none() && brakes.max_wall().is_none() && !other_cap {
        return broken(
            "brakes.max_iterations",
            "unlimited iterations in unlimited time would never stop; limit one of the two, or set \
             max_cost_usd, max_tokens or max_ticks_per_day",
        );
    }
    Ok(())
}

/// Phases are named once, and those that wait for an approval are among them.
fn phases_are_a_list(config: &Config) -> Result<(), Broken> {
    let phases = config.phases();
    if phases.is_empty() {
        return broken(
            "phases",
            "there are no phases; name at least one, or leave the key out",
        );
    }
    if let Some((index, name)) = first_repeated(phases) {
        return broken(
            format!("phases[{index}]"),
            format!("the phase {name} is there twice; take one out"),
        );
    }
    let approved = config.approval_phases();
    if let Some((index, name)) = first_repeated(approved) {
        return broken(
            format!("approval_phases[{index}]"),
            format!("the phase {name} is there twice; take one out"),
        );
    }
    match approved
        .iter()
        .enumerate()
        .find(|(_, name)| !phases.contains(name))
    {
        Some((index, name)) => broken(
            format!("approval_phases[{index}]"),
            format!(
                "{name} is no phase of this loop; use one of {}",
                join(phases)
            ),
        ),
        None => Ok(()),
    }
}

fn first_repeated<T: Ord>(items: &[T]) -> Option<(usize, &T)> {
    let mut seen = BTreeSet::new();
    items
        .iter()
        .enumerate()
        .find(|(_, item)| !seen.insert(*item))
}

fn join<T: ToString>(items: &[T]) -> String {
    items
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A source of kind command has a command to ask.
fn source_is_complete(config: &Config) -> Result<(), Broken> {
    let source = config.work_source();
    if source.kind() == WorkSourceKind::Command && source.command.is_none() {
        return Err(("work_source.command".to_owned(), Problem::MissingKey));
    }
    Ok(())
}

/// Parking a task makes sense where another one can be taken.
fn park_has_a_next(config: &Config) -> Result<(), Broken> {
    if config.brakes().on_trip() == OnTrip::Park
        && config.work_source().kind() == WorkSourceKind::Single
    {
        return broken(
            "brakes.on_trip",
            "a single source has no next task to take; use \"halt\", or a source of kind backlog, audit or command",
        );
    }
    Ok(())
}

/// A loop ticks at an interval or at times, and times are those of some zone.
fn one_schedule(config: &Config) -> Result<(), Broken> {
    let Some(schedule) = config.schedule() else {
        return Ok(());
    };
    match (
        &schedule.interval_seconds,
        &schedule.cron,
        &schedule.timezone,
        &schedule.window,
    ) {
        (Some(_), Some(_), ..) => broken(
            "schedule.cron",
            "there is an interval too; keep interval_seconds or cron, not both",
        ),
        (_, Some(_), None, _) => Err(("schedule.timezone".to_owned(), Problem::MissingKey)),
        (_, None, Some(_), None) => broken(
            "schedule.timezone",
            "nothing here is read in a time zone; add cron or window, or remove it",
        ),
        _ => Ok(()),
    }
}
