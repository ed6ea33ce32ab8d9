//! Hard caps, before every call that costs something (decisions D-4, D-15).

use crate::world::World;
use crate::{limited, orchestrated, rules};
use loop_core::Usd;
use loop_core::rules::Rules;

/// Every call costs ten millionths.
fn priced(cap: i64) -> Rules {
    let mut rules = limited(|brakes| brakes.max_cost = Usd::from_micros(cap));
    let price = Usd::from_micros(10);
    rules.implement.harnesses[0].cost_per_call = price;
    rules.verify.harnesses[0].cost_per_call = price;
    rules
}

// rows: B-05, L-03
// cases: 10
#[test]
fn the_cost_cap_stands_before_every_call() {
    let halted = "human_intervention max_cost";
    let waits = "waits max_cost";
    for (cap, row, spent) in [
        // Before implement: nothing is made ready for a call that cannot be paid.
        (9, format!("| {halted} | 0 | | | {waits} |"), 0),
        // Before verify: the work is left unjudged.
        (10, format!("implement changes | {halted} | 0 held | | | {waits} | worktree implement"), 10),
        (19, format!("implement changes | {halted} | 0 held | | | {waits} | worktree implement"), 10),
        // Before the re-ask.
        (20, format!("implement changes / verify mumbles | {halted} | 0 held | | | {waits} | worktree implement verify"), 20),
        (29, format!("implement changes / verify mumbles | {halted} | 0 held | | | {waits} | worktree implement verify"), 20),
        (30, "implement changes / verify mumbles / verify fail 0 | fail verdict | 1 | 0 | | active | worktree implement verify verify".to_owned(), 30),
        // A call of implement that failed needs no judge.
        (10, "implement exit 1 | fail exit | 1 | | | active | worktree implement".to_owned(), 10),
        // What began is charged, whatever ends it.
        (20, "implement interrupted crash | interrupted crash | 1 | | | active | worktree implement".to_owned(), 10),
        (20, "implement unbegun env auth | environment auth | 0 | | | active | worktree implement".to_owned(), 0),
    ] {
        let mut world = World::new(priced(cap));
        world.play(&row);
        assert_eq!(world.machine.state().spent.used.usd, Usd::from_micros(spent).unwrap(), "{cap}: {row}");
        assert_eq!(world.machine.ended().unwrap().used.usd, Usd::from_micros(spent).unwrap());
        assert_eq!(world.machine.state().known_cost(), Usd::from_micros(spent));
    }
}

// rows: B-11, B-12
// cases: 6, 10, 117
#[test]
fn a_reached_cap_stays_reached_until_it_is_raised() {
    let mut world = World::new(priced(20));
    world.play(
        "
        implement changes / verify fail 0.1 h | fail verdict | 1 | 0.1 | h | active | worktree implement verify
        # It is noticed before any work is looked for, and stands in a tick's record.
        | human_intervention max_cost | 1 | 0.1 | h | waits max_cost |
        | skipped max_cost            | 1 | 0.1 | h | waits max_cost |
        > approve                     | granted | 1 | 0.1 | h | active |
        | human_intervention max_cost | 1 | 0.1 | h | waits max_cost |
        ",
    );
    assert_eq!(world.machine.ended().unwrap().task, None);
    // Raised without an approval, it still waits; approved, it goes on as it was.
    world.rules = priced(40);
    world.play(
        "
        | skipped max_cost | 1 | 0.1 | h | waits max_cost |
        > pause            | granted | 1 | 0.1 | h | waits max_cost paused |
        > approve          | granted | 1 | 0.1 | h | active paused |
        > resume           | granted | 1 | 0.1 | h | active |
        implement changes / verify fail 0.2 h | fail verdict | 2 | 0.1 0.2 | h | active | worktree implement verify
        ",
    );
    // Work that the cap left unjudged is judged when there is money again.
    let mut world = World::new(priced(10));
    world.play("implement changes | human_intervention max_cost | 0 held | | | waits max_cost | worktree implement");
    world.rules = priced(20);
    world.play(
        "
        > approve       | granted | 0 held | | | active |
        verify pass 0.9 | pass | 0 | | | active | worktree tree verify report advance
        ",
    );
    // The judgement on the last cent counts.
    World::new(priced(20)).play(
        "implement changes / verify pass 1 | pass | 0 | | | active | worktree implement verify report advance",
    );
}

