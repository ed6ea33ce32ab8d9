//! One loop, as far as it can be read.

use crate::context::Context;
use crate::failure::Failure;
use loop_core::config::Config;
use loop_core::explain::what_to_do_in;
use loop_core::outcome::{Outcome, Skip};
use loop_core::state::{Running, State, Status};
use loop_core::time::Timestamp;
use loop_runner::schedule::{Host, next_fire as next_of_timer};
use loop_runner::setup::{Setup, read_config};
use loop_runner::store::{LoopDir, read_state};
use loop_runner::trust;
use serde_json::{Value, json};

/// A loop of the list.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) read: Result<Facts, Failure>,
}

/// What is known of a loop.
pub(super) struct Facts {
    pub(super) state: State,
    pub(super) running: Option<Running>,
    /// Whether this user has agreed to what it starts.
    pub(super) trusted: bool,
    pub(super) max_iterations: Option<u32>,
    pub(super) next_fire: Option<Timestamp>,
}

impl Row {
    /// Reads the loop called `name`. Its repository is left alone, so that a
    /// thousand loops are listed as fast as their files are read.
    pub(super) fn read(context: &Context, name: String) -> Self {
        let read = facts(context, &name);
        Self { name, read }
    }

    /// Says why it waits for a person and what to do, if it does. A loop that
    /// cannot be read does as well.
    pub(super) fn waits(&self) -> Option<Waits> {
        let facts = match &self.read {
            Ok(facts) => facts,
            Err(failure) => {
                return Some(Waits {
                    word: "broken".to_owned(),
                    why: failure.to_string(),
                    what: format!("mend it; loop validate {} checks it", self.name),
                });
            }
        };
        let state = &facts.state;
        if !facts.trusted {
            return Some(Waits {
                word: "untrusted".to_owned(),
                why: "what it starts was not agreed to on this machine".to_owned(),
                what: format!("read its loop.json, then: loop trust {}", self.name),
            });
        }
        let mut parked = state.parked.iter();
        let aside = match (parked.next(), parked.len()) {
            (None, _) => None,
            (Some((task, reason)), 0) => Some(format!("{task} is put aside ({reason})")),
            (Some((task, reason)), more) => {
                Some(format!("{task} ({reason}) and {more} more are put aside"))
            }
        };
        let (word, why, outcome) = match (state.status, state.paused, aside) {
            (Status::HumanIntervention, _, _) => {
                let halt = state.reason?;
                let why = state.why.clone().unwrap_or_else(|| halt.to_string());
                (halt.as_str(), why, Outcome::HumanIntervention(halt))
            }
            (_, true, _) => {
                let why = "it is paused".to_owned();
                ("paused", why, Outcome::Skipped(Skip::Paused))
            }
            (_, false, Some(aside)) => ("put aside", aside, Outcome::Done { parked: true }),
            (_, false, None) => return None,
        };
        Some(Waits {
            word: word.to_owned(),
            why,
            what: what_to_do_in(&outcome, state, &self.name).unwrap_or_default(),
        })
    }

    /// Tells of it to programs.
    pub(super) fn json(&self) -> Value {
        let facts = match &self.read {
            Ok(facts) => facts,
            Err(failure) => {
                let error = failure.to_string();
                return json!({"name": self.name, "status": "broken", "error": error});
            }
        };
        let state = &facts.state;
        json!({
            "name": self.name,
            "status": state.status,
            "paused": state.paused,
            "trusted": facts.trusted,
            "reason": state.reason,
            "current_task": state.current_task,
            "current_phase": state.current_phase,
            "iteration": iteration(state),
            "max_iterations": facts.max_iterations,
            "last_score": last_score(state),
            "cost_usd": state.known_cost(),
            "running": facts.running.map(|running| json!({
                "tick": state.in_progress,
                "step": running.step,
                "since": running.since,
                "pid": running.pid,
            })),
            "parked": parked(state),
            "next_fire": facts.next_fire,
            "updated_at": state.updated_at,
        })
    }
}

/// Why a loop waits for a person.
pub(super) struct Waits {
    /// The reason in a word.
    pub(super) word: String,
    pub(super) why: String,
    /// What to do.
    pub(super) what: String,
}

fn facts(context: &Context, name: &str) -> Result<Facts, Failure> {
    let project = &context.around.project;
    let config = read_config(project, name)?;
    let snapshot = read_state(&LoopDir::new(project.loop_dir(name)))?;
    let running = snapshot.running();
    Ok(Facts {
        running,
        trusted: trust::holds(&context.around, name, &config),
        max_iterations: config.brakes().max_iterations(),
        next_fire: next_fire(context, name, &config, &snapshot.state),
        state: snapshot.state,
    })
}

/// Returns when its timer fires next, where that can be told; a time before which
/// no tick is made comes first.
fn next_fire(context: &Context, name: &str, config: &Config, state: &State) -> Option<Timestamp> {
    let now = context.around.clock.now();
    let not_before = state.not_before.filter(|time| *time > now);
    // Only what has a timer has to be read whole.
    config.schedule()?;
    let setup = Setup::read(&context.around, name).ok()?;
    let fires = next_of_timer(&setup, &Host::look(&context.around.environment))?;
    Some(not_before.map_or(fires, |time| time.max(fires)))
}

/// Returns the word that says where a loop stands.
pub(crate) fn status(state: &State) -> &'static str {
    match (state.status, state.paused) {
        (Status::HumanIntervention, _) => "waiting",
        (Status::Complete, _) => "complete",
        (Status::Active, true) => "paused",
        (Status::Active, false) => "active",
    }
}

/// Returns the attempts that are spent on the current task.
pub(super) fn iteration(state: &State) -> u32 {
    let task = state.current_task.as_deref();
    task.map_or(0, |task| state.progress_of(task).iteration)
}

pub(super) fn last_score(state: &State) -> Option<f64> {
    let score = state.last_verdict.as_ref()?.score()?;
    Some(score.get())
}

/// Lists the tasks that the loop has put aside.
fn parked(state: &State) -> Vec<Value> {
    let parked = state.parked.iter();
    parked
        .map(|(task, reason)| {
            let why = state.progress_of(task).parked_why;
            json!({"task": task, "reason": reason, "why": why})
        })
        .collect()
}
