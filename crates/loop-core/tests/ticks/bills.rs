//! What calls use: charged as they begin, settled as they end (decision D-15).

use crate::world::World;
use crate::{limited, rules};
use loop_core::Usd;
use loop_core::bill::{CostSource, Usage};
use loop_core::rules::Rules;
use loop_core::step::Role;

/// Harnesses that report what they use, under these caps.
fn reporting(micros: Option<i64>, tokens: Option<u64>) -> Rules {
    let mut rules = limited(|brakes| {
        brakes.max_cost = micros.and_then(Usd::from_micros);
        brakes.max_tokens = tokens;
    });
    for call in [&mut rules.implement, &mut rules.verify] {
        call.harnesses[0].reports_cost = true;
        call.harnesses[0].reports_tokens = true;
    }
    rules
}

fn used(world: &World) -> Usage {
    world.machine.state().spent.used
}

fn micros(usage: &Usage) -> i64 {
    usage.usd.micros()
}

#[test]
fn what_calls_report_is_summed_by_call_role_tick_task_and_loop() {
    let mut world = World::new(reporting(None, None));
    world.play(
        "
        implement bills 7 100 changes / verify bills 2 30 fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        implement bills 8 100 changes / verify bills 3 30 fail 0.1 | fail verdict | 2 | 0.1 0.1 | | active | worktree implement verify
        ",
    );
    let state = world.machine.state();
    let by_role = |role| micros(&state.spent.by_role[&role]);
    assert_eq!((by_role(Role::Implement), by_role(Role::Verify)), (15, 5));
    assert_eq!(micros(&used(&world)), 20);
    assert_eq!(micros(&world.progress().used), 20);
    let ended = world.machine.ended().unwrap();
    assert_eq!((micros(&ended.used), ended.used.tokens.total()), (11, 130));
    assert_eq!(ended.used.source(), CostSource::Reported);
    assert_eq!(used(&world).tokens.total(), 260);
    let bills = world
        .records
        .iter()
        .filter_map(|record| match &record.body {
            loop_core::record::Body::Answer(answered) => answered.bill.as_ref(),
            _ => None,
        });
    assert_eq!(bills.count(), 4, "each stands in its call's record");
}

// cases: 10, 135
#[test]
fn a_cap_holds_over_what_is_reported() {
    let mut world = World::new(reporting(Some(10), None));
    world.play(
        "
        implement bills 9 1 changes / verify bills 1 1 fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        | human_intervention max_cost | 1 | 0.1 | | waits max_cost |
        ",
    );
    let mut world = World::new(reporting(None, Some(100)));
    world.play(
        "
        implement bills 9 100 changes | human_intervention max_tokens | 0 held | | | waits max_tokens | worktree implement
        > approve                     | granted | 0 held | | | active |
        | human_intervention max_tokens | 0 held | | | waits max_tokens |
        ",
    );
    assert_eq!(
        world.machine.ended().unwrap().why,
        "100 of 100 tokens are used"
    );
}

// cases: 10, 135
#[test]
fn a_call_is_told_what_is_left_and_ended_there() {
    let mut world = World::new(reporting(Some(20), Some(200)));
    world.play(
        "
        implement bills 6 50 changes / verify bills 4 50 fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        implement bills 10 20 partly capped cost | human_intervention max_cost | 2 | 0.1 | | waits max_cost | worktree implement
        ",
    );
    let left: Vec<_> = (world.calls.iter())
        .map(|call| {
            (
                call.budget.usd.unwrap().micros(),
                call.budget.tokens.unwrap(),
            )
        })
        .collect();
    assert_eq!(left, [(20, 200), (14, 150), (10, 100)]);
    let why = &world.machine.ended().unwrap().why;
    assert_eq!(
        why,
        "implement was ended at the cost cap: $0.00002 of $0.00002 are spent"
    );
    // A judge that is ended has judged nothing; its work waits.
    World::new(reporting(None, Some(200))).play(
        "implement bills 1 50 changes / verify bills 1 150 partly capped tokens | human_intervention max_tokens | 0 held | | | waits max_tokens | worktree implement verify",
    );
}

