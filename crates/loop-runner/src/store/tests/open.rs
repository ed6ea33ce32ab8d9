//! What opening does with the tick that an earlier process left.

use super::rig::{ENGINE, Rig, perform, rules};
use crate::clock::{Clock, FixedClock};
use crate::store::{AttemptAlive, Held, OpenError};
use loop_core::Step;
use loop_core::control::Request;
use loop_core::outcome::{Error, Halt, Interruption, Outcome};
use loop_core::record::Body;
use loop_core::time::Timestamp;
use std::cell::Cell;
use std::sync::Arc;

/// Leaves a tick at a step, begun or not.
fn left_at(step: Step, begun: bool) -> Rig {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    while held.machine().action().unwrap().step() != step {
        perform(&mut held, 0);
    }
    if begun {
        held.begin().unwrap();
    }
    rig
}

/// Opens a loop; returns it, and whether what was left of a step was ended.
fn open(rig: &Rig, engine: &str) -> (Held, bool) {
    let asked = Cell::new(false);
    let held = Held::open(&rig.dir, engine, rig.clock(), || {
        asked.set(true);
        Ok(())
    });
    (held.unwrap(), asked.get())
}

fn asked_for(held: &Held) -> Option<Step> {
    held.machine().action().map(|action| action.step())
}

fn outcome(held: &Held) -> Option<Outcome> {
    held.machine().ended().map(|ended| ended.outcome.clone())
}

const CRASH: Outcome = Outcome::Interrupted(Interruption::Crash);

// rows: L-07, L-09
// cases: 55
#[test]
fn a_step_that_was_begun_and_has_no_answer_counts_as_interrupted() {
    for (step, iteration) in [(Step::Worktree, 0), (Step::Implement, 1), (Step::Verify, 1)] {
        let rig = left_at(step, true);
        let (held, asked) = open(&rig, ENGINE);
        assert!(asked, "{step}");
        assert_eq!(
            (asked_for(&held), outcome(&held)),
            (None, Some(CRASH)),
            "{step}"
        );
        assert!(!held.found_open(), "{step}");
        let state = held.machine().state();
        assert_eq!(state.progress_of("t1").iteration, iteration, "{step}");
        assert!(matches!(
            rig.records().last().unwrap().body,
            Body::Closed(_)
        ));
    }
}

/// Leaves implement begun, lets `seconds` pass, and opens the loop again.
fn killed_in_implement(rig: &mut Rig, seconds: i64) -> Held {
    let mut held = rig.open();
    let mut rules = rules();
    rules.brakes.max_iterations = None;
    rules.brakes.max_wall_ms = Some(3_000_000);
    held.start(rules).unwrap();
    while asked_for(&held).is_some_and(|step| step != Step::Implement) {
        perform(&mut held, 0);
    }
    if held.machine().action().is_some() {
        held.begin().unwrap();
    }
    drop(held);
    let now = rig.clock.now().unix_millis() + seconds * 1_000;
    rig.clock = Arc::new(FixedClock::new(Timestamp::from_unix_millis(now)));
    open(rig, ENGINE).0
}

// rows: L-09
// cases: 55
#[test]
fn a_step_that_a_crash_cut_off_is_charged_the_time_it_may_have_run() {
    let (timeout, grace) = (1_800_000, 5_000);
    for (seconds, charged) in [
        (90, 90_000),
        (0, 0),
        (-90, 0),
        (86_400, timeout + grace),
        (1_805, timeout + grace),
    ] {
        let mut rig = Rig::new();
        let held = killed_in_implement(&mut rig, seconds);
        let state = held.machine().state();
        // The rig's worktree took a second.
        let charged = charged + 1_000;
        assert_eq!(state.progress_of("t1").wall_ms, charged, "{seconds}");
        assert_eq!(state.spent.wall_ms, charged, "{seconds}");
    }
}

