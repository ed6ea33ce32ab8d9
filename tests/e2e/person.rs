//! A person's hand on a loop: approve, pause, resume, stop, set-task.

use crate::support::{World, verdict, wait_for};
use serde_json::{Value, json};
use std::fs;

/// Holds implement until the test lets it go on.
const HELD: &str = "true >\"$REC/started\"; until [ -e \"$REC/go\" ]; do sleep 0.02; done; \
                    echo \"$n\" >>work.txt";

// scenarios: 9
// rows: B-08, B-09, B-11, B-12, C-13, K-08
#[test]
fn a_phase_that_needs_approval_waits_for_a_person() {
    let world = World::plain().with_loop();
    world.move_to("t1", "spec");
    world.says_at("verify", 1, verdict(false, 0.2, "h"));
    world.says("verify", verdict(true, 1.0, "left over"));
    world.tick();
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "approval_required");
    assert_eq!(told["next"]["needs"], "approve");
    assert_eq!(world.phase("t1"), "spec");
    let calls = world.roles().len();
    let told = world.tick();
    assert_eq!(told["skip_reason"], "human_intervention");
    assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 9);
    assert_eq!(world.roles().len(), calls);

    let said = world
        .run(["approve", "L", "--note", "looks right"])
        .rc(0)
        .out;
    assert!(said.contains("implement"), "{said}");
    assert_eq!(world.phase("t1"), "implement");
    assert_eq!(world.state()["status"], "active");
    let log = world.log();
    let line = log
        .lines()
        .find(|line| line.contains("op=approve"))
        .unwrap();
    assert!(
        line.contains("by=ada") && line.contains("note=\"looks right\""),
        "{line}"
    );
    world.tick();
    assert!(
        world
            .output("tick3-implement-prompt.md")
            .contains("hint=[]; task=t1; phase=implement")
    );
}

// scenarios: 9
// rows: B-10, C-13, U-18
#[test]
fn no_agent_approves() {
    let world = World::plain().with_loop();
    world.link_loop();
    world.move_to("t1", "spec");
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "orchestrate",
        "loop approve L 2>\"$REC/said\"; echo $? >\"$REC/approve.rc\"; \
         loop task approve t1; echo $? >>\"$REC/approve.rc\"",
    );
    assert_eq!(world.tick()["reason"], "approval_required");
    assert_eq!(
        fs::read_to_string(world.rec("approve.rc")).unwrap(),
        "3\n3\n"
    );
    let said = fs::read_to_string(world.rec("said")).unwrap();
    assert!(said.contains("only a person may"), "{said}");
    assert_eq!(world.state()["reason"], "approval_required");
    assert_eq!(world.phase("t1"), "spec");
}

// scenarios: 9
// rows: U-27
#[test]
fn approving_what_does_not_wait_is_refused() {
    let world = World::plain().with_loop();
    let run = world.run(["approve", "L"]).rc(1);
    assert!(run.error().contains("waits for nothing"), "{run:#?}");
    world.run(["pause", "L"]).rc(0);
    let run = world.run(["approve", "L"]).rc(1);
    assert!(run.error().contains("loop resume"), "{run:#?}");
}

// rows: C-16, B-08
#[test]
fn approving_the_task_lets_the_loop_that_waits_for_it_go_on() {
    let world = World::plain().with_loop();
    world.move_to("t1", "spec");
    world.says("verify", verdict(true, 1.0, ""));
    world.tick();
    world.run(["task", "approve", "t1"]).rc(0);
    assert_eq!(world.phase("t1"), "implement");
    assert_eq!(world.state()["status"], "active");
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.phase("t1"), "code_review");
}

// scenarios: 8
// rows: B-13, C-11, C-12, U-28, L-02, L-10
// cases: 140
#[test]
fn a_paused_loop_does_nothing_until_it_is_resumed() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.run(["pause", "L"]).rc(0);
    let again = world.run(["pause", "L"]).rc(0);
    assert!(again.out.contains("already"), "{again:#?}");
    let told = world.tick();
    assert_eq!(told["skip_reason"], "paused");
    assert_eq!(told["tick"], Value::Null);
    assert_eq!(told["next"]["needs"], "resume");
    assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 11);
    assert!(world.calls().is_empty());
    let listed = world.run(["list"]).rc(0).out;
    assert!(listed.contains("paused"), "{listed}");
    let idle = world.log().matches("no tick").count();
    assert_eq!(idle, 1, "the same reason is told once");

    world.run(["resume", "L"]).rc(0);
    world.run(["resume", "L"]).rc(0);
    assert_eq!(world.tick()["tick"], 1);
}

// scenarios: 8
// rows: B-13, U-28, A-26
// cases: 117
#[test]
fn a_pause_during_a_tick_is_at_once_and_loses_nothing() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "h"));
    world.role("implement", HELD);
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("started"));
    world.run(["pause", "L"]).rc(0);
    assert_eq!(world.state()["paused"], true);
    assert!(!world.rec("go").exists());
    fs::write(world.rec("go"), "").unwrap();
    assert_eq!(tick.wait().rc(0).json()["outcome"], "fail");
    let state = world.state();
    assert_eq!(state["paused"], true);
    assert_eq!(state["last_verdict"]["verdict"]["score"], 0.4);
    assert_eq!(world.tick()["skip_reason"], "paused");
}

