//! Several harnesses of a role, and what becomes of one that is out of service
//! (decisions D-4, D-10).

use crate::rules;
use crate::world::World;
use loop_core::rules::{HarnessRules, Rules};

fn named(name: &str) -> HarnessRules {
    HarnessRules {
        name: name.to_owned(),
        ..HarnessRules::default()
    }
}

/// Rules under which implement and verify have these harnesses.
fn tried(implement: &[&str], verify: &[&str]) -> Rules {
    let mut rules = rules();
    rules.implement.harnesses = implement.iter().map(|name| named(name)).collect();
    rules.verify.harnesses = verify.iter().map(|name| named(name)).collect();
    rules
}

/// Returns which harness each call went to.
fn called(world: &World) -> Vec<usize> {
    world.calls.iter().map(|call| call.harness).collect()
}

// cases: 43
#[test]
fn the_next_harness_takes_the_place_of_one_that_is_out_of_service() {
    for fault in [
        "auth",
        "rate_limit",
        "quota",
        "offline",
        "missing_program",
        "prompt_too_large",
    ] {
        let mut world = World::new(tried(&["a", "b"], &["j"]));
        world.play(&format!(
            "implement env {fault} / implement changes / verify fail 0.1 h | fail verdict | 1 | 0.1 | h | active | worktree implement implement verify"
        ));
        assert_eq!(called(&world), [0, 1, 0], "{fault}");
        let attempts: Vec<_> = world.calls.iter().map(|call| call.attempt).collect();
        assert_eq!(attempts, [1, 2, 1], "each call has files of its own");
    }
}

// cases: 43
#[test]
fn a_harness_is_left_alone_for_a_while_and_then_called_again() {
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env rate_limit until 600 / implement exit 1 | fail exit | 1 | | | active | worktree implement implement
        implement exit 1 | fail exit | 2 | | | active | worktree implement
        > wait 600
        implement changes / verify fail 0.1 | fail verdict | 3 | 0.1 | | active | worktree implement verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 1, 0, 0]);
    assert!(world.machine.state().cooling.is_empty());
}

// cases: 36, 43
#[test]
fn a_wait_that_nobody_named_doubles_each_time() {
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env auth / implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement implement verify
        > wait 299
        implement env auth / implement changes / verify fail 0.2 | fail verdict | 2 | 0.1 0.2 | | active | worktree implement implement verify
        > wait 500
        implement changes / verify fail 0.3 | fail verdict | 3 | 0.1 0.2 0.3 | | active | worktree implement verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 0, 0, 1, 0, 1, 0]);
}

// rows: L-03
// cases: 39, 43
#[test]
fn with_all_out_of_service_the_loop_waits_for_the_first_that_named_a_time() {
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env quota until 7200 / implement env rate_limit until 3600 | environment rate_limit | 0 | | | active | worktree implement implement
        | skipped not_before | 0 | | | active |
        > wait 3600
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 1, 0]);
    // Without a time two such ticks in a row stop it, whichever harness it was.
    World::new(tried(&["a", "b"], &["j"])).play(
        "
        implement env auth / implement env auth | environment auth | 0 | | | active | worktree implement implement
        implement env auth | human_intervention environment | 0 | | | waits environment | worktree implement
        > approve | granted | 0 | | | active |
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        ",
    );
}

// rows: H-20
#[test]
fn an_independent_judge_never_falls_back_to_the_harness_that_did_the_work() {
    let mut world = World::new(tried(&["a"], &["j", "a"]));
    world.play(
        "
        implement changes / verify env quota until 3600 | environment quota | 0 held | | | active | worktree implement verify
        | skipped not_before | 0 held | | | active |
        > wait 3600
        verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree tree verify
        ",
    );
    assert_eq!(called(&world), [0, 0, 0]);
    // Another one may judge, also when it was not the first that worked.
    let mut world = World::new(tried(&["a", "b"], &["j", "a"]));
    world.play(
        "implement env prompt_too_large / implement changes / verify env quota until 3600 / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement implement verify verify",
    );
    assert_eq!(called(&world), [0, 1, 0, 1]);
    // Nor does the implementer fall back to the only harness that judges.
    World::new(tried(&["a", "j"], &["j"])).play(
        "
        implement env quota until 3600 | environment quota | 0 | | | active | worktree implement
        | skipped not_before | 0 | | | active |
        ",
    );
    // Where another can judge it may.
    let mut world = World::new(tried(&["a", "j"], &["j", "k"]));
    world.play(
        "implement env auth / implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement implement verify",
    );
    assert_eq!(called(&world), [0, 1, 1]);
    // A judge that is the worker anyway has no independence to lose.
    let mut world = World::new(tried(&["a", "b"], &["a", "b"]));
    world.play(
        "
        implement env auth / implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement implement verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 1]);
}

// rows: H-20
// cases: 39, 43
#[test]
fn no_judge_judges_itself_because_every_other_is_out_of_service() {
    // Not even where the harness that did the work would be back the soonest.
    let mut world = World::new(tried(&["pi", "codex"], &["pi-2", "codex"]));
    world.play(
        "
        implement env quota until 432000 / implement changes / verify env auth | environment auth | 0 held | | | active | worktree implement implement verify
        verify env auth | human_intervention environment | 0 held | | | waits environment | worktree tree verify
        > approve | granted | 0 held | | | active |
        verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree tree verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 0, 0, 0]);
    // Nor is there work for which nobody would be left to judge it.
    let mut world = World::new(tried(&["a", "j"], &["j"]));
    world.play(
        "
        implement env auth | environment auth | 0 | | | active | worktree implement
        implement env auth | human_intervention environment | 0 | | | waits environment | worktree implement
        ",
    );
    assert_eq!(called(&world), [0, 0]);
}

