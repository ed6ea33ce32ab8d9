//! One tick: its steps, its files, and what the next one learns from it.

use crate::support::{World, verdict};
use serde_json::Value;
use std::fs;
use std::path::Path;

// scenarios: 1
// rows: L-01, L-04, L-05, L-14, L-16, P-08, P-09, P-14, P-15, P-17, P-18, P-19, K-01, K-03,
// rows: K-04, K-07, P-35, B-07, B-16, V-09
#[test]
fn a_first_tick_passes_and_moves_the_task_one_phase() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    let told = world.tick();
    assert_eq!(told["outcome"], "pass");
    assert_eq!(told["task"], "t1");
    assert_eq!(told["tick"], 1);
    assert_eq!(told["exit"], 0);
    assert_eq!(world.phase("t1"), "spec");
    assert_eq!(world.roles(), ["implement", "verify", "orchestrate"]);

    let calls = world.calls();
    let cwd = world.project().display().to_string();
    assert_eq!(
        calls[0].file(1),
        format!("I brief=BRIEF; crit=- a\n- b; hint=[]; task=t1; phase=research; cwd={cwd}")
    );
    let prompts = ["implement", "verify", "orchestrate"];
    for (call, role) in calls.iter().zip(prompts) {
        let path = world.in_loop(&format!("outputs/tick1-{role}-prompt.md"));
        assert!(Path::new(call.arg(1)).is_absolute());
        assert_eq!(Path::new(call.arg(1)), path);
        assert_eq!(call.cwd, world.project());
        assert_eq!(call.tick, 1);
        assert!(
            world
                .in_loop(&format!("outputs/tick1-{role}-output.md"))
                .is_file()
        );
    }
    assert_eq!(calls[1].file(1), "V art=<did it\n> hint=[]");
    let orchestrate = calls[2].file(1);
    let shown = orchestrate.strip_prefix("O v=").unwrap();
    let shown = shown.strip_suffix(" task=t1").unwrap();
    let shown: Value = serde_json::from_str(shown).unwrap();
    assert_eq!(shown["pass"], true);

    let cache = fs::read_to_string(world.in_loop(".state.json")).unwrap();
    let cache: Value = serde_json::from_str(&cache).unwrap();
    assert_eq!(cache["last_verdict"]["task"], "t1");
    assert_eq!(cache["last_verdict"]["verdict"]["pass"], true);
    assert_eq!(cache["in_progress"], Value::Null);
    let log = world.log();
    assert_eq!(
        steps_in_order(&log),
        [
            "gate",
            "find_work",
            "worktree",
            "baseline",
            "implement",
            "scope",
            "verify",
            "receipt",
            "report",
            "orchestrate",
            "advance",
            "state_write"
        ]
    );
}

/// Returns the steps that a log tells of, each once, in order.
fn steps_in_order(log: &str) -> Vec<&str> {
    let mut steps: Vec<_> = log
        .lines()
        .filter_map(|line| line.split(" step=").nth(1)?.split(' ').next())
        .collect();
    steps.dedup();
    steps
}

// scenarios: 2
// rows: K-06, K-09, B-06, B-17, P-16, Q-33
#[test]
fn a_failing_verdict_feeds_its_hint_to_the_next_tick() {
    let world = World::plain().with_loop();
    world.says_at("verify", 1, verdict(false, 0.4, "fix the parser"));
    world.says_at("verify", 2, verdict(true, 1.0, ""));
    let told = world.tick();
    assert_eq!(told["outcome"], "fail");
    assert_eq!(told["reason"], "verdict");
    assert_eq!(told["iteration"], 1);
    assert_eq!(world.roles(), ["implement", "verify"]);
    assert_eq!(world.phase("t1"), "research");
    assert_eq!(world.state()["status"], "active");
    assert_eq!(world.progress()["iteration"], 1);

    assert_eq!(world.tick()["outcome"], "pass");
    for role in ["implement", "verify"] {
        let prompt = world.output(&format!("tick2-{role}-prompt.md"));
        assert!(prompt.contains("hint=[fix the parser]"), "{prompt}");
        let earlier = world.output(&format!("tick1-{role}-prompt.md"));
        assert!(earlier.contains("hint=[]"), "{earlier}");
    }
}

