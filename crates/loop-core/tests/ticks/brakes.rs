//! The brakes in whole ticks, and their order (rows B-02, B-03, B-05).

use crate::limited;
use crate::rules;
use crate::world::World;

// rows: B-02
// cases: 6
#[test]
fn n_iterations_are_n_calls_of_implement() {
    for n in 1..4 {
        let mut world = World::new(limited(|brakes| {
            brakes.max_iterations = Some(n);
            brakes.score_plateau_window = 0;
        }));
        for at in 1..n {
            world.tick("implement changes / verify fail 0.1");
            assert_eq!(world.progress().iteration, at);
        }
        let mut passing = World::new(world.rules.clone());
        passing.machine = world.machine.clone();
        let (ended, _) = world.tick("implement changes / verify fail 0.1");
        assert_eq!(ended, "human_intervention max_iterations");
        // Success in the last permitted attempt is success.
        let (ended, _) = passing.tick("implement changes / verify pass 1");
        assert_eq!(ended, "pass");
    }
}

// rows: B-02, L-07
#[test]
fn attempts_that_end_without_a_judgement_count_too() {
    let two = || limited(|brakes| brakes.max_iterations = Some(2));
    for (first, ended) in [
        ("implement exit 1 changes", "fail exit"),
        ("implement interrupted crash", "interrupted crash"),
        (
            "implement changes / verify interrupted signal",
            "interrupted signal",
        ),
        ("implement changes blocked a key", "blocked a key"),
    ] {
        let mut world = World::new(two());
        assert_eq!(world.tick(first).0, ended);
        let (ended, _) = world.tick("implement changes / verify fail 0.1");
        assert_eq!(ended, "human_intervention max_iterations", "{first}");
    }
    // An interruption stays an interruption; the next look stops the loop, before any call.
    World::new(two()).play(
        "
        implement interrupted crash | interrupted crash | 1 | | | active | worktree implement
        implement interrupted crash | interrupted crash | 2 | | | active | worktree implement
        | human_intervention max_iterations | 2 | | | waits max_iterations |
        ",
    );
}

// rows: B-03
// cases: 7, 29, 103
#[test]
fn the_plateau_is_about_judged_scores_only() {
    for (table, last) in [
        // The same words with better work are no repetition.
        (
            &["fail 0.1 again", "fail 0.2 again"][..],
            ("fail 0.3 again", "fail verdict"),
        ),
        // New words without better work are.
        (
            &["fail 0.4 a", "fail 0.4 b"],
            ("fail 0.4 c", "human_intervention score_plateau"),
        ),
        (
            &["fail 0.5", "fail 0.4"],
            ("fail 0.3", "human_intervention score_plateau"),
        ),
        (&["fail 0", "fail 0.4"], ("fail 0.4", "fail verdict")),
        // A judge's failure is no score: it neither trips nor clears.
        (
            &["fail 0.6", "fail 0.65", "exit 1"],
            ("fail 0.66", "fail verdict"),
        ),
        (
            &["fail 0.6", "exit 1", "fail 0.6"],
            ("fail 0.6", "human_intervention score_plateau"),
        ),
    ] {
        let mut world = World::new(rules());
        let mut tick = |verify: &str| {
            let work = if world.progress().unjudged.is_some() {
                ""
            } else {
                "implement changes /"
            };
            world.tick(&format!("{work} verify {verify}")).0
        };
        for verify in table {
            let ended = tick(verify);
            assert!(
                ended == "fail verdict" || ended == "verify_error exit",
                "{ended}"
            );
        }
        assert_eq!(tick(last.0), last.1, "{table:?}");
    }
}

// rows: B-05
// cases: 6, 16
#[test]
fn the_first_brake_in_the_order_is_the_reason() {
    let all = || {
        limited(|brakes| {
            brakes.max_iterations = Some(2);
            brakes.score_plateau_window = 2;
            brakes.no_progress_window = 2;
            brakes.max_harness_failures = 2;
        })
    };
    for (first, second, reason) in [
        ("implement exit 1", "implement exit 1", "harness_failures"),
        (
            "implement same / verify fail 0.1",
            "implement same / verify fail 0.1",
            "no_progress",
        ),
        (
            "implement exit 1",
            "implement same / verify fail 0.1",
            "no_progress",
        ),
        (
            "implement changes / verify fail 0.1",
            "implement same / verify fail 0.1",
            "max_iterations",
        ),
        (
            "implement same / verify fail 0.1",
            "implement changes / verify fail 0.1",
            "max_iterations",
        ),
        (
            "implement same / verify fail 0.1",
            "implement unknown / verify fail 0.1",
            "max_iterations",
        ),
        // What was ended before its time may have changed something.
        (
            "implement same / verify fail 0.1",
            "implement error disk",
            "",
        ),
        (
            "implement interrupted crash",
            "implement same / verify fail 0.1",
            "max_iterations",
        ),
        // A pass comes before all of them, and a person's decision too.
        (
            "implement same / verify fail 0.1",
            "implement same / verify pass 1",
            "",
        ),
        (
            "implement same / verify blocked x",
            "implement same / verify blocked x",
            "blocked",
        ),
        (
            "implement same / verify fail 0.1",
            "implement same / verify pass 0.1",
            "low_score",
        ),
        (
            "implement same / verify fail 0.1",
            "implement replaced",
            "worktree_replaced",
        ),
    ] {
        let mut world = World::new(all());
        world.tick(first);
        world.tick(second);
        let reason = (!reason.is_empty()).then_some(reason);
        let halted = world.machine.state().reason.map(|halt| halt.as_str());
        assert_eq!(halted, reason, "{first}, then {second}");
    }
    let mut world = World::new(all());
    world.rules.brakes.max_iterations = Some(3);
    world.tick("implement changes / verify fail 0.2");
    assert_eq!(
        world.tick("implement changes / verify fail 0.2").0,
        "human_intervention score_plateau"
    );
}

