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
pub(crate) use scribe::{disagreement, is_as_read};

use crate::driver::{Ticked, tick};
use crate::interrupt::Interrupt;
use crate::notify::{self, Background};
use crate::store::read_state;
use crate::watch::Watch;
use loop_core::answer::FileRef;
use loop_core::exit;
use loop_core::explain::{first_step, what_to_do};
use loop_core::outcome::{Halt, Interruption, Outcome, Skip};
use loop_core::report::cost_of;
use loop_core::run::{Ending, RunOutcome, RunReport};
use loop_core::state::State;
use loop_core::step::Ended;
use scribe::Scribe;
use std::thread::sleep;
use std::time::Duration;

/// The name of the loop, which no other may have.
pub const NAME: &str = "run";
/// The name of its task.
pub const TASK: &str = "run";

/// Between two looks at a loop that somebody else drives.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Makes passes until the run ends, and returns its report.
pub fn run(begun: &Begun, interrupt: &Interrupt, watch: &mut dyn Watch) -> RunReport {
    let mut scribe = Scribe::new(begun, watch);
    let mut telling = Background::default();
    loop {
        let ticked = tick(&begun.setup, interrupt, &mut scribe);
        let is_locked = ticked.ended.outcome == Outcome::Skipped(Skip::Locked);
        if is_locked && interrupt.asked() == 0 {
            // Somebody else's tick of this loop; it will be over.
            sleep(BETWEEN_LOOKS);
            continue;
        }
        scribe.note(&ticked);
        let is_over = is_over(&ticked.ended);
        let report = is_over.then(|| end(begun, &mut scribe, &ticked));
        telling.tell(&begun.setup, &ticked.notices, interrupt);
        if let Some(report) = report {
            telling.finish(&begun.setup, &mut scribe);
            return report;
        }
        wait_for_service(begun, &ticked, interrupt);
    }
}

/// Waits until a harness that was refused is back, which its service or the engine
/// has set a time for. A signal and a person's word end the wait.
fn wait_for_service(begun: &Begun, ticked: &Ticked, interrupt: &Interrupt) {
    let Some(until) = ticked.state.as_ref().and_then(|state| state.not_before) else {
        return;
    };
    let setup = &begun.setup;
    while interrupt.asked() == 0 && setup.clock.now() < until {
        sleep(BETWEEN_LOOKS);
        let told = read_state(&setup.dir).is_ok_and(|snapshot| {
            snapshot.state.paused || snapshot.state.not_before != Some(until)
        });
        if told {
            return;
        }
    }
}

/// Makes one pass, and returns the report of it.
pub fn iterate(begun: &Begun, interrupt: &Interrupt, watch: &mut dyn Watch) -> RunReport {
    let mut scribe = Scribe::new(begun, watch);
    let ticked = tick(&begun.setup, interrupt, &mut scribe);
    scribe.note(&ticked);
    let report = end(begun, &mut scribe, &ticked);
    notify::tell(&begun.setup, &ticked.notices, interrupt, &mut scribe);
    report
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

fn end(begun: &Begun, scribe: &mut Scribe<'_>, ticked: &Ticked) -> RunReport {
    let ended = &ticked.ended;
    let fallback = State::new();
    let state = ticked.state.as_ref().unwrap_or(&fallback);
    let outcome = match &ended.outcome {
        // A pass that was only planned, or a red one of `iterate`, is no end.
        Outcome::Pass if !ended.complete => RunOutcome::Aborted,
        outcome => RunOutcome::of(outcome),
    };
    let used = state.spent.used.since(&begun.state.spent.used);
    let (cost, source) = cost_of(&used, Some(&begun.setup.rules()));
    scribe.file.ending = Some(Ending {
        outcome,
        reason: ended.outcome.reason().map(str::to_owned),
        why: ended.why.clone(),
        changed: changed::since_start(&begun.setup, baseline(state)),
        cost_usd: cost,
        cost_source: source.as_str(),
        next: next(&ended.outcome, scribe.file.plan.is_some()),
        exit: ended.outcome.exit_code(),
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
fn next(outcome: &Outcome, planned: bool) -> Option<String> {
    let next = match outcome {
        Outcome::Pass => "look at it: git diff; git status",
        Outcome::Fail(_) => "one more pass: loop iterate; all the way: loop run",
        Outcome::HumanIntervention(halt) | Outcome::Skipped(Skip::HumanIntervention(halt)) => {
            return Some(after(*halt));
        }
        Outcome::Interrupted(Interruption::Stop) => "go on with: loop resume run; loop iterate",
        Outcome::Interrupted(_) if planned => "go on with: loop iterate",
        Outcome::Interrupted(_) => "start again: loop run",
        other => return what_to_do(other, NAME),
    };
    Some(next.to_owned())
}

fn after(halt: Halt) -> String {
    let next = match halt {
        Halt::Refused => "change the task as the reason says, then: loop run",
        Halt::Tampered => "look at what was changed, and put it back, then: loop run",
        Halt::MaxIterations | Halt::NoProgress => {
            "look at the gate's output; with a better task: loop run"
        }
        Halt::ApprovalRequired => "look at the work, then: loop approve run",
        Halt::OutsideChanged => {
            "put back what the reason names, then: loop run; if it was you: loop approve run, then: \
             loop iterate"
        }
        halt if halt.exit_code() == exit::GATE => "mend the gate or the task, then: loop run",
        halt => return format!("{}, then: loop run", first_step(halt)),
    };
    next.to_owned()
}
