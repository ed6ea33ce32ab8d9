//! Commands: with nobody driving the loop, and with somebody.

use super::rig::{ENGINE, Rig, control, perform, rules, whole_tick};
use crate::store::request::request_within;
use crate::store::{Answered, AttemptAlive, Held, HeldError, OpenError, RequestError};
use loop_core::control::Request;
use loop_core::state::Status;
use loop_core::step::Action;
use loop_core::{Machine, Step};
use std::time::Duration;

/// Long enough for anybody who looks at all.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(60);

fn no_move(_held: &mut Held) -> Result<(), HeldError> {
    panic!("nothing is owed")
}

fn ask(
    rig: &Rig,
    patience: Duration,
    id: &str,
    request: Request,
    owed: impl FnMut(&mut Held) -> Result<(), HeldError>,
) -> Result<Answered, RequestError> {
    let control = control(id, request);
    request_within(
        patience,
        &rig.dir,
        &control,
        ENGINE,
        rig.clock(),
        || Ok(()),
        owed,
    )
}

fn said(answered: Answered) -> String {
    match answered {
        Answered::Done(requested) => requested.said,
        Answered::Recorded { .. } => panic!("{answered:?}"),
    }
}

// rows: B-13
// cases: 117
#[test]
fn between_two_ticks_a_command_is_done_at_once() {
    let rig = Rig::new();
    let pause = ask(&rig, LONG, "p", Request::Pause, no_move).unwrap();
    assert_eq!(said(pause), "paused");
    let again = ask(&rig, LONG, "q", Request::Pause, no_move).unwrap();
    assert_eq!(said(again), "it was paused already");
    let approve = ask(&rig, LONG, "a", Request::Approve { task: None }, no_move).unwrap();
    assert_eq!(
        said(approve),
        "it waits for nothing but the end of its pause: loop resume"
    );
    let twice = ask(&rig, LONG, "p", Request::Pause, no_move).unwrap();
    assert_eq!(said(twice), "paused", "the first answer stands");
    assert_eq!(rig.records().len(), 3);
}

// rows: B-13
#[test]
fn a_command_is_answered_behind_a_flood_of_others() {
    let rig = Rig::new();
    std::fs::create_dir(rig.dir.control()).unwrap();
    for number in 0..600 {
        let path = rig.dir.control().join(format!("0-{number}.json"));
        std::fs::write(path, "?").unwrap();
    }
    let pause = ask(&rig, LONG, "p", Request::Pause, no_move).unwrap();
    assert_eq!(said(pause), "paused");
}

// rows: B-14
#[test]
fn an_approval_makes_the_awaited_move() {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);
    whole_tick(&mut held);
    drop(held);
    let mut moves = Vec::new();
    let approve = ask(&rig, LONG, "a", Request::Approve { task: None }, |held| {
        moves.extend(held.machine().action());
        perform(held, 0);
        Ok(())
    });
    assert_eq!(
        said(approve.unwrap()),
        "approved; t1 goes on to `implement`"
    );
    let [Action::Advance(advance)] = moves.as_slice() else {
        panic!("{moves:?}");
    };
    assert_eq!(
        (advance.from.as_str(), advance.to.as_str()),
        ("spec", "implement")
    );
    let held = rig.open();
    assert_eq!(held.machine().state().status, Status::Active);
    assert_eq!(
        held.machine().state().current_phase.as_deref(),
        Some("implement")
    );
}

/// A move that nobody makes is not asked for again and again.
#[test]
fn a_move_that_is_not_made_stays_owed() {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);
    whole_tick(&mut held);
    drop(held);
    let mut asked = 0;
    let approve = ask(&rig, LONG, "a", Request::Approve { task: None }, |_| {
        asked += 1;
        assert!(asked < 5, "it is asked for again and again");
        Ok(())
    });
    assert!(approve.is_ok());
    assert_eq!(asked, 1);
    let owed = rig.open().machine().action().map(|action| action.step());
    assert_eq!(owed, Some(Step::Advance));
}

// rows: B-13
// cases: 111
#[test]
fn a_running_tick_that_looks_answers_the_command() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    let answered = std::thread::scope(|scope| {
        let command = scope.spawn(|| ask(&rig, LONG, "s", Request::Stop, no_move).unwrap());
        while !command.is_finished() {
            held.drain().unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
        command.join().unwrap()
    });
    assert_eq!(said(answered), "paused; nothing was running");
}

// cases: 111
#[test]
fn a_running_tick_that_does_not_look_yet_has_the_command_on_disk() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    while held.machine().action().unwrap().step() != Step::Implement {
        perform(&mut held, 0);
    }
    held.begin().unwrap();
    let answered = ask(&rig, SHORT, "p", Request::Pause, no_move).unwrap();
    let Answered::Recorded { tick, step, since } = answered else {
        panic!("{answered:?}");
    };
    assert_eq!((tick, step), (Some(1), Some(Step::Implement)));
    assert_eq!(since.unwrap().to_string(), "2026-11-30T23:10:04.123Z");
    assert_eq!(held.drain().unwrap().len(), 1, "none is lost");
}

#[test]
fn a_command_closes_a_tick_that_a_crash_left_but_starts_no_agent() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    for _ in 0..3 {
        perform(&mut held, 0);
    }
    drop(held);
    ask(&rig, LONG, "p", Request::Pause, no_move).unwrap();
    let held = rig.open();
    assert!(held.found_open(), "the next step was not begun: it waits");
    let step = held.machine().action().map(|action| action.step());
    assert_eq!(step, Some(Step::Implement));
    assert!(!Machine::begun(held.machine()));
}

#[test]
fn an_attempt_that_is_alive_leaves_the_request_waiting() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    perform(&mut held, 0);
    perform(&mut held, 0);
    held.begin().unwrap();
    drop(held);
    let before = rig.log();
    let pause = control("p", Request::Pause);
    let alive = || {
        Err(AttemptAlive {
            why: "an earlier attempt is alive, pid 4711".to_owned(),
        })
    };
    let result = request_within(LONG, &rig.dir, &pause, ENGINE, rig.clock(), alive, no_move);
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "an earlier attempt is alive, pid 4711");
    assert!(matches!(
        error,
        RequestError::Open(OpenError::AttemptAlive(_))
    ));
    assert_eq!(rig.log(), before);
    assert_eq!(rig.control_files().len(), 1);
}