// rows: K-06, K-07, Q-28, Q-34
#[test]
fn next_hint_comes_from_the_last_verdict() {
    let world = World::plain().with_loop();
    for (n, hint) in [(1, "the first"), (2, "the second")] {
        world.says_at("verify", n, verdict(false, f64::from(n) / 10.0, hint));
    }
    for hint in ["", "the first", "the second"] {
        world.tick();
        let tick = world.state()["tick"].clone();
        let prompt = world.output(&format!("tick{tick}-implement-prompt.md"));
        assert!(prompt.contains(&format!("hint=[{hint}]")), "{prompt}");
    }
}

// rows: L-13, S-02, Q-41
#[test]
fn a_legacy_single_loop_ticks_unchanged() {
    let legacy = World::plain().with(|config| {
        let config = config.as_object_mut().unwrap();
        config.remove("work_source");
        config.remove("acceptance_criteria");
    });
    let today = World::plain().with(|config| config["acceptance_criteria"] = "".into());
    let told: Vec<_> = [&legacy, &today]
        .into_iter()
        .map(|world| {
            world.says("verify", verdict(true, 1.0, ""));
            let told = world.tick();
            let prompt = world.output("tick1-implement-prompt.md");
            assert!(prompt.contains("crit=; "), "{prompt}");
            let roles = world.roles();
            (
                told,
                roles,
                world.phase("t1"),
                world.state()["last_verdict"].take(),
            )
        })
        .collect();
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].2, "spec");
}

/// An outcome, what the agents do for it, and the exit code that tells it.
type Ending = (&'static str, fn(&World), i32);

// rows: L-15, U-04
#[test]
fn a_plain_tick_is_no_failed_unit_and_an_exit_code_tells_the_outcome() {
    let endings: [Ending; 8] = [
        (
            "pass",
            |world| world.says("verify", verdict(true, 1.0, "")),
            0,
        ),
        (
            "fail",
            |world| world.says("verify", verdict(false, 0.1, "")),
            11,
        ),
        ("fail", |world| world.exits("implement", 7), 11),
        (
            "blocked",
            |world| world.says("implement", "{\"blocked\":\"x\"}"),
            11,
        ),
        ("verify_error", |world| world.says("verify", "?"), 11),
        (
            "environment",
            |world| fs::remove_file(world.root().join("bin/rec")).unwrap(),
            10,
        ),
        (
            "human_intervention",
            |world| world.says("verify", verdict(true, 0.1, "")),
            9,
        ),
        ("skipped", |world| drop(world.run(["pause", "L"])), 11),
    ];
    for (outcome, agents, code) in endings {
        for (args, code) in [
            (&["tick", "L", "--json"][..], 0),
            (&["tick", "L", "--json", "--exit-code"], code),
        ] {
            let world = World::plain().with_loop();
            agents(&world);
            let told = world.run(args).rc(code).json();
            assert_eq!(told["outcome"], outcome, "{told}");
            assert_eq!(told["exit"], code, "{told}");
        }
    }
}

// rows: L-03
#[test]
fn the_checks_before_a_tick_have_their_order() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 0.1, ""));
    world.tick();
    world.configure(|config| config["roles"]["verify"]["context_window"] = 8_000.into());
    world.run(["pause", "L"]).rc(0);
    assert_eq!(world.tick()["skip_reason"], "paused");
    world.run(["resume", "L"]).rc(0);
    assert_eq!(world.tick()["skip_reason"], "human_intervention");
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.tick()["skip_reason"], "context_floor");
    world.write_config("{");
    world.run(["tick", "L"]).rc(2);
}

// rows: U-36, L-16
// cases: 68
#[test]
fn a_flood_of_output_is_cut_and_does_not_stop_the_tick() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "implement",
        "echo >>work.txt; dd if=/dev/zero bs=1048576 count=256 2>/dev/null",
    );
    assert_eq!(world.tick()["outcome"], "pass");
    let kept = fs::metadata(world.in_loop("outputs/tick1-implement-stdout.log"))
        .unwrap()
        .len();
    assert!(kept < 51 * 1024 * 1024, "{kept}");
}

// rows: L-10
// cases: 133
#[test]
fn the_first_tick_says_what_has_no_cap_and_only_that_one() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.2, "h"));
    world.run(["pause", "L"]).rc(0);
    world.run(["tick", "L"]).rc(0);
    assert!(
        !world.log().contains("no cap"),
        "a skipped tick spends nothing"
    );
    world.run(["resume", "L"]).rc(0);
    let first = world.run(["tick", "L"]).rc(0);
    assert!(first.err.contains("cost: no cap"), "{first:#?}");
    let second = world.run(["tick", "L"]).rc(0);
    assert!(!second.err.contains("no cap"), "{second:#?}");
    assert_eq!(world.log().matches("cost: no cap").count(), 1);
}
