//! `loop show`: where one loop stands, why, and what to do.

mod items;
mod why;

use super::gate_words;
use super::list::status;
use super::tick::work_lines;
use crate::args::NamedJson;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_core::state::{LastVerdict, State};
use loop_runner::setup::Setup;
use loop_runner::store::{Snapshot, read_state};
use loop_runner::trust;
use serde_json::json;

/// Shows the loop.
pub(crate) fn run(context: &Context, args: &NamedJson) -> Result<u8, Failure> {
    let setup = context.setup(&args.name)?;
    let snapshot = read_state(&setup.dir)?;
    if args.json {
        let standing = why::of(&setup.name, &snapshot);
        show::json(&json!({
            "v": 1,
            "name": setup.name,
            "folder": setup.dir.root(),
            "trusted": trust::check(&setup).is_ok(),
            "seq": snapshot.seq,
            "why": standing.why,
            "do": standing.what,
            "state": snapshot.state,
            "items": items::json(&setup, &snapshot.state),
        }))?;
    } else {
        tell(&setup, &snapshot);
    }
    Ok(exit::DONE)
}

fn tell(setup: &Setup, snapshot: &Snapshot) {
    let state = &snapshot.state;
    show::field("loop", &setup.name);
    show::field("status", status(state));
    let standing = why::of(&setup.name, snapshot);
    show::field("why", &standing.why);
    show::field("do", &standing.what);
    tell_task(setup, state);
    gate_words::tell(setup, state, state.current_task.as_deref());
    items::tell(setup, state);
    if let Some(last) = &state.last_verdict {
        show::field("verdict", verdict(last));
    }
    if let Some(outcome) = &state.last_outcome {
        show::field("last tick", format!("{}: {outcome}", state.tick));
    }
    if let Some(running) = snapshot.running() {
        show::field(
            "running",
            format!(
                "{} since {}, pid {}",
                running.step, running.since, running.pid
            ),
        );
    }
    if let Some(time) = state.not_before {
        show::field("next", format!("no tick before {time}"));
    }
    let spent = &state.spent;
    show::field(
        "spent",
        format!(
            "{}, {}s, {}",
            show::count(spent.ticks, "tick"),
            spent.wall_ms / 1000,
            spent.used.in_words()
        ),
    );
    if spent.by_role.len() > 1 {
        for (role, used) in &spent.by_role {
            let calls = show::count(used.calls, "call");
            show::field(
                "",
                format!("{}: {calls}, {}", role.as_str(), used.in_words()),
            );
        }
    }
    show::field("folder", setup.dir.root().display().to_string());
}

fn verdict(last: &LastVerdict) -> String {
    let Some(verdict) = &last.verdict else {
        return format!("the gate decided in tick {}; no judge was asked", last.tick);
    };
    let word = if verdict.pass { "pass" } else { "fail" };
    let score = verdict.score.get();
    let told = format!("{word}, score {score} in tick {}", last.tick);
    match verdict.reasons.is_empty() {
        true => told,
        false => format!("{told}: {}", verdict.reasons.join("; ")),
    }
}

fn tell_task(setup: &Setup, state: &State) {
    let Some(task) = &state.current_task else {
        show::field("task", "none");
        if let Some(done) = state.finished.last() {
            show::field("finished", &done.task);
            for line in work_lines(setup, Some(&done.task), done.worktree.as_ref()) {
                show::field("", line);
            }
        }
        return;
    };
    let phase = state.current_phase.as_deref().unwrap_or("no phase");
    show::field("task", format!("{task} in {phase}"));
    let progress = state.progress_of(task);
    let max = setup.rules().brakes.max_iterations;
    let max = max.map_or_else(|| "no limit".to_owned(), |max| max.to_string());
    let scores: Vec<_> = progress
        .scores
        .iter()
        .map(|score| score.get().to_string())
        .collect();
    let mut attempts = format!("{} of {max}", progress.iteration);
    if !scores.is_empty() {
        attempts = format!("{attempts}; failing scores: {}", scores.join(", "));
    }
    show::field("attempts", attempts);
    if !progress.hint.is_empty() {
        show::field("hint", &progress.hint);
    }
    if let Some(worktree) = &progress.worktree {
        show::field(
            "worktree",
            format!("{} on {}", worktree.path, worktree.branch),
        );
    }
}