// rows: H-20
#[test]
fn held_work_whose_only_judge_would_be_its_worker_waits_for_a_person() {
    let mut world = World::new(tried(&["a"], &["j", "a"]));
    world.play(
        "implement changes / verify env quota until 60 | environment quota | 0 held | | | active | worktree implement verify
        > wait 60",
    );
    // The roles have changed their harnesses meanwhile.
    world.rules = tried(&["b"], &["a"]);
    world.play(
        "
        | human_intervention verifier_broken | 0 held | | | waits verifier_broken | worktree tree
        > approve | granted | 0 held | | | active |
        | human_intervention verifier_broken | 0 held | | | waits verifier_broken | worktree tree
        ",
    );
    let why = &world.machine.ended().unwrap().why;
    assert!(why.contains("`a` did the work"), "{why}");
    world.rules = tried(&["b"], &["a", "j"]);
    world.play(
        "
        > approve | granted | 0 held | | | active |
        verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree tree verify
        ",
    );
    assert_eq!(world.calls.last().unwrap().harness, 1);
    // Where both are meant to be the same one, it judges.
    let mut world = World::new(tried(&["a"], &["a"]));
    world.play(
        "
        implement changes / verify env quota until 60 | environment quota | 0 held | | | active | worktree implement verify
        > wait 60
        verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree tree verify
        ",
    );
}

// rows: L-03
// cases: 39, 43
#[test]
fn the_wait_is_that_of_the_harness_that_is_back_first() {
    // Whether it was named or not. While a known end is waited for, no row grows.
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env quota until 432000 / implement env rate_limit | environment rate_limit | 0 | | | active | worktree implement implement
        | skipped not_before | 0 | | | active |
        > wait 300
        implement env rate_limit | environment rate_limit | 0 | | | active | worktree implement
        > wait 300
        | skipped not_before | 0 | | | active |
        > wait 300
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 1, 1, 0]);
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env rate_limit / implement env quota until 432000 | environment quota | 0 | | | active | worktree implement implement
        > wait 300
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        ",
    );
    // Where nobody has named a time, the second one stops the loop.
    World::new(tried(&["a", "b"], &["j"])).play(
        "
        implement env rate_limit / implement env rate_limit | environment rate_limit | 0 | | | active | worktree implement implement
        > wait 300
        implement env rate_limit / implement env rate_limit | human_intervention environment | 0 | | | waits environment | worktree implement implement
        ",
    );
}

// rows: U-19, L-03
// cases: 39, 43
#[test]
fn a_login_that_is_gone_is_told_whoever_else_is_waited_for() {
    for fault in ["auth", "missing_program"] {
        let mut world = World::new(tried(&["a", "b"], &["j"]));
        world.play(&format!(
            "
            implement env quota until 432000 / implement env {fault} | environment {fault} | 0 | | | active | worktree implement implement
            | skipped not_before | 0 | | | active |
            > wait 300
            implement env {fault} | human_intervention environment | 0 | | | waits environment | worktree implement
            "
        ));
        assert_eq!(called(&world), [0, 1, 1]);
        let why = &world.machine.ended().unwrap().why;
        assert!(why.contains("also out of service: `a` (quota)"), "{why}");
    }
    // Also that of the first one, while the other is out of quota.
    World::new(tried(&["a", "b"], &["j"])).play(
        "
        implement env auth / implement env quota until 432000 | environment quota | 0 | | | active | worktree implement implement
        > wait 300
        implement env auth | environment auth | 0 | | | active | worktree implement
        > wait 600
        implement env auth | human_intervention environment | 0 | | | waits environment | worktree implement
        ",
    );
    // But one that is back soon is waited for: the night goes on.
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env auth / implement env quota until 600 | environment quota | 0 | | | active | worktree implement implement
        > wait 300
        implement env auth | environment auth | 0 | | | active | worktree implement
        > wait 300
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        ",
    );
    assert_eq!(called(&world), [0, 1, 0, 1, 0]);
}

// rows: U-19
// cases: 39, 43
#[test]
fn harnesses_that_fail_by_turns_stop_the_loop_once_each_has_failed_again() {
    let mut world = World::new(tried(&["a", "b"], &["j"]));
    world.play(
        "
        implement env auth / implement exit 1 | fail exit | 1 | | | active | worktree implement implement
        > wait 100
        implement env rate_limit | environment rate_limit | 1 | | | active | worktree implement
        > wait 200
        implement env auth | environment auth | 1 | | | active | worktree implement
        > wait 100
        implement env rate_limit | human_intervention environment | 1 | | | waits environment | worktree implement
        ",
    );
    assert_eq!(called(&world), [0, 1, 1, 0, 1]);
}

// rows: V-05
#[test]
fn a_judge_that_is_asked_again_is_asked_once_whatever_harness_it_is() {
    let mut world = World::new(tried(&["a"], &["j", "k"]));
    world.play(
        "implement changes / verify env auth / verify mumbles / verify mumbles | verify_error unreadable | 0 held | | | active | worktree implement verify verify verify",
    );
    assert_eq!(called(&world), [0, 0, 1, 1]);
}