// rows: U-28
// cases: 46, 109
#[test]
fn a_stop_ends_the_running_step_now_and_a_resume_goes_on() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "implement",
        "(while :; do date; sleep 0.1; done >\"$REC/ghost\") & true >\"$REC/started\"; sleep 60",
    );
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("started"));
    world.run(["stop", "L"]).rc(0);
    let told = tick.wait().rc(130).json();
    assert_eq!(told["outcome"], "interrupted");
    assert_eq!(told["reason"], "stop");
    assert!(world.processes().is_empty());
    assert_eq!(
        world.progress()["iteration"],
        1,
        "an interruption gives nothing back"
    );
    assert_eq!(world.tick()["skip_reason"], "paused");

    world.role("implement", "echo >>work.txt");
    world.run(["resume", "L"]).rc(0);
    let told = world.tick();
    assert_eq!(told["outcome"], "pass");
    assert_eq!(told["tick"], 2);
}

// rows: U-27
#[test]
fn an_approval_during_a_tick_gets_a_real_answer() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role("implement", HELD);
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("started"));
    let run = world.run(["approve", "L"]).rc(1);
    assert!(run.error().contains("tick 1 is running"), "{run:#?}");
    fs::write(world.rec("go"), "").unwrap();
    assert_eq!(tick.wait().rc(0).json()["outcome"], "pass");
}

// rows: U-49
// cases: 110
#[test]
fn a_task_set_during_a_tick_counts_from_the_next_one_on_and_inherits_no_hint() {
    let world = World::plain().with_loop();
    world.task("t2", "OTHER");
    world.says("verify", verdict(false, 0.4, "about t1"));
    world.role("implement", HELD);
    let tick = world.start(["tick", "L", "--json"]);
    wait_for(&world.rec("started"));
    world.run(["set-task", "L", "t2"]).rc(0);
    fs::write(world.rec("go"), "").unwrap();
    let told = tick.wait().rc(0).json();
    assert_eq!(told["task"], "t1");
    let told = world.tick();
    assert_eq!(told["task"], "t2");
    assert_eq!(told["iteration"], 1);
    let prompt = world.output("tick2-implement-prompt.md");
    assert!(
        prompt.contains("brief=OTHER;") && prompt.contains("hint=[];"),
        "{prompt}"
    );
    assert_eq!(world.state()["progress"]["t1"]["scores"], json!([0.4]));
}

// rows: B-14
// cases: 117
#[test]
fn pause_and_waiting_for_a_person_are_independent() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 0.1, ""));
    world.tick();
    world.run(["pause", "L"]).rc(0);
    world.run(["resume", "L"]).rc(0);
    assert_eq!(world.tick()["skip_reason"], "human_intervention");
    world.run(["pause", "L"]).rc(0);
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.tick()["skip_reason"], "paused");
    assert_eq!(world.state()["status"], "active");
}

// rows: B-10, D-07, U-18
#[test]
fn an_agent_may_change_nothing() {
    let world = World::plain().with_loop();
    world.move_to("t1", "spec");
    let before = world.state();
    for args in [
        &["init"][..],
        &["create", "x", "--from-template", "task"],
        &["tick", "L"],
        &["approve", "L"],
        &["pause", "L"],
        &["resume", "L"],
        &["stop", "L"],
        &["set-task", "L", "t1"],
        &["task", "create", "x"],
        &["task", "transition", "t1"],
        &["task", "transition", "t1", "--to", "human_intervention"],
        &["task", "approve", "t1"],
    ] {
        for role in ["implement", "verify", "orchestrate", "plan"] {
            let mut command = world.command(args);
            command.env("AUTOMATON_ROLE", role);
            let run = world.finish(command).rc(3);
            assert!(!run.error().is_empty(), "{args:?}");
        }
    }
    assert_eq!(world.state(), before);
    assert_eq!(world.phase("t1"), "spec");
    assert!(world.calls().is_empty());
    for args in [
        &["list"][..],
        &["show", "L"],
        &["log", "L"],
        &["task", "list"],
        &["validate"],
    ] {
        let mut command = world.command(args);
        command.env("AUTOMATON_ROLE", "implement");
        world.finish(command).rc(0);
    }
}

// rows: B-15, U-25, R-11
#[test]
fn orchestrate_has_one_request_and_only_for_what_was_decided() {
    let world = World::plain().with_loop();
    world.link_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "orchestrate",
        "for to in complete research spec spec; do \
         loop task transition t1 --to $to 2>>\"$REC/said\"; echo $to $? >>\"$REC/asked\"; done",
    );
    assert_eq!(world.tick()["outcome"], "pass");
    assert_eq!(world.phase("t1"), "spec");
    let asked = fs::read_to_string(world.rec("asked")).unwrap();
    assert_eq!(
        asked, "complete 3\nresearch 3\nspec 3\nspec 3\n",
        "any second request is refused"
    );
}

// rows: R-11, B-09
#[test]
fn orchestrate_may_hand_a_task_to_a_person() {
    let world = World::plain().with_loop();
    world.link_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.role(
        "orchestrate",
        "loop task transition t1 --to human_intervention",
    );
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention");
    assert_eq!(told["reason"], "escalated");
    assert_eq!(world.phase("t1"), "human_intervention");
    world.run(["approve", "L"]).rc(0);
    assert_eq!(world.phase("t1"), "research");
}

// rows: B-18, D-09
#[test]
fn a_task_that_goes_through_every_phase_completes_the_loop() {
    let world = World::plain().with(|config| {
        config["phases"] = json!(["build", "check"]);
        config["approval_phases"] = json!([]);
    });
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["phase"], "check");
    let told = world.tick();
    assert_eq!(told["outcome"], "pass");
    assert_eq!(world.phase("t1"), "complete");
    let state = world.state();
    assert_eq!(state["status"], "complete");
    assert_eq!(state["current_task"], Value::Null);
    assert_eq!(world.tick()["skip_reason"], "no_current_task");
}
