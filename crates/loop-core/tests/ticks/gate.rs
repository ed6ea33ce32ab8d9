//! The acceptance gate: armed red, never overruled, and alone where no judge is.

use crate::rules;
use crate::world::World;
use loop_core::rules::{GateRules, Rules};
use loop_core::state::By;

fn gated() -> Rules {
    Rules {
        gate: Some(GateRules {
            must_start_red: false,
            timeout_ms: 60_000,
        }),
        ..rules()
    }
}

fn gate_only() -> Rules {
    Rules {
        gate: Some(GateRules {
            must_start_red: true,
            timeout_ms: 60_000,
        }),
        judge: false,
        ..rules()
    }
}

// rows: G-11, G-12, G-13
// cases: 16, 118
#[test]
fn no_work_is_done_under_a_gate_that_proves_nothing() {
    for row in [
        "arm red / implement changes / gate green | pass | 0 | | | active | worktree arm implement gate report advance",
        "arm green      | human_intervention gate_green     | 0 | | | waits gate_green     | worktree arm",
        "arm broken     | human_intervention gate_broken    | 0 | | | waits gate_broken    | worktree arm",
        "arm unwritten  | human_intervention gate_unwritten | 0 | | | waits gate_unwritten | worktree arm",
        "arm flaky      | human_intervention gate_flaky     | 0 | | | waits gate_flaky     | worktree arm",
        "arm interrupted signal | interrupted signal        | 0 | | | active               | worktree arm",
        "arm error disk | error disk                        | 0 | | | active               | worktree arm",
    ] {
        World::new(gate_only()).play(row);
    }
}

// rows: G-21
// cases: 12, 15, 129
#[test]
fn a_red_gate_is_the_end_of_an_attempt_and_its_hint() {
    let mut world = World::new(gated());
    world.play(
        "
        # With a judge both have to agree; a red gate is never overruled.
        arm / implement changes / gate red 7 two tests fail | fail gate_red | 1 | | two tests fail | active | worktree arm implement gate
        # It is armed once, and the judge is asked only behind a green one.
        implement changes / gate green / verify fail 0.4 so | fail verdict  | 2 | 0.4 | so | active | worktree implement gate verify
        implement changes / gate green / verify pass 1      | pass          | 0 | | | active | worktree implement gate verify report advance
        ",
    );
    let last = world.machine.state().last_verdict.clone().unwrap();
    assert_eq!(last.by, By::Judge);
    assert_eq!(world.calls[1].hint, "two tests fail", "it is fed forward");
}

// rows: G-20, G-21
#[test]
fn a_gate_alone_decides_where_there_is_no_judge() {
    let mut world = World::new(gate_only());
    world.play(
        "
        arm red / implement changes / gate red 1 three fail | fail gate_red | 1 | | three fail | active | worktree arm implement gate
        implement changes / gate red 1 two fail             | fail gate_red | 2 | | two fail   | active | worktree implement gate
        implement changes / gate green                      | pass          | 0 | |            | active | worktree implement gate report advance
        ",
    );
    let last = world.machine.state().last_verdict.clone().unwrap();
    assert_eq!((last.by, last.verdict), (By::Gate, None));
    assert!(world.calls.iter().all(|call| call.frozen.is_some()));
}

// rows: G-34, G-35
// cases: 103
#[test]
fn a_gate_that_stays_red_in_the_same_way_is_stuck() {
    World::new(gate_only()).play(
        "
        arm red / implement changes / gate red 7 same | fail gate_red | 1 | | same | active | worktree arm implement gate
        implement changes / gate red 7 same           | fail gate_red | 2 | | same | active | worktree implement gate
        implement changes / gate red 7 same           | human_intervention no_progress | 3 | | same | waits no_progress | worktree implement gate
        ",
    );
    // Fewer failures each time are progress; and green in the last attempt is green.
    let mut few = gate_only();
    few.brakes.max_iterations = Some(4);
    World::new(few).play(
        "
        arm red / implement changes / gate red 7 3 failed | fail gate_red | 1 | | 3 failed | active | worktree arm implement gate
        implement changes / gate red 7 2 failed           | fail gate_red | 2 | | 2 failed | active | worktree implement gate
        implement changes / gate red 7 1 failed           | fail gate_red | 3 | | 1 failed | active | worktree implement gate
        implement changes / gate green                    | pass          | 0 | |          | active | worktree implement gate report advance
        ",
    );
    // With a judge the same red is the plateau's business, not the gate's.
    World::new(gated()).play(
        "
        arm / implement changes / gate red 7 same | fail gate_red | 1 | | same | active | worktree arm implement gate
        implement changes / gate red 7 same       | fail gate_red | 2 | | same | active | worktree implement gate
        implement changes / gate red 7 same       | fail gate_red | 3 | | same | active | worktree implement gate
        ",
    );
}

