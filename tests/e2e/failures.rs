//! Agents that fail, hang or are not there.

use crate::support::{World, verdict, wait_for};
use serde_json::json;

// scenarios: 21
// rows: H-37, U-19
#[test]
fn an_implementer_that_exits_badly_has_failed_and_is_not_judged() {
    let world = World::plain().with_loop();
    world.exits("implement", 1);
    let told = world.tick();
    assert_eq!(told["outcome"], "fail");
    assert_eq!(told["reason"], "exit");
    assert!(
        told["why"]
            .as_str()
            .unwrap()
            .contains("implement exited with 1"),
        "{told}"
    );
    assert_eq!(told["iteration"], 1);
    assert_eq!(world.roles(), ["implement"]);
    assert_eq!(world.progress()["scores"], json!([]));
}

// scenarios: 21
// rows: H-37, U-19
#[test]
fn a_failed_attempt_keeps_the_hint() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "look here"));
    world.tick();
    world.exits("implement", 1);
    world.tick();
    std::fs::remove_file(world.rec("implement.rc")).unwrap();
    world.tick();
    assert!(
        world
            .output("tick3-implement-prompt.md")
            .contains("hint=[look here]")
    );
}

// scenarios: 21
// rows: V-07, U-19
// cases: 24
#[test]
fn a_verifier_that_exits_badly_gives_no_judgement_whatever_it_printed() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.exits("verify", 2);
    let told = world.tick();
    assert_eq!(told["outcome"], "verify_error");
    assert_eq!(told["reason"], "exit");
    assert_eq!(told["iteration"], 0);
    assert_eq!(
        world.roles(),
        ["implement", "verify"],
        "it is not asked again"
    );
    assert_eq!(world.phase("t1"), "research");
}

// scenarios: 21
// rows: B-16, U-19
#[test]
fn when_orchestrate_fails_the_engines_decision_stands() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.exits("orchestrate", 1);
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.phase("t1"), "spec");
    let log = world.log();
    let told = log
        .lines()
        .find(|line| line.contains("orchestrate") && line.contains("ERROR"));
    assert!(told.is_some(), "{log}");
}

// scenarios: 21
// rows: H-35, U-19
#[test]
fn a_missing_program_costs_no_attempt_and_stops_the_loop_the_second_time() {
    let world = World::plain().with(|config| {
        config["harness"]["command"] = json!(["no-such-agent", "{prompt}"]);
    });
    let told = world.tick();
    assert_eq!(told["outcome"], "environment");
    assert_eq!(told["reason"], "missing_program");
    assert!(
        told["why"].as_str().unwrap().contains("no-such-agent"),
        "{told}"
    );
    assert_eq!(told["iteration"], 0);
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "environment");
    assert_eq!(told["iteration"], 0);
    assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 10);

    // Approving clears the halt; with the program there, the work goes on.
    world.program("no-such-agent", include_str!("support/rec.sh"));
    world.says("verify", verdict(true, 1.0, ""));
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.tick()["outcome"], "pass");
}

// rows: H-35
#[test]
fn a_missing_folder_is_not_taken_for_a_missing_program() {
    let world = World::git().with(|config| config["blast_radius"] = json!({"use_worktree": true}));
    world.role("implement", "echo >work.txt; rm -rf \"$PWD\"");
    let told = world.run(["tick", "L", "--json"]).json();
    let why = told["why"].as_str().unwrap();
    assert_ne!(told["reason"], "missing_program", "{told}");
    assert!(why.contains("worktrees"), "{told}");
    assert_eq!(world.count("verify"), 0);
}

// scenarios: 22
// rows: H-38, U-20
// cases: 11
#[test]
fn a_timeout_ends_every_descendant() {
    let world = World::plain().with(|config| config["harness"]["timeout_seconds"] = 1.into());
    world.role(
        "implement",
        "setsid sh -c 'echo $$ >\"$REC/pid\"; sleep 60' & sleep 60",
    );
    let told = world.tick();
    assert_eq!(told["outcome"], "fail");
    assert_eq!(told["reason"], "timeout");
    assert!(
        told["why"].as_str().unwrap().contains("timed out after 1s"),
        "{told}"
    );
    assert_eq!(told["iteration"], 1);
    let pid = wait_for(&world.rec("pid"));
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists());
    assert!(world.processes().is_empty());
}

// rows: H-38
// cases: 47
#[test]
fn a_descendant_that_holds_the_output_open_neither_blocks_nor_survives() {
    let world = World::plain().with_loop();
    world.role("implement", "echo >work.txt; setsid sleep 600 &");
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
    assert!(world.processes().is_empty());
}

// cases: 54
#[test]
fn a_signal_is_not_an_exit_code() {
    for (script, reason, why) in [
        ("kill -9 $$", "signal", "implement was killed by signal 9"),
        ("exit 137", "exit", "implement exited with 137"),
    ] {
        let world = World::plain().with_loop();
        world.role("implement", script);
        let told = world.tick();
        assert_eq!(told["reason"], reason, "{told}");
        assert!(told["why"].as_str().unwrap().contains(why), "{told}");
    }
}

// rows: B-16
#[test]
fn an_orchestrate_that_asks_for_nothing_is_told_of_in_the_log() {
    for (script, told) in [("", true), ("loop task transition t1 >&2", false)] {
        let world = World::plain().with_loop();
        world.link_loop();
        world.says("verify", verdict(true, 1.0, ""));
        world.role("orchestrate", script);
        assert_eq!(world.tick()["outcome"], "pass");
        assert_eq!(world.phase("t1"), "spec");
        let warned = world
            .log()
            .contains("WARNING orchestrate asked for nothing");
        assert_eq!(warned, told, "{script}: {}", world.log());
    }
}

// rows: H-38
// cases: 52
#[test]
fn a_silent_harness_is_ended_by_its_idle_timeout() {
    let world = World::plain().with(|config| {
        config["harness"]["idle_timeout_seconds"] = 1.into();
    });
    world.role("implement", "echo >>work.txt; echo finished; sleep 60");
    let told = world.tick();
    assert_eq!(told["reason"], "timeout");
    assert!(told["why"].as_str().unwrap().contains("1s"), "{told}");
    assert!(world.processes().is_empty());
}

// rows: B-01
// cases: 11
#[test]
fn three_timeouts_in_a_row_are_for_a_person() {
    let world = World::plain().with(|config| {
        config["harness"]["timeout_seconds"] = 1.into();
        config["brakes"]["max_harness_failures"] = 2.into();
    });
    world.role("implement", "echo half >>work.txt; sleep 60");
    assert_eq!(world.tick()["reason"], "timeout");
    assert_eq!(world.tick()["reason"], "harness_failures");
    let work = std::fs::read_to_string(world.project().join("work.txt")).unwrap();
    assert_eq!(work, "half\nhalf\n", "what was done is kept");
}