// cases: 133
#[test]
fn a_cap_that_nobody_can_check_lets_no_call_through() {
    for role in ["implement", "verify"] {
        let mut rules = priced(1_000);
        let (row, call) = if role == "implement" {
            (
                "| human_intervention max_cost | 0 | | | waits max_cost |",
                &mut rules.implement,
            )
        } else {
            (
                "implement changes | human_intervention max_cost | 0 held | | | waits max_cost | worktree implement",
                &mut rules.verify,
            )
        };
        call.harnesses[0].cost_per_call = None;
        let mut world = World::new(rules);
        world.play(row);
        let why = world.machine.state().why.clone().unwrap();
        assert_eq!(why, format!("what a call of {role} costs is unknown"));
    }
    // Without a cap an unknown cost is counted as unknown, never as nothing.
    let mut world = World::new(rules());
    world.play("implement changes / verify fail 0 | fail verdict | 1 | 0 | | active | worktree implement verify");
    assert_eq!(world.machine.state().known_cost(), None);
    assert_eq!(world.machine.state().spent.used.unpriced_calls, 2);
    assert_eq!(world.machine.ended().unwrap().used.unpriced_calls, 2);
    assert_eq!(
        World::new(rules()).machine.state().known_cost(),
        Usd::from_micros(0)
    );
}

// rows: B-05, U-20
// cases: 6, 11
#[test]
fn the_wall_cap_stands_before_every_call_and_cuts_it() {
    let ten = || limited(|brakes| brakes.max_wall_ms = Some(10_000));
    let halted = "human_intervention max_wall";
    for row in [
        // Making the place ready counts; nothing is called afterwards.
        &format!("worktree takes 10 | {halted} | 0 | | | waits max_wall | worktree"),
        "worktree takes 9 / implement changes takes 0 / verify takes 0 fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify",
        &format!(
            "implement takes 9 changes | {halted} | 0 held | | | waits max_wall | worktree implement"
        ),
        &format!(
            "implement takes 5 changes / verify takes 4 mumbles | {halted} | 0 held | | | waits max_wall | worktree implement verify"
        ),
        // A pass that comes as the time runs out is a pass.
        "implement takes 5 changes / verify takes 4 pass 1 | pass | 0 | | | active | worktree implement verify report advance",
        "implement takes 5 changes / verify takes 4 fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify",
        // A call that was cut to the time left says so: the attempt is spent, or left unjudged.
        &format!(
            "implement takes 9 timeout changes | {halted} | 1 | | | waits max_wall | worktree implement"
        ),
        &format!(
            "implement takes 9 idle changes | {halted} | 1 | | | waits max_wall | worktree implement"
        ),
        &format!(
            "implement changes / verify takes 8 timeout | {halted} | 0 held | | | waits max_wall | worktree implement verify"
        ),
        // Other ends are what they are.
        "implement takes 9 exit 1 | fail exit | 1 | | | active | worktree implement",
        "implement changes / verify takes 8 exit 1 | verify_error exit | 0 held | | | active | worktree implement verify",
        "implement takes 5 timeout changes | fail timeout | 1 | | | active | worktree implement",
    ] {
        World::new(ten()).play(row);
    }
    // A judge that ran out of the task's time has not failed.
    let mut world = World::new(ten());
    world.play("implement changes / verify takes 8 timeout | human_intervention max_wall | 0 held | | | waits max_wall | worktree implement verify");
    assert_eq!(world.progress().verify_failures, 0);
    // Before a tick that only judges, too; and it stays reached.
    let mut world = World::new(ten());
    world.play(
        "
        implement takes 8 changes / verify takes 0 exit 1 | verify_error exit | 0 held | | | active | worktree implement verify
        worktree takes 0 / tree takes 0 / verify takes 1 exit 1 | verify_error exit | 0 held | | | active | worktree tree verify
        | human_intervention max_wall | 0 held | | | waits max_wall |
        > approve | granted | 0 held | | | active |
        | human_intervention max_wall | 0 held | | | waits max_wall |
        > approve | granted | 0 held | | | active |
        ",
    );
    world.rules.brakes.max_wall_ms = Some(20_000);
    world.play("verify pass 1 | pass | 0 | | | active | worktree tree verify report advance");
}

// rows: U-20
// cases: 11
#[test]
fn no_call_may_take_longer_than_the_task_has_left() {
    let mut rules = orchestrated();
    rules.brakes.max_wall_ms = Some(100_000);
    rules.implement.harnesses[0].timeout_ms = 60_000;
    rules.verify.harnesses[0].timeout_ms = 50_000;
    rules.orchestrate.as_mut().unwrap().harnesses[0].timeout_ms = 40_000;
    let mut world = World::new(rules.clone());
    world.play(
        "
        worktree takes 0 / implement takes 55 changes / verify takes 15 pass 1 / orchestrate takes 5 | pass | 0 | | | active | worktree implement verify report orchestrate advance
        # The time is the task's, over all its ticks and phases.
        worktree takes 0 / implement takes 3 changes / verify takes 2 fail 0 | fail verdict | 1 | 0 | | active | worktree implement verify
        ",
    );
    let given: Vec<u64> = world.calls.iter().map(|call| call.timeout_ms).collect();
    assert_eq!(given, [60_000, 45_000, 29_000, 23_000, 20_000]);
    assert_eq!(world.machine.state().spent.wall_ms, 82_000);
    // Another task has its own time.
    world.rules.single = false;
    world.play("> task u\n > phase implement\n implement exit 1 | fail exit | 1 | | | active | worktree implement");
    assert_eq!(world.calls[5].timeout_ms, 60_000);
    // Without a cap there is the call's own limit.
    rules.brakes.max_wall_ms = None;
    let mut world = World::new(rules);
    world.play("worktree takes 999999 / implement takes 999999 exit 1 | fail exit | 1 | | | active | worktree implement");
    assert_eq!(world.calls[0].timeout_ms, 60_000);
}

