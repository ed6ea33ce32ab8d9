//! `loop list`: the loops of the project, a line each.

use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_core::state::{State, Status};
use loop_runner::schedule::{Host, next_fire};
use loop_runner::setup::Setup;
use loop_runner::store::{Snapshot, read_state};
use loop_runner::trust;
use serde_json::{Value, json};

/// One loop, as far as it can be read.
struct Row {
    name: String,
    read: Result<(Setup, Snapshot), Failure>,
}

/// Lists the loops.
pub(crate) fn run(context: &Context, as_json: bool) -> Result<u8, Failure> {
    let project = &context.around.project;
    let names = project.loops().map_err(|error| Failure::of(&error))?;
    let rows: Vec<_> = names.into_iter().map(|name| row(context, name)).collect();
    if as_json {
        let host = Host::look(&context.around.environment);
        let loops: Vec<_> = rows.iter().map(|row| json_row(row, &host)).collect();
        show::json(&json!({"v": 1, "project": project.root(), "loops": loops}))?;
        return Ok(exit::DONE);
    }
    if rows.is_empty() {
        show::line("no loops; make one with: loop create NAME --from-template task --brief TEXT");
    }
    for row in &rows {
        show::line(text_row(row));
    }
    Ok(exit::DONE)
}

fn row(context: &Context, name: String) -> Row {
    let read = Setup::read(&context.around, &name)
        .map_err(Failure::from)
        .and_then(|setup| {
            let snapshot = read_state(&setup.dir)?;
            Ok((setup, snapshot))
        });
    Row { name, read }
}

/// Returns the word that says where a loop stands.
pub(crate) fn status(state: &State) -> &'static str {
    match (state.status, state.paused) {
        (Status::HumanIntervention, _) => "human_intervention",
        (Status::Complete, _) => "complete",
        (Status::Active, true) => "paused",
        (Status::Active, false) => "active",
    }
}

fn text_row(row: &Row) -> String {
    let (setup, snapshot) = match &row.read {
        Ok(read) => read,
        Err(failure) => {
            return format!(
                "{:<20} broken  {}",
                row.name,
                show::one_line(&failure.to_string())
            );
        }
    };
    let state = &snapshot.state;
    let task = state.current_task.as_deref();
    let place = match (task, state.current_phase.as_deref()) {
        (Some(task), Some(phase)) => format!("{task} in {phase}"),
        (Some(task), None) => task.to_owned(),
        (None, _) => "no task".to_owned(),
    };
    let iteration = task.map_or(0, |task| state.progress_of(task).iteration);
    let max = setup.rules().brakes.max_iterations;
    let max = max.map_or_else(|| "unlimited".to_owned(), |max| max.to_string());
    let score = last_score(state).map_or_else(|| "-".to_owned(), |score| score.to_string());
    let mut text = format!(
        "{:<20} {:<18} {place}  {iteration}/{max}  score {score}",
        row.name,
        status(state),
    );
    match state.parked.len() {
        0 => {}
        aside => text = format!("{text}  {aside} put aside"),
    }
    if let Some(running) = snapshot.running() {
        text = format!("{text}  running {} since {}", running.step, running.since);
    }
    if trust::check(setup).is_err() {
        text = format!("{text}  not trusted: loop trust {}", row.name);
    }
    if let Some(why) = &state.why {
        text = format!("{text}  {}", show::one_line(why));
    }
    text
}

fn json_row(row: &Row, host: &Host) -> Value {
    let (setup, snapshot) = match &row.read {
        Ok(read) => read,
        Err(failure) => {
            return json!({"name": row.name, "status": "broken", "error": failure.to_string()});
        }
    };
    let state = &snapshot.state;
    let task = state.current_task.as_deref();
    let iteration = task.map_or(0, |task| state.progress_of(task).iteration);
    json!({
        "name": row.name,
        "status": state.status,
        "paused": state.paused,
        "trusted": trust::check(setup).is_ok(),
        "reason": state.reason,
        "current_task": state.current_task,
        "current_phase": state.current_phase,
        "iteration": iteration,
        "max_iterations": setup.rules().brakes.max_iterations,
        "last_score": last_score(state),
        "cost_usd": state.known_cost(),
        "running": snapshot.running().map(|running| json!({
            "tick": state.in_progress,
            "step": running.step,
            "since": running.since,
            "pid": running.pid,
        })),
        "parked": parked(state),
        "next_fire": next_fire(setup, host),
        "updated_at": state.updated_at,
    })
}

/// Lists the tasks that the loop has put aside.
pub(crate) fn parked(state: &State) -> Vec<Value> {
    let parked = state.parked.iter();
    parked
        .map(|(task, reason)| {
            let why = state.progress_of(task).parked_why;
            json!({"task": task, "reason": reason, "why": why})
        })
        .collect()
}

fn last_score(state: &State) -> Option<f64> {
    let score = state.last_verdict.as_ref()?.score()?;
    Some(score.get())
}
