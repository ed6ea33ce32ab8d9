//! A day's work of the foreground driver, in no time.

mod fake;

use fake::{Fake, skipped, ticked};
use loop_core::exit;
use loop_core::outcome::{Failure, Halt, Interruption, Outcome, Skip};
use loop_core::state::{State, Status};
use serde_json::json;
use std::num::NonZeroUsize;

const HOUR: u64 = 3_600_000;
const FAIL: Outcome = Outcome::Fail(Failure::Verdict);

fn hourly() -> serde_json::Value {
    json!({"schedule": {"interval_seconds": 3600}, "blast_radius": {"use_worktree": true}})
}

fn in_worktrees() -> serde_json::Value {
    json!({"blast_radius": {"use_worktree": true}})
}

fn no_work() -> super::Ticked {
    skipped(Outcome::Skipped(Skip::NoWork), |_| {})
}

// rows: L-10, U-30
#[test]
fn a_thousand_idle_loops_cost_next_to_nothing() {
    let fake = Fake::new(1000, hourly(), HOUR - 1000, |_, _| (5, no_work()));
    let (finished, told) = fake.drive(|_| {});
    let facts = fake.0.borrow();
    assert_eq!(facts.begun.len(), 1000, "one tick each");
    assert_eq!(facts.most_ticking, 2);
    // A rest for each tick with the end of its messages, and one in two seconds.
    assert!(facts.rests < 2 * 1000 + 2 * 3600, "{} rests", facts.rests);
    assert!(facts.marks <= 500 * 3600 + 1000, "{} looks", facts.marks);
    // When it is taken in, and about its tick: none while it rests.
    assert!(facts.reads <= 3 * 1000, "{} reads", facts.reads);
    assert_eq!(finished.exit_code(), exit::INTERRUPTED);
    let ticked = told.iter().filter(|line| line.contains("ticked"));
    assert_eq!(ticked.count(), 1000);
}

// rows: L-10
#[test]
fn an_idle_loop_ticks_at_its_interval_and_tells_the_same_reason_once() {
    let fake = Fake::new(1, hourly(), 5 * HOUR + 1, |_, _| (1000, no_work()));
    let (_, told) = fake.drive(|_| {});
    assert_eq!(fake.begun(0), [0, 1, 2, 3, 4, 5].map(|hour| hour * HOUR));
    assert_eq!(
        told,
        [
            "l0 ticked skipped (no_work)",
            "l0 over interrupted (signal)"
        ]
    );
}

// cases: 139, 143
#[test]
fn missed_fires_are_made_up_for_by_one_tick() {
    // A tick that is longer than the interval.
    let fake = Fake::new(1, hourly(), 5 * HOUR, |_, nth| match nth {
        0 => (HOUR + HOUR / 2, ticked(FAIL)),
        _ => (1, ticked(FAIL)),
    });
    fake.drive(|_| {});
    assert_eq!(fake.begun(0), [0, 2, 3, 4].map(|hour| hour * HOUR));
    // A machine that slept for nine hours and a half.
    let fake = Fake::new(1, hourly(), 2 * HOUR, |_, _| (1, ticked(FAIL)));
    let slept = i64::try_from(9 * HOUR + HOUR / 2).unwrap();
    fake.0.borrow_mut().jump = Some((1000, slept));
    fake.drive(|_| {});
    assert_eq!(fake.begun(0), [0, 1000, HOUR / 2, HOUR + HOUR / 2]);
}

#[test]
fn a_clock_that_was_set_back_puts_no_tick_off() {
    let fake = Fake::new(1, hourly(), 2 * HOUR, |_, _| (1, ticked(FAIL)));
    fake.0.borrow_mut().jump = Some((1000, -i64::try_from(48 * HOUR).unwrap()));
    fake.drive(|_| {});
    let begun = fake.begun(0);
    assert_eq!(begun[0], 0);
    assert!(begun[1] <= HOUR + 2000, "{begun:?}");
}

