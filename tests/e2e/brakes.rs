//! Every brake and cap stops the loop, through the real binary.

use crate::support::{World, verdict};
use serde_json::{Value, json};

/// One brake: how it is set, how the agents behave, and in which tick it trips.
struct Trip {
    name: &'static str,
    brakes: Value,
    /// Scripts the agents.
    agents: fn(&World),
    /// The tick that trips.
    tick: u64,
    reason: &'static str,
    exit: i32,
    implements: usize,
    /// What `why` names.
    why: &'static str,
}

fn rising(world: &World) {
    for n in 1..=9 {
        world.says_at("verify", n, verdict(false, f64::from(n) / 20.0, "h"));
    }
}

fn flat(world: &World) {
    world.says("verify", verdict(false, 0.4, "h"));
}

/// The tick counts of `max_ticks_per_day` need a day that does not end meanwhile.
const TRIPS: &[fn() -> Trip] = &[
    || Trip {
        name: "max_iterations",
        brakes: json!({"max_iterations": 2}),
        agents: rising,
        tick: 2,
        reason: "max_iterations",
        exit: 8,
        implements: 2,
        why: "all 2 attempts are spent",
    },
    || Trip {
        name: "score_plateau_window",
        brakes: json!({"score_plateau_window": 2}),
        agents: flat,
        tick: 2,
        reason: "score_plateau",
        exit: 6,
        implements: 2,
        why: "has not risen in 2 attempts",
    },
    || Trip {
        name: "no_progress_window",
        brakes: json!({"no_progress_window": 2}),
        agents: |world| {
            rising(world);
            world.role("implement", "");
        },
        tick: 2,
        reason: "no_progress",
        exit: 6,
        implements: 2,
        why: "2 attempts in a row changed nothing",
    },
    || Trip {
        name: "max_harness_failures of implement",
        brakes: json!({"max_harness_failures": 2}),
        agents: |world| world.exits("implement", 1),
        tick: 2,
        reason: "harness_failures",
        exit: 6,
        implements: 2,
        why: "implement failed 2 times in a row",
    },
    || Trip {
        name: "max_harness_failures of verify",
        brakes: json!({"max_harness_failures": 2}),
        agents: |world| world.exits("verify", 1),
        tick: 2,
        reason: "verifier_broken",
        exit: 7,
        implements: 1,
        why: "no judgement 2 times in a row",
    },
    || Trip {
        name: "blocked twice",
        brakes: json!({}),
        agents: |world| world.says("implement", "{\"blocked\":\"a key\"}"),
        tick: 2,
        reason: "blocked",
        exit: 9,
        implements: 2,
        why: "a key",
    },
    || Trip {
        name: "min_score",
        brakes: json!({"min_score": 0.9}),
        agents: |world| world.says("verify", verdict(true, 0.8, "")),
        tick: 1,
        reason: "low_score",
        exit: 9,
        implements: 1,
        why: "below 0.9",
    },
    || Trip {
        name: "max_wall_seconds",
        brakes: json!({"max_wall_seconds": 1}),
        agents: |world| {
            rising(world);
            world.role("implement", "echo \"$n\" >>work.txt; sleep 60");
        },
        tick: 1,
        reason: "max_wall",
        exit: 8,
        implements: 1,
        why: "the task has run for",
    },
    || Trip {
        name: "max_ticks_per_day",
        brakes: json!({"max_ticks_per_day": 2}),
        agents: rising,
        tick: 3,
        reason: "max_ticks",
        exit: 8,
        implements: 2,
        why: "2 of 2 ticks",
    },
    || Trip {
        name: "max_cost_usd",
        brakes: json!({"max_cost_usd": 0.5}),
        agents: rising,
        tick: 3,
        reason: "max_cost",
        exit: 8,
        implements: 2,
        why: "$0.42 of $0.50 are spent, and a call of implement costs $0.20",
    },
    || Trip {
        name: "environment",
        brakes: json!({}),
        agents: |world| std::fs::remove_file(world.root().join("bin/rec")).unwrap(),
        tick: 2,
        reason: "environment",
        exit: 10,
        implements: 0,
        why: "2 times in a row",
    },
];