// rows: G-16, G-17, G-19
// cases: 120, 121
#[test]
fn what_was_tampered_with_is_not_judged() {
    for (row, calls) in [
        (
            "arm red / implement unbegun tampered | human_intervention tampered | 0 | | | waits tampered | worktree arm implement",
            1,
        ),
        (
            "arm red / implement tampered         | human_intervention tampered | 1 | | | waits tampered | worktree arm implement",
            1,
        ),
        (
            "arm red / implement changes / gate tampered | human_intervention tampered | 1 | | | waits tampered | worktree arm implement gate",
            1,
        ),
    ] {
        let mut world = World::new(gate_only());
        world.play(row);
        assert_eq!(world.calls.len(), calls);
        // Approving alone changes nothing about the gate; freezing it does.
        let before = world.progress().gate.unwrap();
        assert_eq!(before.frozen_by, None);
    }
    let mut world = World::new(gate_only());
    world.play("arm red / implement tampered | human_intervention tampered | 1 | | | waits tampered | worktree arm implement");
    world.control("freeze:t", true);
    assert!(
        world.said().contains("now: loop approve"),
        "{}",
        world.said()
    );
    let gate = world.progress().gate.unwrap();
    assert_eq!(gate.frozen.fingerprint, "again");
    assert_eq!(gate.frozen_by.as_deref(), Some("ada"));
    assert!(gate.red_seen, "that it was red once stays known");
    world.control("freeze:nobody", false);
}

// rows: L-07
#[test]
fn work_whose_gate_did_not_end_is_held_unless_it_was_interrupted() {
    for (end, expected) in [
        (
            "gate error disk",
            "error disk | 0 held | | | active | worktree arm implement gate",
        ),
        (
            "gate env setup_failed",
            "environment setup_failed | 0 held | | | active | worktree arm implement gate",
        ),
        (
            "gate interrupted crash",
            "interrupted crash | 1 | | | active | worktree arm implement gate",
        ),
        (
            "gate replaced",
            "human_intervention worktree_replaced | 1 | | | waits worktree_replaced | worktree arm implement gate",
        ),
    ] {
        World::new(gate_only()).play(&format!("arm red / implement changes / {end} | {expected}"));
    }
    // Held work starts at its gate again, and its iteration is spent there.
    World::new(gate_only()).play(
        "
        arm red / implement changes / gate error disk | error disk    | 0 held | | | active | worktree arm implement gate
        gate red 1 no                                 | fail gate_red | 1 | | no | active | worktree tree gate
        ",
    );
}

// rows: X-07
// cases: 88
#[test]
fn what_a_gate_runs_is_watched_like_a_call() {
    World::new(gate_only()).play(
        "
        arm red / implement changes / gate green elsewhere | human_intervention outside_changed | 0 held | | | waits outside_changed | worktree arm implement gate
        > approve | granted | 0 held | | | active |
        gate green | pass | 0 | | | active | worktree tree gate report advance
        ",
    );
}

// rows: B-05
#[test]
fn a_green_gate_in_the_last_attempt_is_green() {
    let mut one = gate_only();
    one.brakes.max_iterations = Some(1);
    World::new(one.clone()).play(
        "arm red / implement changes / gate green | pass | 0 | | | active | worktree arm implement gate report advance",
    );
    World::new(one).play(
        "arm red / implement changes / gate red 1 no | human_intervention max_iterations | 1 | | no | waits max_iterations | worktree arm implement gate",
    );
}
