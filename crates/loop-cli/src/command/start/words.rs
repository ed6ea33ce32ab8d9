//! What happens to a driven loop, in lines for people.

use crate::command::tick::work_lines;
use crate::context::Context;
use crate::show;
use loop_core::explain::{what_to_do, what_to_do_in};
use loop_core::outcome::{Interruption, Outcome, Skip};
use loop_core::state::State;
use loop_runner::driver::Ticked;
use loop_runner::start::{Ending, Wait};

/// Says how a tick ended, and after a pass where the work is.
pub(super) fn ticked(context: &Context, name: &str, ticked: &Ticked) -> Vec<String> {
    let ended = &ticked.ended;
    let number = ended
        .tick
        .map_or_else(String::new, |tick| format!(" tick {tick}"));
    let why = show::one_line(&ended.why);
    let mut lines = vec![format!(
        "{name}{number}: {}: {why}",
        outcome(&ended.outcome)
    )];
    if let Some(what) = goes_on(&ended.outcome, name) {
        lines.push(format!("  do: {what}"));
    }
    if ended.outcome == Outcome::Pass
        && ended.complete
        && let Ok(setup) = context.setup(name)
    {
        let work = work_lines(&setup, ended.task.as_deref(), ended.worktree.as_ref());
        lines.extend(work.map(|line| format!("  {line}")));
    }
    lines
}

/// Says what a person can do about a tick after which the loop goes on.
fn goes_on(ended: &Outcome, name: &str) -> Option<String> {
    match ended {
        Outcome::Blocked(_) | Outcome::VerifyError(_) | Outcome::Environment(_) => {
            what_to_do(ended, name)
        }
        _ => None,
    }
}

/// Says what a loop waits for, and how that comes about.
pub(super) fn waits(name: &str, wait: Wait) -> String {
    match wait {
        Wait::Tick => format!("{name} waits for the end of another tick of it"),
        Wait::Driver(Some(pid)) => {
            format!("{name} waits: another loop start drives it (process {pid})")
        }
        Wait::Driver(None) => format!("{name} waits: another loop start drives it"),
        Wait::Resume => format!("{name} waits: it is paused; go on with: loop resume {name}"),
        Wait::Person => format!("{name} waits for a person; see: loop list --waiting"),
    }
}

/// Says how driving a loop ended, why, and what to do.
pub(super) fn over(name: &str, ending: &Ending) -> Vec<String> {
    let ticks = show::count(ending.ticks, "tick");
    let why = show::one_line(&ending.why);
    let mut lines = vec![format!(
        "{name}: {} after {ticks}: {why}",
        outcome(&ending.outcome)
    )];
    if let Some(what) = what(name, ending) {
        lines.push(format!("  do: {what}"));
    }
    lines
}

/// Says what a person does next; after a signal, start it again.
pub(super) fn what(name: &str, ending: &Ending) -> Option<String> {
    let unknown = State::new();
    let state = ending.state.as_ref().unwrap_or(&unknown);
    match &ending.outcome {
        Outcome::Interrupted(Interruption::Signal | Interruption::Crash) | Outcome::Fail(_) => {
            Some(format!("go on with: loop start {name}"))
        }
        outcome => what_to_do_in(outcome, state, name),
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Skipped(Skip::HumanIntervention(halt)) => {
            format!("skipped (human_intervention, {halt})")
        }
        Outcome::Blocked(_) => "blocked".to_owned(),
        other => other.to_string(),
    }
}