// rows: B-02, B-05
#[test]
fn only_what_began_is_an_attempt() {
    let two = || limited(|brakes| brakes.no_progress_window = 2);
    for (between, spent, ended) in [
        // What was ended before its time may have changed something.
        ("implement interrupted crash", 3, "fail verdict"),
        ("implement error outputs_unwritable", 3, "fail verdict"),
        // What never began has not, nor what was given back.
        (
            "implement unbegun interrupted stop",
            2,
            "human_intervention no_progress",
        ),
        (
            "implement unbegun error disk",
            2,
            "human_intervention no_progress",
        ),
        (
            "implement unbegun env prompt_too_large",
            2,
            "human_intervention no_progress",
        ),
        ("implement env auth", 2, "human_intervention no_progress"),
        (
            "worktree interrupted crash",
            2,
            "human_intervention no_progress",
        ),
    ] {
        let mut world = World::new(two());
        world.tick("implement same / verify fail 0.1");
        world.tick(between);
        assert_eq!(world.progress().iteration, spent - 1, "{between}");
        assert_eq!(
            world.tick("implement same / verify fail 0.2").0,
            ended,
            "{between}"
        );
        assert_eq!(world.progress().iteration, spent, "{between}");
    }
}

// rows: B-05
// cases: 105, 158
#[test]
fn a_brake_says_what_it_has_counted() {
    for (ticks, why) in [
        (
            &[
                "implement exit 1 changes",
                "implement exit 1 changes",
                "implement signal 9",
            ][..],
            "implement was killed by signal 9; implement failed 3 times in a row",
        ),
        (
            &[
                "implement same / verify fail 0.1",
                "implement same / verify fail 0.2",
                "implement same / verify fail 0.3",
            ],
            "3 attempts in a row changed nothing; the judge gave 0.3",
        ),
        (
            &[
                "implement changes / verify fail 0.1",
                "implement changes / verify fail 0.1",
                "implement changes / verify fail 0.1",
            ],
            "the score has not risen in 3 attempts; the judge gave 0.1",
        ),
        (
            &["implement blocked a key", "implement blocked a key"],
            "blocked twice in a row: a key",
        ),
        (&["implement blocked a key"], "blocked: a key"),
        (
            &["implement silent same"],
            "implement exited with 0, said nothing and changed nothing",
        ),
        (
            &["implement changes / verify pass 0.5"],
            "the judge passed it with a score of 0.5, below 0.7",
        ),
        (
            &["implement changes / verify idle"],
            "verify timed out: no output for 60s; it may have waited for an answer",
        ),
        (
            &["implement changes / verify mumbles / verify mumbles"],
            "verify: the answer holds no JSON object with `pass` and `score`",
        ),
        (
            &["implement exit 137"],
            "implement exited with 137 (killed from outside, often for lack of memory)",
        ),
        (
            &["implement interrupted crash"],
            "the engine died during implement; the tick was closed afterwards",
        ),
        (
            &["implement interrupted signal"],
            "a signal ended the tick during implement",
        ),
        (
            &["implement meets stop"],
            "`loop stop` ended the tick during implement",
        ),
        (
            &["implement meets stop changes"],
            "`loop stop` ended the tick",
        ),
        (
            &["implement env auth", "implement env auth"],
            "the environment is not well (2 times in a row)",
        ),
        (
            &["implement changes / verify pass 1"],
            "t passed `implement` and goes on to `code_review`",
        ),
    ] {
        let mut world = World::new(rules());
        for tick in ticks {
            world.tick(tick);
        }
        assert_eq!(world.machine.ended().unwrap().why, why);
    }
    let mut world = World::new(limited(|brakes| brakes.max_iterations = Some(1)));
    world.tick("implement exit 1");
    assert_eq!(
        world.machine.ended().unwrap().why,
        "implement exited with 1; all 1 attempts are spent"
    );
    let mut world = World::new(limited(|brakes| brakes.max_harness_failures = 1));
    world.tick("implement changes / verify exit 1");
    assert_eq!(
        world.machine.ended().unwrap().why,
        "verify exited with 1; no judgement 1 times in a row"
    );
}

// rows: S-31
// cases: 9
#[test]
fn counts_belong_to_a_task_and_are_kept_over_a_switch() {
    let mut world = World::new(limited(|brakes| brakes.max_iterations = Some(3)));
    world.rules.single = false;
    world.play(
        "
        implement changes / verify fail 0.1 about t | fail verdict | 1 | 0.1 | about t | active | worktree implement verify
        > task u
        implement changes / verify fail 0.2 about u | fail verdict | 1 | 0.2 | about u | active | worktree implement verify
        > task t
        implement changes / verify fail 0.3         | fail verdict | 2 | 0.1 0.3 | | active | worktree implement verify
        > task u
        implement changes / verify pass 1           | pass | 0 | | | active | worktree implement verify report advance
        > phase implement
        > task t
        implement changes / verify fail 0.4         | human_intervention max_iterations | 3 | 0.1 0.3 0.4 | | waits max_iterations | worktree implement verify
        ",
    );
    let hints: Vec<&str> = world.calls.iter().map(|call| call.hint.as_str()).collect();
    let (t, u) = ("about t", "about u");
    assert_eq!(hints, ["", "", "", "", t, t, u, u, "", ""]);
}