#[test]
fn without_a_schedule_it_goes_on_at_once_until_it_is_done() {
    let fake = Fake::new(1, json!({}), HOUR, |_, nth| {
        let mut made = ticked(if nth < 2 { FAIL } else { Outcome::Pass });
        made.ended.complete = nth == 2;
        (10, made)
    });
    let (finished, told) = fake.drive(|_| {});
    assert_eq!(fake.begun(0), [0, 10, 20]);
    assert_eq!(told.last().unwrap(), "l0 over done");
    assert_eq!(finished.loops[0].1.ticks, 3);
    assert_eq!(finished.exit_code(), exit::DONE);
}

#[test]
fn a_number_of_ticks_is_all_that_it_gets() {
    let fake = Fake::new(1, json!({}), HOUR, |_, _| (10, ticked(FAIL)));
    let (finished, _) = fake.drive(|options| options.max_ticks = Some(4));
    assert_eq!(fake.begun(0).len(), 4);
    assert_eq!(finished.exit_code(), exit::NOT_YET);
}

// rows: U-28
#[test]
fn after_a_signal_only_the_running_ticks_are_waited_for_and_nothing_spins() {
    let fake = Fake::new(3, in_worktrees(), 10_500, |_, _| {
        let signal = Outcome::Interrupted(Interruption::Signal);
        (15_000, ticked(signal))
    });
    let (finished, told) = fake.drive(|_| {});
    let facts = fake.0.borrow();
    assert_eq!(facts.begun.len(), 2);
    assert!(facts.rests < 50, "{} rests", facts.rests);
    assert_eq!(finished.exit_code(), exit::INTERRUPTED);
    let ticks = finished.loops.iter().map(|(_, ending)| ending.ticks);
    assert_eq!(ticks.collect::<Vec<_>>(), [1, 1, 0], "{told:?}");
}

// rows: B-13, C-12
#[test]
fn a_paused_loop_goes_on_within_two_seconds_of_its_resume() {
    let fake = Fake::new(1, json!({}), HOUR, |_, _| (1, ticked(FAIL)));
    fake.change(0, 0, |state| state.paused = true);
    fake.change(0, 60_500, |state| state.paused = false);
    let (_, told) = fake.drive(|options| options.max_ticks = Some(1));
    let begun = fake.begun(0);
    assert!((60_500..=62_500).contains(&begun[0]), "{begun:?}");
    assert_eq!(told[0], "l0 waits Resume");
    assert_eq!(told.iter().filter(|line| line.contains("waits")).count(), 1);
}

// rows: U-28
#[test]
fn a_stop_between_two_ticks_ends_it_and_a_pause_does_not() {
    for (stops, code) in [(true, exit::INTERRUPTED), (false, exit::INTERRUPTED)] {
        let fake = Fake::new(1, hourly(), 2 * HOUR, |_, _| (1, ticked(FAIL)));
        fake.0.borrow_mut().stops = stops;
        fake.change(0, 60_000, |state| state.paused = true);
        let (finished, told) = fake.drive(|_| {});
        assert_eq!(finished.interrupted, !stops, "{told:?}");
        assert_eq!(finished.exit_code(), code);
        let by = if stops {
            Interruption::Stop
        } else {
            Interruption::Signal
        };
        assert_eq!(finished.loops[0].1.outcome, Outcome::Interrupted(by));
        assert_eq!(told.iter().any(|line| line == "l0 waits Resume"), !stops);
    }
}

// rows: C-13
#[test]
fn what_waits_for_a_person_ends_alone_and_is_kept_beside_others() {
    let halted = |state: &mut State| {
        state.status = Status::HumanIntervention;
        state.reason = Some(Halt::LowScore);
    };
    let tick = |loop_, nth| match (loop_, nth) {
        (0, 0) => (1, ticked(Outcome::HumanIntervention(Halt::LowScore))),
        (0, _) => (1, no_work()),
        (_, nth) if nth < 20 => (10_000, ticked(FAIL)),
        _ => (1, no_work()),
    };
    let alone = Fake::new(1, in_worktrees(), HOUR, tick);
    let (finished, _) = alone.drive(|_| {});
    assert_eq!(finished.exit_code(), exit::PERSON);
    assert_eq!(alone.begun(0).len(), 1);

    let beside = Fake::new(2, in_worktrees(), HOUR, tick);
    beside.change(0, 0, halted);
    beside.change(0, 60_000, |_| {});
    beside.0.borrow_mut().changes[0].remove(&0);
    beside.change(0, 2, halted);
    let (finished, told) = beside.drive(|options| options.keeps_waiting = true);
    let begun = beside.begun(0);
    assert!((60_000..=62_000).contains(&begun[1]), "{begun:?}");
    assert!(told.contains(&"l0 waits Person".to_owned()));
    assert_eq!(finished.exit_code(), exit::DONE, "{told:?}");

    let only = Fake::new(2, in_worktrees(), HOUR, |_, _| {
        (1, ticked(Outcome::HumanIntervention(Halt::LowScore)))
    });
    for loop_ in [0, 1] {
        only.change(loop_, 2, halted);
    }
    let (finished, _) = only.drive(|options| options.keeps_waiting = true);
    assert!(!finished.interrupted, "nobody is left to wait for");
    assert_eq!(finished.exit_code(), exit::PERSON);
}