// scenarios: 10, 11
// rows: B-01, B-02, B-03, B-05, L-15
// cases: 6, 24, 39, 103, 104, 133, 135, 158
#[test]
fn every_brake_trips_and_names_itself() {
    for trip in TRIPS.iter().map(|trip| trip()) {
        let world = World::plain().with(|config| {
            let brakes = config["brakes"].as_object_mut().unwrap();
            brakes.extend(trip.brakes.as_object().unwrap().clone());
            if trip.brakes.get("max_cost_usd").is_some() {
                config["harness"]["cost_per_call_usd"] = json!(0.2);
                config["roles"]["verify"]["harness"] =
                    json!({"command": ["rec", "{prompt}"], "cost_per_call_usd": 0.01});
            }
        });
        (trip.agents)(&world);
        for tick in 1..trip.tick {
            let told = world.tick();
            assert_ne!(
                told["outcome"], "human_intervention",
                "{}: {told}",
                trip.name
            );
            assert_eq!(told["tick"], tick, "{}", trip.name);
        }
        let run = world
            .run(["tick", "L", "--json", "--exit-code"])
            .rc(trip.exit);
        let told = run.json();
        assert_eq!(
            told["outcome"], "human_intervention",
            "{}: {told}",
            trip.name
        );
        assert_eq!(told["reason"], trip.reason, "{}", trip.name);
        assert_eq!(told["tick"], trip.tick, "{}", trip.name);
        assert_eq!(told["next"]["needs"], "approve", "{}", trip.name);
        assert!(
            told["why"].as_str().unwrap().contains(trip.why),
            "{}: {told}",
            trip.name
        );
        assert!(
            told["do"].as_str().unwrap().contains("loop approve L"),
            "{}",
            trip.name
        );
        assert_eq!(world.count("implement"), trip.implements, "{}", trip.name);

        // It stays stopped, and says why again, in JSON and by its exit code.
        let again = world
            .run(["tick", "L", "--json", "--exit-code"])
            .rc(trip.exit)
            .json();
        assert_eq!(again["outcome"], "skipped", "{}", trip.name);
        assert_eq!(again["skip_reason"], "human_intervention", "{}", trip.name);
        assert_eq!(world.count("implement"), trip.implements, "{}", trip.name);
        assert_eq!(world.state()["reason"], trip.reason, "{}", trip.name);
    }
}

// rows: D-15
// cases: 133
#[test]
fn the_bill_stays_inside_the_cap() {
    let world = World::plain().with(|config| {
        config["brakes"]["max_cost_usd"] = json!(0.5);
        config["harness"]["cost_per_call_usd"] = json!(0.2);
    });
    world.says("verify", verdict(false, 0.3, "h"));
    let told = world.tick();
    assert_eq!(told["cost_usd"], 0.4);
    assert_eq!(told["cost_source"], "estimated");
    let told = world.tick();
    assert_eq!(told["reason"], "max_cost");
    assert_eq!(world.roles(), ["implement", "verify"]);
    assert_eq!(world.state()["spent"]["usd"], 0.4);

    // Approving alone changes nothing: the sum stays and is checked again.
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.tick()["reason"], "max_cost");
    world.configure(|config| config["brakes"]["max_cost_usd"] = json!(0.9));
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.tick()["outcome"], "fail");
    assert_eq!(world.state()["spent"]["usd"], 0.8);
}

// rows: V-07
// cases: 10
#[test]
fn a_cap_reached_after_implement_leaves_the_work_unjudged_and_calls_nobody() {
    let world = World::plain().with(|config| {
        config["brakes"]["max_cost_usd"] = json!(0.3);
        config["harness"]["cost_per_call_usd"] = json!(0.2);
    });
    let told = world.tick();
    assert_eq!(told["reason"], "max_cost");
    assert_eq!(told["iteration"], 0, "held, not spent");
    assert_eq!(world.roles(), ["implement"]);
    world.configure(|config| config["brakes"]["max_cost_usd"] = json!(1.0));
    world.says("verify", verdict(true, 1.0, ""));
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.roles(), ["implement", "verify", "orchestrate"]);
}

