//! What ends a run before any work.

use super::{GATE, head, plan, planned, read, run, write};
use serde_json::json;
use std::fs;

// rows: G-02, U-38
#[test]
fn a_task_that_nobody_has_written_starts_no_planner() {
    let template = include_str!("../../../templates/run-loop/TASK.md");
    for text in [
        None,
        Some(""),
        Some(" \n\t\n"),
        Some(template),
        Some("# Mine\n<!-- loop:placeholder -->\n"),
    ] {
        let world = planned(GATE);
        match text {
            Some(text) => write(&world, "TASK.md", text),
            None => fs::remove_file(world.project().join("TASK.md")).unwrap(),
        }
        let ran = run(&world).rc(2);
        assert!(ran.error().contains("TASK.md"), "{ran:#?}");
        assert_eq!(world.calls().len(), 0);
    }
}

// rows: G-06, G-09, G-24, G-25, G-37
#[test]
fn a_planner_that_refuses_is_asked_once_and_its_reason_is_written() {
    for (answer, code) in [
        ("REFUSED: not_objective: name the file", "not_objective"),
        (
            "REFUSED: not_rejectable: say what would reject it",
            "not_rejectable",
        ),
        ("REFUSED: made_up: say what would reject it", "needs_person"),
        ("REFUSED: irreversible", "irreversible"),
        ("REFUSED", "needs_person"),
    ] {
        let world = planned(GATE);
        world.says("plan", format!("I looked.\n{answer}\n\n"));
        let ran = run(&world).rc(3);
        assert_eq!(world.roles(), ["plan"]);
        assert!(ran.out.contains("outcome: refused\n"), "{ran:#?}");
        assert!(ran.out.contains(code), "{ran:#?}");
        assert!(ran.out.contains("gate exit code: not run\n"), "{ran:#?}");
        assert_eq!(head(&world, "outcome"), "refused");
        assert!(head(&world, "reason").contains(code));
        assert_eq!(read(&world, "scripts/verify.sh"), GATE, "left as it is");
    }
}

// rows: G-08, G-36, G-37
// cases: 14
#[test]
fn a_planner_that_breaks_its_contract_ends_the_run_and_is_not_asked_again() {
    for answer in [
        plan(&json!({"plan": [{"item": "make it"}]})),
        plan(&json!({"plan": [{"item": "make it", "check": " "}]})),
        plan(&json!({"plan": []})),
        plan(&json!({"frozen": ["no/such"]})),
        plan(&json!({"frozen": ["../out"]})),
        "the gate REFUSED nothing\n".to_owned(),
        "done\n".to_owned(),
        "PLANNED\n".to_owned(),
    ] {
        let world = planned(GATE);
        world.says("plan", &answer);
        let ran = run(&world).rc(7);
        assert_eq!(world.roles(), ["plan"], "{answer}");
        assert!(ran.out.contains("outcome: aborted\n"), "{ran:#?}");
        assert!(ran.out.contains("planner_broken"), "{ran:#?}");
    }
    let world = planned(GATE);
    world.exits("plan", 1);
    run(&world).rc(7);
    assert_eq!(world.roles(), ["plan"]);

    let world = planned(GATE);
    world.role(
        "plan",
        "cat \"$REC/gate\" >scripts/verify.sh; echo '- easier' >>TASK.md",
    );
    let ran = run(&world).rc(7);
    assert!(ran.out.contains("changed the task"), "{ran:#?}");
    assert!(read(&world, "TASK.md").ends_with("- easier\n"));
}

// rows: G-11, G-12, G-13
// cases: 16
#[test]
fn a_gate_that_is_not_red_for_the_right_reason_starts_no_work() {
    for (script, reason) in [
        ("printf 'exit 0\\n' >scripts/verify.sh", "gate_green"),
        ("printf 'if then\\n' >scripts/verify.sh", "gate_broken"),
        ("rm scripts/verify.sh", "gate_broken"),
        ("printf 'exit 127\\n' >scripts/verify.sh", "gate_broken"),
        ("printf 'exit 126\\n' >scripts/verify.sh", "gate_broken"),
        (":", "gate_unwritten"),
    ] {
        let world = planned(GATE);
        world.role("plan", script);
        let ran = run(&world).rc(4);
        assert_eq!(world.roles(), ["plan"], "{script}");
        assert!(ran.out.contains(reason), "{script}: {ran:#?}");
        assert!(ran.out.contains("outcome: aborted\n"), "{ran:#?}");
        assert!(ran.out.contains("loop run"), "{ran:#?}");
        assert!(head(&world, "reason").contains(reason));
    }
}

// rows: G-02
#[test]
fn what_cannot_be_run_is_refused_before_a_planner_is_paid() {
    for (task, args, why) in [
        ("x".repeat(200_000).as_str(), vec!["run"], "at most 128 KiB"),
        ("# Mine\n", vec!["run", "--strict"], "--strict needs a list"),
        (
            super::TASK,
            vec!["run", "--freeze", "STATE.md"],
            "the loop itself writes it",
        ),
        (
            super::TASK,
            vec!["run", "--freeze", ".automaton/loops"],
            "the loop itself writes it",
        ),
        (
            super::TASK,
            vec!["run", "../outside.md"],
            "not below the project",
        ),
    ] {
        let world = planned(GATE);
        write(&world, "TASK.md", task);
        write(&world, "../outside.md", super::TASK);
        let ran = world.run(&args).rc(2);
        assert!(ran.error().contains(why), "{args:?}: {ran:#?}");
        assert_eq!(world.calls().len(), 0, "{args:?}");
        fs::remove_file(world.project().join("../outside.md")).unwrap();
    }
}
