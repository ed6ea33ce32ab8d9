//! Why a loop stands where it stands, and what to do: a line each, whatever it is.

use loop_core::explain::{what_to_do, what_to_do_in};
use loop_core::outcome::{Outcome, Skip};
use loop_core::state::{State, Status};
use loop_runner::store::Snapshot;

/// Where a loop stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) why: String,
    /// What to do; there always is something.
    pub(super) what: String,
}

/// Explains the loop called `name`.
pub(super) fn of(name: &str, snapshot: &Snapshot) -> Standing {
    let state = &snapshot.state;
    let standing = |why: String, what: Option<String>| Standing {
        why,
        what: what.unwrap_or_else(|| format!("go on with: loop tick {name}, or loop start {name}")),
    };
    if let (Status::HumanIntervention, Some(halt)) = (state.status, state.reason) {
        let why = state.why.clone().unwrap_or_else(|| halt.to_string());
        let also = if state.paused {
            "; it is paused, too"
        } else {
            ""
        };
        let what = what_to_do_in(&Outcome::HumanIntervention(halt), state, name);
        return standing(
            format!("{why}{also}"),
            what.map(|what| resumed(what, state, name)),
        );
    }
    if let Some(running) = snapshot.running() {
        let tick = state.in_progress.unwrap_or(state.tick);
        let why = format!("tick {tick} is running: {}", running.step);
        return standing(
            why,
            Some(format!("nothing; see it with: loop log {name} --follow")),
        );
    }
    if state.paused {
        let what = what_to_do(&Outcome::Skipped(Skip::Paused), name);
        return standing("a person has paused it".to_owned(), what);
    }
    if state.status == Status::Complete {
        let task = state.finished.last().map_or("its task", |done| &done.task);
        let what = format!("look at the work: loop diff {name}");
        return standing(format!("{task} is complete"), Some(what));
    }
    if let Some(time) = state.not_before {
        let what = format!("nothing; loop start {name} waits until then");
        return standing(format!("no tick before {time}"), Some(what));
    }
    match &state.last_outcome {
        // What it waited for was approved since.
        Some(outcome @ (Outcome::HumanIntervention(_) | Outcome::Parked(_)))
            if state.parked.is_empty() =>
        {
            let why = format!("tick {} ended as {outcome}, and was approved", state.tick);
            standing(why, None)
        }
        Some(outcome) => {
            let why = format!("tick {} ended as {outcome}", state.tick);
            standing(why, what_to_do(outcome, name))
        }
        None => standing("no tick was made yet".to_owned(), None),
    }
}

/// Approving ends no pause.
fn resumed(what: String, state: &State, name: &str) -> String {
    if state.paused {
        format!("{what}; then: loop resume {name}")
    } else {
        what
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_core::outcome::{EnvironmentFault, Failure, Halt};
    use loop_core::state::Finished;

    fn explained(change: impl FnOnce(&mut State)) -> (String, String) {
        let mut state = State::new();
        change(&mut state);
        let snapshot = Snapshot {
            state,
            seq: 0,
            end: 0,
        };
        let standing = of("L", &snapshot);
        (standing.why, standing.what)
    }

    #[test]
    fn every_standing_has_a_reason_and_something_to_do() {
        let go_on = "go on with: loop tick L, or loop start L";
        let said = |why: &str, what: &str| (why.to_owned(), what.to_owned());
        assert_eq!(explained(|_| {}), said("no tick was made yet", go_on));
        let failed = explained(|state| {
            state.tick = 3;
            state.last_outcome = Some(Outcome::Fail(Failure::Verdict));
        });
        assert_eq!(failed, said("tick 3 ended as fail (verdict)", go_on));
        let offline = explained(|state| {
            state.last_outcome = Some(Outcome::Environment(EnvironmentFault::Offline));
        });
        assert_eq!(offline.1, "connect the machine");
        let paused = explained(|state| state.paused = true);
        assert_eq!(
            paused,
            said("a person has paused it", "go on with: loop resume L")
        );
        let halted = |paused| {
            explained(|state| {
                state.paused = paused;
                state.status = Status::HumanIntervention;
                state.reason = Some(Halt::LowScore);
                state.why = Some("0.2 is too low".to_owned());
            })
        };
        assert_eq!(halted(false).0, "0.2 is too low");
        assert!(halted(false).1.ends_with("then: loop approve L"));
        assert!(halted(true).0.ends_with("it is paused, too"));
        assert!(
            halted(true)
                .1
                .ends_with("loop approve L; then: loop resume L")
        );
        let done = explained(|state| {
            state.status = Status::Complete;
            state.finished.push(Finished {
                task: "t".to_owned(),
                tick: None,
                worktree: None,
                baseline: None,
                gate: None,
            });
        });
        assert_eq!(done, said("t is complete", "look at the work: loop diff L"));
    }
}