// rows: D-15
// cases: 133
#[test]
fn an_unknown_cost_is_shown_as_unknown() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    let told = world.tick();
    assert_eq!(told["cost_usd"], Value::Null);
    assert_eq!(told["cost_source"], "unknown");
    let listed = world.run(["list", "--json"]).json();
    assert_eq!(listed["loops"][0]["cost_usd"], Value::Null);
    let shown = world.run(["config", "L"]).out;
    assert!(shown.contains("cost: no cap"), "{shown}");
}

// scenarios: 10
// rows: B-02, B-05, B-12, K-08
#[test]
fn the_last_attempt_escalates_once_and_approving_starts_over() {
    let world = World::plain().with(|config| config["brakes"]["max_iterations"] = 2.into());
    world.says_at("verify", 1, verdict(false, 0.1, "h"));
    world.says("verify", verdict(false, 0.2, "h"));
    assert_eq!(world.tick()["outcome"], "fail");
    let told = world.tick();
    assert_eq!(told["reason"], "max_iterations");
    assert_eq!(told["brake"], "max_iterations");
    assert_eq!(told["iteration"], 2);
    assert_eq!(world.tick()["outcome"], "skipped");
    assert_eq!(world.count("implement"), 2);
    assert_eq!(world.count("orchestrate"), 1, "the escalation");

    world.run(["approve", "L"]).rc(0);
    let told = world.tick();
    assert_eq!(told["outcome"], "fail");
    assert_eq!(told["iteration"], 1);
    assert!(
        world
            .output("tick3-implement-prompt.md")
            .contains("hint=[]")
    );
}

// scenarios: 11
// rows: B-03, B-04
#[test]
fn the_plateau_looks_at_the_first_score_of_its_window() {
    for (window, scores, halted) in [
        (3, &[0.4, 0.4, 0.4][..], true),
        (3, &[0.0, 0.4, 0.4], false),
        (3, &[0.5, 0.4, 0.3], true),
        (0, &[0.4; 5], false),
    ] {
        let world = World::plain().with(|config| {
            config["brakes"]["score_plateau_window"] = window.into();
        });
        let mut told = Value::Null;
        for (n, score) in (1..).zip(scores) {
            world.says_at("verify", n, verdict(false, *score, "h"));
            assert_ne!(
                told["outcome"], "human_intervention",
                "{scores:?} in tick {n}"
            );
            told = world.tick();
        }
        let (outcome, reason) = match halted {
            true => ("human_intervention", "score_plateau"),
            false => ("fail", "verdict"),
        };
        assert_eq!(told["outcome"], outcome, "{scores:?}");
        assert_eq!(told["reason"], reason, "{scores:?}");
    }
}

// rows: B-03
// cases: 7
#[test]
fn the_same_hint_three_times_is_no_reason_to_stop_while_the_score_rises() {
    let world = World::plain().with_loop();
    rising(&world);
    for _ in 0..4 {
        assert_eq!(world.tick()["outcome"], "fail");
    }
}

// cases: 6
#[test]
fn a_pass_in_the_last_attempt_is_a_pass() {
    let world = World::plain().with(|config| config["brakes"]["max_iterations"] = 3.into());
    world.says("verify", verdict(true, 1.0, ""));
    for n in [1, 2] {
        world.says_at("verify", n, verdict(false, f64::from(n) / 10.0, "h"));
    }
    world.tick();
    world.tick();
    let told = world.tick();
    assert_eq!(told["outcome"], "pass");
    assert_eq!(told["brake"], Value::Null);
    assert_eq!(world.state()["status"], "active");
}

// cases: 2, 117
#[test]
fn a_raised_limit_counts_at_once_after_approving() {
    let world = World::plain().with(|config| config["brakes"]["max_ticks_per_day"] = 1.into());
    world.says("verify", verdict(false, 0.3, "h"));
    world.tick();
    assert_eq!(world.tick()["reason"], "max_ticks");
    world.configure(|config| config["brakes"]["max_ticks_per_day"] = 9.into());
    assert_eq!(
        world.tick()["outcome"],
        "skipped",
        "a person has to let it go on"
    );
    world.run(["approve", "L"]).rc(0);
    let told = world.tick();
    assert_eq!(told["outcome"], "fail");
    assert_eq!(told["iteration"], 2, "the record of the work is kept");
}