// cases: 133
#[test]
fn under_a_cap_a_call_that_tells_nothing_stops_the_loop() {
    for (micros, tokens, bill, halt) in [
        (Some(100), None, "-  5", "max_cost"),
        (None, Some(100), "1 -", "max_tokens"),
    ] {
        let mut world = World::new(reporting(micros, tokens));
        world.play(&format!(
            "
            implement bills {bill} timeout | fail timeout | 1 | | | active | worktree implement
            | human_intervention {halt} | 1 | | | waits {halt} |
            > approve | granted | 1 | | | active |
            implement bills 1 1 changes / verify bills 1 1 fail 0.1 | fail verdict | 2 | 0.1 | | active | worktree implement verify
            "
        ));
    }
    // What it had told before it was ended lacks a turn at most.
    World::new(reporting(Some(100), None)).play(
        "
        implement bills 7 5 partly timeout | fail timeout | 1 | | | active | worktree implement
        implement bills 7 5 partly timeout | fail timeout | 2 | | | active | worktree implement
        ",
    );
    // A quota may be used up after an hour of work; a login is missing before it.
    World::new(reporting(None, Some(100))).play(
        "
        implement bills 1 - env quota until 60 | environment quota | 0 | | | active | worktree implement
        > wait 60
        | human_intervention max_tokens | 0 | | | waits max_tokens |
        ",
    );
    World::new(reporting(Some(100), Some(100))).play(
        "
        implement bills - - env auth | environment auth | 0 | | | active | worktree implement
        implement bills 1 1 changes / verify bills 1 1 fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        ",
    );
    // An estimate is what such a call is charged with.
    let mut rules = reporting(Some(100), None);
    rules.implement.harnesses[0].cost_per_call = Usd::from_micros(30);
    let mut world = World::new(rules);
    world.play(
        "
        implement bills - 5 timeout       | fail timeout | 1 | | | active | worktree implement
        implement bills 40 5 partly timeout | fail timeout | 2 | | | active | worktree implement
        implement bills 1 5 changes / verify bills 1 1 fail 0.1 | fail verdict | 3 | 0.1 | | active | worktree implement verify
        ",
    );
    assert_eq!(
        (micros(&used(&world)), used(&world).source()),
        (72, CostSource::Estimated)
    );
}

// cases: 133
#[test]
fn without_a_cap_what_is_unknown_is_shown_as_unknown_and_stops_nothing() {
    let mut world = World::new(rules());
    world.play(
        "
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        implement bills 5 7 changes / verify fail 0.1 | fail verdict | 2 | 0.1 0.1 | | active | worktree implement verify
        ",
    );
    let used = used(&world);
    assert_eq!(
        (used.calls, used.unpriced_calls, used.known_cost()),
        (4, 3, None)
    );
    assert_eq!(
        used.in_words(),
        "cost unknown, at least $0.000005, at least 7 tokens"
    );
}

// cases: 37, 39, 40
#[test]
fn a_fault_around_the_loop_is_paid_for_all_the_same() {
    let mut world = World::new(reporting(Some(100), None));
    world.play(
        "
        implement bills 9 9 env rate_limit until 60 | environment rate_limit | 0 | | | active | worktree implement
        > wait 60
        implement bills 9 9 interrupted stop | interrupted stop | 1 | | | active | worktree implement
        ",
    );
    assert_eq!(micros(&used(&world)), 18);
}

#[test]
fn of_a_session_that_counts_up_only_what_is_new_is_charged() {
    let mut world = World::new(reporting(None, None));
    world.play(
        "
        implement bills 1 100 of s exit 1 | fail exit | 1 | | | active | worktree implement
        implement bills 1 150 of s exit 1 | fail exit | 2 | | | active | worktree implement
        implement bills 1 20 of t changes / verify bills 1 1 fail 0.1 | fail verdict | 3 | 0.1 | | active | worktree implement verify
        ",
    );
    assert_eq!(used(&world).tokens.total(), 171);
    // A session that counts less than before has begun anew.
    let mut world = World::new(reporting(None, None));
    world.play(
        "
        implement bills 1 100 of s exit 1 | fail exit | 1 | | | active | worktree implement
        implement bills 1 40 of s exit 1 | fail exit | 2 | | | active | worktree implement
        ",
    );
    assert_eq!(used(&world).tokens.total(), 140);
}

// cases: 38, 40
#[test]
fn an_error_that_is_reported_with_exit_0_is_a_failure_and_no_hint() {
    let mut world = World::new(reporting(None, None));
    world.play(
        "
        implement changes / verify fail 0.1 h | fail verdict | 1 | 0.1 | h | active | worktree implement verify
        implement reported overloaded | fail exit | 2 | 0.1 | h | active | worktree implement
        implement changes / verify reported overloaded | verify_error exit | 2 held | 0.1 | h | active | worktree implement verify
        ",
    );
    assert_eq!(
        world.machine.ended().unwrap().why,
        "verify reported an error: overloaded"
    );
}
