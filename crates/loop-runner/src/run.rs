//! The autonomous run: from `TASK.md` to a green gate without a person.
//!
//! It is no second engine. The loop `run` is driven by the same ticks as every
//! other, in the project itself, until one of them ends it (decision D-14): a
//! planner writes the gate, the gate has to be red and is frozen, and passes are
//! made until it is green or a brake says no.

mod begin;
mod changed;
mod config;
mod lock;
mod not_begun;
mod scribe;

pub use begin::{Begun, Foretold, RunOptions, begin, foretell};
pub use lock::RunLockError;
pub use not_begun::NotBegun;
pub use scribe::{STATE, agrees, is_as_read};

use crate::driver::{Ticked, tick};
use crate::interrupt::Interrupt;
use crate::watch::Watch;
use loop_core::answer::FileRef;
use loop_core::exit;
use loop_core::explain::{first_step, what_to_do};
use loop_core::outcome::{Halt, Outcome};
use loop_core::rules::Rules;
use loop_core::run::{Ending, RunOutcome, RunReport};
use loop_core::state::State;
use loop_core::step::Ended;
use scribe::Scribe;

/// The name of the loop, which no other may have.
pub const NAME: &str = "run";
/// The name of its task.
pub const TASK: &str = "run";

/// Why a run goes no further although nothing stops it: every acceptance line
/// has to be covered.
const STRICT: &str = "no check covers a line of \"Done when\" (--strict)";

/// Makes passes until the run ends, and returns its report.
pub fn run(begun: &Begun, interrupt: &Interrupt, watch: &mut dyn Watch) -> RunReport {
    let mut scribe = Scribe::new(begun, watch);
    loop {
        let ticked = tick(&begun.setup, interrupt, &mut scribe);
        scribe.note(&ticked);
        let uncovered = begun.strict && !scribe.file.uncovered.is_empty();
        if uncovered || is_over(&ticked.ended) {
            return end(begun, &mut scribe, &ticked, uncovered);
        }
    }
}

/// Makes one pass, and returns the report of it.
pub fn iterate(begun: &Begun, interrupt: &Interrupt, watch: &mut dyn Watch) -> RunReport {
    let mut scribe = Scribe::new(begun, watch);
    let ticked = tick(&begun.setup, interrupt, &mut scribe);
    scribe.note(&ticked);
    end(begun, &mut scribe, &ticked, false)
}

/// Whether nothing more is to be done: a plan and an attempt that failed inside
/// the brakes go on, and so does a first fault around the loop.
fn is_over(ended: &Ended) -> bool {
    match &ended.outcome {
        Outcome::Pass => ended.complete,
        Outcome::Fail(_) | Outcome::Blocked(_) | Outcome::VerifyError(_) => false,
        Outcome::Environment(_) => false,
        _ => true,
    }
}

fn end(begun: &Begun, scribe: &mut Scribe<'_>, ticked: &Ticked, uncovered: bool) -> RunReport {
    let ended = &ticked.ended;
    let fallback = State::new();
    let state = ticked.state.as_ref().unwrap_or(&fallback);
    let outcome = match (&ended.outcome, uncovered) {
        (_, true) => RunOutcome::Refused,
        // A pass that was only planned, or a red one of `iterate`, is no end.
        (Outcome::Pass, false) if !ended.complete => RunOutcome::Aborted,
        (outcome, false) => RunOutcome::of(outcome),
    };
    let estimated = Rules::of(&begun.setup.config)
        .implement
        .cost_per_call
        .is_some();
    let cost = state.known_cost().filter(|_| estimated);
    scribe.file.ending = Some(Ending {
        outcome,
        reason: match uncovered {
            true => Some(Halt::Refused.as_str().to_owned()),
            false => ended.outcome.reason().map(str::to_owned),
        },
        why: if uncovered {
            STRICT.to_owned()
        } else {
            ended.why.clone()
        },
        changed: changed::since_start(&begun.setup, baseline(state)),
        cost_usd: cost,
        cost_source: if cost.is_some() {
            "estimated"
        } else {
            "unknown"
        },
        next: next(&ended.outcome, uncovered),
        exit: match uncovered {
            true => exit::REFUSED,
            false => ended.outcome.exit_code(),
        },
    });
    scribe.write();
    // It was just given its ending.
    RunReport::of(&scribe.file).unwrap_or_else(|| unreachable!("the run has ended"))
}

fn baseline(state: &State) -> Option<FileRef> {
    let running = state.progress.get(TASK).and_then(|p| p.baseline.clone());
    running.or_else(|| state.baseline_of_finished(TASK))
}

/// Says what a person goes on with: a run has its own ways to.
fn next(outcome: &Outcome, uncovered: bool) -> Option<String> {
    if uncovered {
        return Some("write a check for each line, or run without --strict: loop run".to_owned());
    }
    match outcome {
        Outcome::Pass => Some("look at it: git diff; git status".to_owned()),
        Outcome::Fail(_) => Some("one more pass: loop iterate; all the way: loop run".to_owned()),
        Outcome::HumanIntervention(halt) => Some(match halt {
            Halt::Refused => "change TASK.md as the reason says, then: loop run".to_owned(),
            Halt::Tampered => {
                "look at what was changed, and put it back, then: loop run".to_owned()
            }
            Halt::MaxIterations | Halt::NoProgress => {
                "look at the gate's output; with a better TASK.md: loop run".to_owned()
            }
            halt if halt.exit_code() == exit::GATE => {
                "mend scripts/verify.sh or TASK.md, then: loop run".to_owned()
            }
            halt => format!("{}, then: loop run", first_step(*halt)),
        }),
        Outcome::Interrupted(_) => Some("go on with: loop iterate".to_owned()),
        other => what_to_do(other, NAME),
    }
}
