//! What a harness says of its cost while it works, and where that can go wrong.

use crate::profiles::{claude_says, driven_by, pi_says};
use crate::support::World;
use serde_json::{Value, json};
use std::fs;

/// Lets agents say 30 MB of events that mean nothing: more than is kept of an output's start.
fn make_noise(world: &World) {
    let event = json!({ "x": "x".repeat(990) });
    fs::write(world.rec("noise"), format!("{event}\n").repeat(30_000)).unwrap();
}

/// Lets only the implementer work, under a cap on the cost.
fn alone_under(usd: f64, world: &World) {
    world.configure(|config| {
        config["brakes"]["max_cost_usd"] = json!(usd);
        config["roles"] = json!({"implement": {"prompt": "impl.md"}});
    });
}

// rows: D-15
// cases: 10, 68, 135
#[test]
fn a_cap_holds_however_much_a_harness_prints() {
    let world = driven_by(json!("pi"));
    alone_under(2.0, &world);
    fs::write(world.rec("turn"), pi_says("one more turn", 1.0)).unwrap();
    make_noise(&world);
    world.role(
        "implement",
        "echo x >>work.txt; cat \"$REC/noise\"; while :; do cat \"$REC/turn\"; sleep 0.5; done",
    );
    let told = world.tick();
    assert_eq!(told["reason"], "max_cost", "{told:#}");
    let why = told["why"].as_str().unwrap();
    assert!(
        why.starts_with("implement was ended at the cost cap"),
        "{why}"
    );
    let usd = world.state()["spent"]["usd"].as_f64().unwrap();
    assert!((2.0..4.0).contains(&usd), "{usd}");
}

// rows: D-15
// cases: 68, 133
#[test]
fn what_is_not_kept_of_an_output_is_paid_for_all_the_same() {
    let world = driven_by(json!("pi"));
    alone_under(100.0, &world);
    for (name, usd) in [("middle", 10.0), ("last", 0.5)] {
        fs::write(world.rec(name), pi_says(name, usd)).unwrap();
    }
    make_noise(&world);
    world.role(
        "implement",
        "cd \"$REC\"; cat noise middle noise last; cd -; echo x >>work.txt",
    );
    world.tick();
    assert_eq!(world.state()["spent"]["by_role"]["implement"]["usd"], 10.5);
    assert!(
        world
            .shown()
            .contains("implement: 1 call, $10.50 (reported)")
    );
    let kept = fs::read_to_string(world.in_loop("outputs/tick1-implement-stdout.log")).unwrap();
    assert!(kept.contains("bytes omitted"));
    assert!(!kept.contains("middle"));
}

// rows: D-15
// cases: 133, 137
#[test]
fn a_turn_that_tells_no_cost_makes_the_sum_unknown_and_no_other_call_follows() {
    let unpriced = |cost: Value| {
        let usage = json!({"input": 9_000_000, "cacheRead": 0, "cacheWrite": 0, "output": 500,
            "cost": cost});
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}],
            "usage": usage, "stopReason": "stop"});
        format!("{}\n", json!({"type": "message_end", "message": message}))
    };
    for cost in [Value::Null, json!({"total": null}), json!({"total": 0})] {
        let world = driven_by(json!("pi"));
        alone_under(5.0, &world);
        world.says(
            "implement",
            [pi_says("one", 0.01), unpriced(cost.clone())].concat(),
        );
        let told = world.tick();
        assert_eq!(told["cost_usd"], Value::Null, "{cost}: {told:#}");
        assert_eq!(told["reason"], "max_cost", "{cost}: {told:#}");
        assert_eq!(world.state()["spent"]["usd"], 0.01, "what is known stays");
        assert!(world.shown().contains("cost unknown, at least $0.01"));
    }
}

// rows: D-4, D-15
// cases: 43
#[test]
fn a_harness_that_is_refused_at_once_has_used_nothing_and_one_that_worked_before_has() {
    let failed = json!({"type": "turn.failed", "error": {"message":
        "You've hit your usage limit. Try again in 2 hours."}});
    let ran = json!({"type": "item.started",
        "item": {"id": "i1", "type": "command_execution"}});
    for (before, is_known) in [(String::new(), true), (format!("{ran}\n"), false)] {
        let world = driven_by(json!("codex"));
        world.configure(|config| {
            config["brakes"]["max_tokens"] = json!(1_000_000);
            config["roles"] = json!({"implement": {"prompt": "impl.md"}});
        });
        world.says("implement", format!("{before}{failed}\n"));
        world.exits("implement", 1);
        let told = world.tick();
        assert_eq!(told["reason"], "quota", "{told:#}");
        assert_eq!(told["tokens"].is_object(), is_known, "{told:#}");
        let halts = world.state()["unknown_bill"].is_object();
        assert_ne!(halts, is_known, "an unknown bill lets no other call follow");
    }
}

// cases: 52
#[test]
fn a_harness_that_goes_on_after_its_last_word_has_not_finished() {
    let world = driven_by(json!({"profile": "claude", "idle_timeout_seconds": 1}));
    let busy = json!({"type": "assistant", "message": {"id": "m", "content": []}});
    for (name, text) in [
        ("first", claude_says("half", false, None)),
        ("busy", format!("{busy}\n")),
    ] {
        fs::write(world.rec(name), text).unwrap();
    }
    world.role(
        "implement",
        "echo x >>work.txt; cat \"$REC/first\" \"$REC/busy\"; sleep 3600",
    );
    let told = world.tick();
    assert_eq!(
        (&told["outcome"], &told["reason"]),
        (&json!("fail"), &json!("timeout")),
        "{told:#}"
    );
}