// cases: 55
#[test]
fn the_cap_on_running_time_stops_a_loop_whose_engine_dies_in_each_tick() {
    let mut rig = Rig::new();
    for _ in 0..4 {
        drop(killed_in_implement(&mut rig, 1_000));
    }
    let state = rig.open().machine().state().clone();
    assert_eq!(state.reason, Some(Halt::MaxWall));
}

// cases: 55
#[test]
fn after_the_verdict_an_interrupted_tick_goes_on() {
    let rig = left_at(Step::Orchestrate, true);
    let (mut held, asked) = open(&rig, ENGINE);
    assert!(asked);
    assert_eq!(
        asked_for(&held),
        Some(Step::Advance),
        "the pass is not lost"
    );
    assert!(held.found_open());
    while perform(&mut held, 0) {}
    assert_eq!(outcome(&held), Some(Outcome::Pass));
}

// cases: 55
#[test]
fn a_move_that_was_begun_is_made_again_under_its_fence() {
    let rig = left_at(Step::Advance, true);
    let before = rig.log();
    let (mut held, _) = open(&rig, ENGINE);
    assert_eq!(asked_for(&held), Some(Step::Advance));
    held.begin().unwrap();
    assert_eq!(rig.log(), before, "nothing is written twice");
    while perform(&mut held, 0) {}
    assert_eq!(outcome(&held), Some(Outcome::Pass));
}

// cases: 55
#[test]
fn a_tick_between_two_steps_goes_on_and_nothing_is_repeated() {
    for step in [
        Step::Worktree,
        Step::Implement,
        Step::Verify,
        Step::Report,
        Step::Orchestrate,
        Step::Advance,
        Step::Close,
    ] {
        let rig = left_at(step, false);
        let before = rig.log();
        let (mut held, asked) = open(&rig, ENGINE);
        assert!(!asked, "{step}: nothing can be alive");
        assert_eq!(asked_for(&held), Some(step));
        assert!(held.found_open());
        assert_eq!(rig.log(), before, "{step}");
        while perform(&mut held, 0) {}
        assert_eq!(outcome(&held), Some(Outcome::Pass), "{step}");
        assert_eq!(held.machine().state().progress_of("t1").iteration, 0);
    }
}

// rows: B-13
#[test]
fn a_stop_that_was_recorded_before_the_crash_is_the_reason() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    while asked_for(&held) != Some(Step::Implement) {
        perform(&mut held, 0);
    }
    held.begin().unwrap();
    rig.submit("s", Request::Stop);
    held.drain().unwrap();
    drop(held);
    let (held, _) = open(&rig, ENGINE);
    let stopped = Outcome::Interrupted(Interruption::Stop);
    assert_eq!(outcome(&held), Some(stopped));
    assert!(held.machine().state().paused);
}

// cases: 80
#[test]
fn an_attempt_that_is_alive_keeps_the_loop_as_it_is() {
    let rig = left_at(Step::Implement, true);
    let before = rig.files();
    let error = Held::open(&rig.dir, ENGINE, rig.clock(), || {
        Err(AttemptAlive {
            why: "an earlier attempt is alive, pid 4711".to_owned(),
        })
    })
    .unwrap_err();
    assert!(matches!(error, OpenError::AttemptAlive(_)));
    assert_eq!(error.to_string(), "an earlier attempt is alive, pid 4711");
    assert_eq!(error.outcome(), Outcome::Error(Error::AttemptAlive));
    assert_eq!(rig.files(), before);
    assert!(open(&rig, ENGINE).1, "the next one tries again");
}

// cases: 156
#[test]
fn a_folder_that_is_missing_is_an_early_clear_error() {
    let rig = Rig::new();
    std::fs::remove_dir(rig.dir.root()).unwrap();
    let error = rig.try_open().unwrap_err();
    assert_eq!(error.outcome(), Outcome::Error(Error::Disk));
    assert!(error.to_string().starts_with("cannot open "), "{error}");
}
