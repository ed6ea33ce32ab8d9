//! The checks before any work is looked for, in the order of row L-03.

use crate::world::World;
use crate::{limited, orchestrated, rules};
use loop_core::Usd;
use loop_core::outcome::{Interruption, Outcome};
use loop_core::{Action, Start};

// rows: L-02, L-03, H-23
#[test]
fn the_first_check_that_fails_is_the_reason() {
    let mut world = World::new(limited(|brakes| {
        brakes.max_cost = Usd::from_micros(10);
    }));
    let price = Usd::from_micros(5);
    world.rules.implement.harnesses[0].cost_per_call = price;
    world.rules.verify.harnesses[0].cost_per_call = price;
    // Everything stands against the next tick.
    world.play(
        "
        implement changes / verify env rate_limit until 999999 | environment rate_limit | 0 held | | | active | worktree implement verify
        ",
    );
    world.rules.verify.context_window = Some(15_999);
    world.rules.closed_until = Some("2027-01-01T00:00:00Z".parse().unwrap());
    world.play(
        "
        | human_intervention max_cost | 0 held | | | waits max_cost |
        > pause   | granted | 0 held | | | waits max_cost paused |
        | skipped paused     | 0 held | | | waits max_cost paused |
        > resume  | granted | 0 held | | | waits max_cost |
        | skipped max_cost   | 0 held | | | waits max_cost |
        > approve | granted | 0 held | | | active |
        | human_intervention max_cost | 0 held | | | waits max_cost |
        > approve | granted | 0 held | | | active |
        ",
    );
    world.rules.brakes.max_cost = None;
    world.play(
        "
        # The known reset has outlived the halt.
        | skipped not_before | 0 held | | | active |
        > wait 999999
        | skipped window | 0 held | | | active |
        ",
    );
    world.rules.closed_until = None;
    world.play("| skipped context_floor | 0 held | | | active |");
    world.rules.verify.context_window = Some(16_000);
    world.play("verify fail 0 | fail verdict | 1 | 0 | | active | worktree tree verify");
}

// rows: L-02, L-03
#[test]
fn a_closed_window_says_when_it_opens() {
    let mut world = World::new(rules());
    let opens = "2026-12-01T22:00:00.000Z";
    world.rules.closed_until = Some(opens.parse().unwrap());
    world.play("| skipped window | 0 | | | active |");
    let ended = world.machine.ended().unwrap();
    let why = format!("the schedule's window is closed; it opens at {opens}");
    assert_eq!((&ended.why, ended.tick), (&why, None));
    // Between the look at the clock and the start it may have opened.
    world.rules.closed_until = Some(world.now());
    world.play("implement exit 1 | fail exit | 1 | | | active | worktree implement");
}

// rows: H-23
#[test]
fn a_declared_context_window_has_a_floor() {
    for (window, ended) in [
        (Some(0), "skipped context_floor"),
        (Some(8_000), "skipped context_floor"),
        (Some(15_999), "skipped context_floor"),
        (Some(16_000), "fail exit"),
        (None, "fail exit"),
    ] {
        for role in ["implement", "verify", "orchestrate"] {
            let mut world = World::new(orchestrated());
            let rules = &mut world.rules;
            let call = match role {
                "implement" => &mut rules.implement,
                "verify" => &mut rules.verify,
                _ => rules.orchestrate.as_mut().unwrap(),
            };
            call.context_window = window;
            let script = if ended == "fail exit" {
                "implement exit 1"
            } else {
                ""
            };
            assert_eq!(world.tick(script).0, ended, "{role} {window:?}");
            if ended == "skipped context_floor" {
                let why = &world.machine.ended().unwrap().why;
                let number = window.unwrap();
                assert_eq!(
                    why,
                    &format!(
                        "roles.{role}.context_window is {number}; at least 16000 tokens are needed"
                    )
                );
            }
        }
    }
}

// rows: L-02, S-06, U-08
#[test]
fn a_look_that_finds_nothing_is_no_tick() {
    for (script, ended, why) in [
        ("find_work no_work", "skipped no_work", "there is no work"),
        (
            "find_work no_current_task",
            "skipped no_current_task",
            "the loop has no task",
        ),
        (
            "find_work with_a_person",
            "skipped escalated",
            "waiting for a person: escalated",
        ),
        (
            "find_work failed",
            "error source_failed",
            "the source is gone",
        ),
    ] {
        let mut world = World::new(rules());
        let before = world.machine.state().clone();
        assert_eq!(world.tick(script), (ended.to_owned(), vec![]));
        assert_eq!(world.machine.state(), &before, "nothing is changed");
        let ended = world.machine.ended().unwrap();
        assert_eq!((ended.tick, ended.task.as_deref()), (None, Some("t")));
        assert_eq!(ended.why, why);
    }
}

// rows: L-02
#[test]
fn a_skip_says_what_is_waited_for() {
    for (table, why) in [
        (
            "> pause | granted | 0 | | | active paused |\n | skipped paused | 0 | | | active paused |",
            "the loop is paused",
        ),
        (
            "implement env quota until 60 | environment quota | 0 | | | active | worktree implement\n | skipped not_before | 0 | | | active |",
            "no tick before 2026-11-30T10:01:04.000Z",
        ),
        (
            "implement changes / verify pass 0.5 | human_intervention low_score | 1 | | | waits low_score | worktree implement verify\n | skipped low_score | 1 | | | waits low_score |",
            "waiting for a person: the judge passed it with a score of 0.5, below 0.7",
        ),
    ] {
        let mut world = World::new(rules());
        world.play(table);
        let ended = world.machine.ended().unwrap();
        assert_eq!(ended.why, why);
        assert_eq!(ended.iteration, world.progress().iteration);
    }
}

// rows: L-02
// cases: 46
#[test]
fn a_signal_while_work_is_looked_for_leaves_nothing_behind() {
    let mut world = World::new(rules());
    let start = Start {
        rules: rules(),
        now: world.now(),
    };
    world.machine.start(start.clone()).unwrap();
    assert_eq!(world.machine.action(), Some(Action::FindWork));
    assert!(world.machine.start(start).is_err(), "it is busy");
    world.machine.abandon(Interruption::Signal);
    let ended = world.machine.ended().unwrap();
    assert_eq!(ended.outcome, Outcome::Interrupted(Interruption::Signal));
    assert_eq!(ended.why, "a signal ended the tick during find_work");
    assert_eq!(ended.tick, None);
    assert_eq!(world.machine.action(), None);
    world.play("implement exit 1 | fail exit | 1 | | | active | worktree implement");
    // Between two ticks there is nothing to abandon.
    let before = world.machine.clone();
    world.machine.abandon(Interruption::Signal);
    assert_eq!(world.machine, before);
}