// rows: B-05, L-03
#[test]
fn ticks_a_day_are_counted_by_the_utc_day_they_open_in() {
    let two = || limited(|brakes| brakes.max_ticks_per_day = Some(2));
    let work = "implement changes / verify fail";
    let mut world = World::new(two());
    world.play(&format!(
        "
        > clock 2026-11-30T23:59:50Z
        # This tick is yesterday's, although it ends today.
        {work} 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        > clock 2026-12-01T00:00:00Z
        {work} 0.2 | fail verdict | 2 | 0.1 0.2 | | active | worktree implement verify
        # A look for work that finds none is no tick.
        find_work no_work | skipped no_work | 2 | 0.1 0.2 | | active |
        {work} 0.3 | fail verdict | 3 | 0.1 0.2 0.3 | | active | worktree implement verify
        | human_intervention max_ticks | 3 | 0.1 0.2 0.3 | | waits max_ticks |
        # Approved the same day, it is checked again.
        > approve | granted | 3 | 0.1 0.2 0.3 | | active |
        | human_intervention max_ticks | 3 | 0.1 0.2 0.3 | | waits max_ticks |
        > approve | granted | 3 | 0.1 0.2 0.3 | | active |
        > clock 2026-12-02T00:00:00Z
        {work} 0.4 | fail verdict | 4 | 0.1 0.2 0.3 0.4 | | active | worktree implement verify
        ",
    ));
    let state = world.machine.state();
    assert_eq!(
        (state.today.day.as_str(), state.today.ticks),
        ("2026-12-02", 1)
    );
    assert_eq!(
        state.spent.ticks, 4,
        "a tick that only says why it stops is none"
    );
    assert_eq!(state.tick, 6, "but it has a number, and a record");
}

// rows: B-05, L-03
#[test]
fn a_day_that_ends_while_its_cap_is_looked_at_leaves_no_tick_open() {
    let one = limited(|brakes| brakes.max_ticks_per_day = Some(1));
    let mut world = World::new(one);
    world.play(
        "
        > clock 2026-11-30T23:00:00Z
        implement exit 1 | fail exit | 1 | | | active | worktree implement
        > clock 2026-11-30T23:59:59Z
        open takes 2 | human_intervention max_ticks | 1 | | | waits max_ticks |
        > approve | granted | 1 | | | active |
        implement exit 1 | fail exit | 2 | | | active | worktree implement
        ",
    );
    // The other way round: the tick is counted for the day in which it opens.
    let one = limited(|brakes| brakes.max_ticks_per_day = Some(1));
    World::new(one).play(
        "
        > clock 2026-11-30T23:59:58Z
        find_work takes 1 / open takes 1 / implement exit 1 | fail exit | 1 | | | active | worktree implement
        | human_intervention max_ticks | 1 | | | waits max_ticks |
        ",
    );
}

// cases: 158
#[test]
fn a_cap_says_how_much_of_what_is_used() {
    let why = |world: &World| world.machine.ended().unwrap().why.clone();
    let mut world = World::new(priced(1_500_015));
    world.rules.implement.harnesses[0].cost_per_call = Usd::from_micros(1_500_010);
    world.play("implement changes | human_intervention max_cost | 0 held | | | waits max_cost | worktree implement");
    assert_eq!(
        why(&world),
        "$1.50001 of $1.500015 are spent, and a call of verify costs $0.00001"
    );
    world.rules = priced(20);
    world.play("> approve | granted | 0 held | | | active |\n | human_intervention max_cost | 0 held | | | waits max_cost |");
    assert_eq!(why(&world), "$1.50001 of $0.00002 are spent");
    let mut world = World::new(limited(|brakes| brakes.max_wall_ms = Some(7_200_000)));
    world.play("implement takes 7205 timeout changes | human_intervention max_wall | 1 | | | waits max_wall | worktree implement");
    assert_eq!(
        why(&world),
        "implement timed out after 60s; the task has run for 7206s of 7200s"
    );
    let mut world = World::new(limited(|brakes| brakes.max_ticks_per_day = Some(1)));
    world.play("implement exit 1 | fail exit | 1 | | | active | worktree implement");
    assert_eq!(why(&world), "implement exited with 1");
    world.play("| human_intervention max_ticks | 1 | | | waits max_ticks |");
    assert_eq!(why(&world), "1 of 1 ticks were made today");
}