// rows: L-09
// cases: 143
#[test]
fn a_loop_that_somebody_else_ticks_or_drives_is_waited_for_and_told_of_once() {
    let fake = Fake::new(1, json!({}), HOUR, |_, nth| match nth {
        0..10 => (1, skipped(Outcome::Skipped(Skip::Locked), |_| {})),
        _ => (1, no_work()),
    });
    let (finished, told) = fake.drive(|_| {});
    assert_eq!(finished.exit_code(), exit::DONE);
    assert_eq!(
        told.iter()
            .filter(|line| line.contains("waits Tick"))
            .count(),
        1
    );
    assert!(fake.begun(0)[10] >= 9_000, "it does not spin");

    let driven = Fake::new(1, json!({}), HOUR, |_, _| (1, no_work()));
    driven.0.borrow_mut().driven_until.insert(0, 60_000);
    let (_, told) = driven.drive(|_| {});
    assert!((60_000..=62_000).contains(&driven.begun(0)[0]));
    assert_eq!(
        told.iter().filter(|line| line.contains("Driver")).count(),
        1
    );
}

#[test]
fn as_many_as_are_asked_for_tick_at_the_same_time_and_in_turns() {
    let fake = Fake::new(5, in_worktrees(), HOUR, |_, nth| match nth {
        0..3 => (1000, ticked(FAIL)),
        _ => (1000, no_work()),
    });
    fake.drive(|options| options.jobs = NonZeroUsize::new(3).unwrap());
    let facts = fake.0.borrow();
    assert_eq!(facts.most_ticking, 3);
    let first: Vec<_> = facts.begun.iter().take(5).map(|(n, _)| *n).collect();
    assert_eq!(first, [0, 1, 2, 3, 4], "none gets a second turn before");
}

#[test]
fn a_loop_that_works_in_the_project_itself_ticks_alone() {
    let fake = Fake::new(4, in_worktrees(), HOUR, |_, nth| match nth {
        0..3 => (1000, ticked(FAIL)),
        _ => (1000, no_work()),
    });
    fake.0.borrow_mut().plans[1].in_place = true;
    let (finished, _) = fake.drive(|_| {});
    assert_eq!(finished.exit_code(), exit::DONE);
    let facts = fake.0.borrow();
    for (n, at) in facts.begun.iter().filter(|(n, _)| *n == 1) {
        let beside = facts
            .begun
            .iter()
            .filter(|(other, time)| other != n && time.abs_diff(*at) < 1000);
        assert_eq!(beside.count(), 0, "{:?}", facts.begun);
    }
}

// cases: 130
#[test]
fn a_time_that_the_state_names_is_waited_for() {
    // Ten minutes after the start.
    let until = |state: &mut State| {
        state.not_before = Some("2001-09-09T01:56:40Z".parse().unwrap());
    };
    let known = Fake::new(1, json!({}), HOUR, |_, _| (1, no_work()));
    known.change(0, 0, until);
    known.drive(|_| {});
    assert_eq!(known.begun(0), [600_000]);

    let found_out = Fake::new(1, json!({}), HOUR, move |_, nth| match nth {
        0 => (1, skipped(Outcome::Skipped(Skip::NotBefore), until)),
        _ => (1, no_work()),
    });
    found_out.change(0, 1, until);
    found_out.drive(|_| {});
    assert_eq!(found_out.begun(0), [0, 600_000]);
}
