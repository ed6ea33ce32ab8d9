//! When orchestrate runs, and what it may ask for (decision D-6).

use crate::orchestrated;
use crate::world::World;
use loop_core::Usd;
use loop_core::brakes::Brakes;
use loop_core::rules::Rules;

fn limited(change: impl FnOnce(&mut Brakes)) -> Rules {
    let mut rules = orchestrated();
    change(&mut rules.brakes);
    rules
}

// rows: B-06, B-08, B-16, B-17, L-01
// cases: 10
#[test]
fn orchestrate_runs_when_there_is_something_to_decide() {
    let one = || limited(|brakes| brakes.max_iterations = Some(1));
    let plateau = || limited(|brakes| brakes.score_plateau_window = 2);
    for (rules, table) in [
        // Advance, ask for approval, escalate.
        (orchestrated(), "implement changes / verify pass 1    | pass | 0 | | | active | worktree implement verify report orchestrate advance"),
        (orchestrated(), "> phase spec
                          implement changes / verify pass 1    | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report orchestrate"),
        (orchestrated(), "implement changes / verify pass 0.1  | human_intervention low_score | 1 | | | waits low_score | worktree implement verify orchestrate"),
        (one(), "implement changes / verify fail 0.1           | human_intervention max_iterations | 1 | 0.1 | | waits max_iterations | worktree implement verify orchestrate"),
        (plateau(), "implement changes / verify fail 0.1       | fail verdict | 1 | 0.1 | | active | worktree implement verify
                     implement changes / verify fail 0.1       | human_intervention score_plateau | 2 | 0.1 0.1 | | waits score_plateau | worktree implement verify orchestrate"),
        (orchestrated(), "implement changes / verify blocked x | blocked x | 1 | | | active | worktree implement verify
                          implement changes / verify blocked x | human_intervention blocked | 2 | | | waits blocked | worktree implement verify orchestrate"),
        // A plain retry is decided already.
        (orchestrated(), "implement changes / verify fail 0.1  | fail verdict | 1 | 0.1 | | active | worktree implement verify"),
        // Without a judgement there is nothing to read.
        (orchestrated(), "implement exit 1                     | fail exit | 1 | | | active | worktree implement"),
        (one(), "implement exit 1                              | human_intervention max_iterations | 1 | | | waits max_iterations | worktree implement"),
        (orchestrated(), "implement changes / verify exit 1    | verify_error exit | 0 held | | | active | worktree implement verify"),
        // Not after an environment fault, or tampering.
        (orchestrated(), "implement env auth                   | environment auth | 0 | | | active | worktree implement
                          implement env auth                   | human_intervention environment | 0 | | | waits environment | worktree implement"),
        (orchestrated(), "implement replaced                   | human_intervention worktree_replaced | 1 | | | waits worktree_replaced | worktree implement"),
        // Not after a hard cap; what was judged stands.
        (limited(|brakes| brakes.max_wall_ms = Some(3_000)),
                 "implement changes / verify takes 2 pass 1    | pass | 0 | | | active | worktree implement verify report advance"),
        (limited(|brakes| { brakes.max_wall_ms = Some(3_000); brakes.max_iterations = Some(1); }),
                 "implement changes / verify takes 2 fail 0.1  | human_intervention max_iterations | 1 | 0.1 | | waits max_iterations | worktree implement verify"),
    ] {
        World::new(rules).play(table);
    }
    // A task without a record has no phase to move to.
    let mut world = World::new(orchestrated());
    world.task.phase = None;
    world.play(
        "implement changes / verify pass 1 | pass | 0 | | | complete | worktree implement verify",
    );
}

// rows: B-17
// cases: 10
#[test]
fn a_call_that_would_pass_the_cost_cap_is_not_made() {
    let mut rules = limited(|brakes| brakes.max_cost = Usd::from_micros(29));
    rules.implement.harnesses[0].cost_per_call = Usd::from_micros(10);
    rules.verify.harnesses[0].cost_per_call = Usd::from_micros(10);
    rules.orchestrate.as_mut().unwrap().harnesses[0].cost_per_call = Usd::from_micros(10);
    let mut world = World::new(rules.clone());
    world.play("implement changes / verify pass 1 | pass | 0 | | | active | worktree implement verify report advance");
    assert_eq!(
        world.machine.state().spent.used.usd,
        Usd::from_micros(20).unwrap()
    );
    rules.brakes.max_cost = Usd::from_micros(30);
    let mut world = World::new(rules);
    world.play("implement changes / verify pass 1 | pass | 0 | | | active | worktree implement verify report orchestrate advance");
    assert_eq!(
        world.machine.state().spent.used.usd,
        Usd::from_micros(30).unwrap()
    );
}

// rows: B-15, B-16
#[test]
fn orchestrate_may_ask_for_what_was_decided_or_for_a_person() {
    let passes = "implement changes / verify pass 1 / orchestrate";
    let advances = "pass | 0 | | | active | worktree implement verify report orchestrate advance";
    let handed = "human_intervention escalated | 0 | | | waits escalated | worktree implement verify report orchestrate advance";
    for (asks, came_to) in [
        // Nothing, or failing: the engine's own decision stands.
        ("", advances),
        ("exit 1", advances),
        ("signal 9", advances),
        ("timeout", advances),
        ("env auth", advances),
        ("error outputs_unwritable", advances),
        ("replaced", advances),
        ("interrupted crash", advances),
        ("unbegun interrupted signal", advances),
        // The next phase, by its name or not.
        ("meets asks:next", advances),
        ("meets asks:code_review", advances),
        ("meets asks:human_intervention", handed),
        // Anything else is refused.
        ("meets !asks:implement", advances),
        ("meets !asks:bug_find", advances),
        ("meets !asks:complete", advances),
        ("meets !asks:nonsense", advances),
        ("meets !asks_for_other:u", advances),
        ("meets !asks_late", advances),
        // And any second request.
        ("meets asks:next meets !asks:next", advances),
        ("meets asks:next meets !asks:human_intervention", advances),
        ("meets asks:human_intervention meets !asks:next", handed),
        (
            "meets asks:human_intervention meets !asks:human_intervention",
            handed,
        ),
        // An agent's approval counts as little as in any other step.
        ("meets !approve", advances),
    ] {
        let mut world = World::new(orchestrated());
        world.play(&format!("{passes} {asks} | {came_to}"));
        let phase = if came_to == advances {
            "code_review"
        } else {
            "human_intervention"
        };
        assert_eq!(world.task.phase.as_deref(), Some(phase), "{asks}");
    }
}

// rows: B-08, B-10, B-15
#[test]
fn for_a_person_it_may_only_ask_for_a_person() {
    let asks = [
        "",
        "meets asks:human_intervention",
        "meets !asks:next",
        "meets !asks:implement",
        "meets asks:human_intervention meets !asks:human_intervention",
    ];
    for asks in asks {
        // It awaits approval in either case, and the task stays where it is.
        let mut world = World::new(orchestrated());
        world.play("> phase spec");
        world.play(&format!(
            "implement changes / verify pass 1 / orchestrate {asks} | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report orchestrate"
        ));
        assert_eq!(world.task.phase.as_deref(), Some("spec"));
        let awaiting = world.machine.state().awaiting.clone().unwrap();
        assert_eq!(
            (awaiting.from.as_str(), awaiting.to.as_str()),
            ("spec", "implement")
        );
        // An escalation keeps its reason.
        let mut world = World::new(orchestrated());
        world.play(&format!(
            "implement changes / verify pass 0 / orchestrate {asks} | human_intervention low_score | 1 | | | waits low_score | worktree implement verify orchestrate"
        ));
        assert_eq!(world.machine.state().awaiting, None);
    }
}

// rows: B-10, B-15
#[test]
fn a_request_outside_orchestrate_is_refused() {
    for script in [
        "worktree meets !asks:next / implement changes / verify pass 1",
        "implement meets !asks:next changes / verify pass 1",
        "implement changes / verify meets !asks:human_intervention pass 1",
        "implement changes / verify pass 1 / report meets !asks:next",
        "implement changes / verify pass 1 / advance meets !asks:next",
        "implement changes / verify pass 1 / close meets !asks:next",
    ] {
        let mut world = World::new(orchestrated());
        world.play(&format!(
            "{script} | pass | 0 | | | active | worktree implement verify report orchestrate advance"
        ));
    }
    World::new(orchestrated()).play("> !asks:next | denied | 0 | | | active |");
}

// rows: K-20, P-08
#[test]
fn only_orchestrate_sees_the_verdict() {
    let mut world = World::new(orchestrated());
    world.play("implement changes / verify pass 0.9 nice | pass | 0 | | nice | active | worktree implement verify report orchestrate advance");
    let seen: Vec<_> = world
        .calls
        .iter()
        .map(|call| {
            (
                call.role.as_str(),
                call.verdict.as_ref().map(|verdict| verdict.score.get()),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("implement", None),
            ("verify", None),
            ("orchestrate", Some(0.9))
        ]
    );
}
