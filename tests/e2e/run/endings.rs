//! How a run ends that got to work: green, out of passes, stuck, by hand.

use super::{GATE, TASK, head, plan, planned, planned_in, read, run, write};
use crate::support::{World, wait_for};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

fn sha256(world: &World, path: &str) -> String {
    let run = Command::new("sha256sum")
        .arg(world.project().join(path))
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    text.split(' ').next().unwrap().to_owned()
}

// rows: G-01, G-05, G-07, G-14, G-15, G-20, G-21, G-22, G-23, G-31, G-41, U-40, U-41, U-44
// cases: 15, 18, 129
#[test]
fn a_task_goes_to_green_without_a_person() {
    let world = planned(GATE);
    world.role(
        "plan",
        "cat \"$REC/gate\" >scripts/verify.sh; sleep 0.3; echo planned >planner-ended",
    );
    world.role(
        "implement",
        "[ -f planner-ended ] || exit 9; echo \"$n\" >>work.txt; [ \"$n\" != 2 ] || echo x >done",
    );
    world.says("implement", "All finished, every check is green.\n");
    let ran = run(&world).rc(0);
    assert_eq!(world.roles(), ["plan", "implement", "implement"]);
    for line in [
        "outcome: green\n",
        "gate exit code: 0\n",
        "passes: 2 of 10\n",
        "  1. gate exit code 1; changed 1 file, +1 -0; the gate said: no done\n",
        "changed: 2 files, +3 -0\n",
        "next: look at it: git diff; git status\n",
    ] {
        assert!(ran.out.contains(line), "{line}: {ran:#?}");
    }
    assert_eq!(head(&world, "phase"), "done");
    assert_eq!(head(&world, "outcome"), "green");
    assert_eq!(head(&world, "gate_exit"), "0");
    assert_eq!(
        head(&world, "verify_sha256"),
        sha256(&world, "scripts/verify.sh")
    );
    assert_eq!(head(&world, "task_sha256"), sha256(&world, "TASK.md"));
    let gates = world.data("loops/run/outputs");
    assert!(gates.join("tick2-arm.log").exists(), "{gates:?}");
}

// rows: G-33, G-35, U-42
#[test]
fn a_run_stops_at_its_cap_and_a_green_last_pass_counts() {
    let gate = "#!/bin/bash\necho \"red: $(cat work.txt 2>/dev/null)\"\n[ -f done ]\n";
    let world = planned(gate);
    let ran = world.run(["run", "--cap", "3"]).rc(8);
    assert_eq!(world.count("implement"), 3);
    assert!(ran.out.contains("outcome: cap\n"), "{ran:#?}");
    assert!(ran.out.contains("passes: 3 of 3\n"), "{ran:#?}");
    assert!(ran.out.contains("loop run"), "{ran:#?}");
    assert!(!ran.out.contains("approve"), "{ran:#?}");

    let world = planned(gate);
    world.role(
        "implement",
        "echo \"$n\" >>work.txt; [ \"$n\" != 3 ] || echo x >done",
    );
    let ran = world.run(["run", "--cap", "3"]).rc(0);
    assert!(ran.out.contains("outcome: green\n"), "{ran:#?}");
}

// rows: G-22, G-34, U-42
#[test]
fn a_run_that_is_stuck_stops_and_one_that_gets_better_does_not() {
    let world = planned("#!/bin/bash\necho the same\nexit 7\n");
    world.role("implement", ":");
    let ran = run(&world).rc(6);
    assert_eq!(world.count("implement"), 3);
    assert!(ran.out.contains("outcome: stuck\n"), "{ran:#?}");
    assert!(ran.out.contains("gate exit code: 7\n"), "{ran:#?}");
    assert_eq!(head(&world, "gate_exit"), "7");

    let world = planned("#!/bin/bash\necho the same\nexit 7\n");
    world.run(["run", "--stuck", "5"]).rc(6);
    assert_eq!(world.count("implement"), 5);

    let world = planned(
        "#!/bin/bash\nleft=3\n[ ! -f work.txt ] || while read -r _; do left=$((left-1)); done <work.txt\n\
         [ $left -le 0 ] || { echo \"$left failed\"; exit 1; }\n",
    );
    run(&world).rc(0);
    assert_eq!(world.count("implement"), 3);
}

// rows: G-29, G-42, U-43
#[test]
fn a_pass_can_be_made_by_hand_and_arms_first() {
    let world = planned(GATE);
    write(&world, "scripts/verify.sh", GATE);
    let ran = world.run(["iterate"]).rc(11);
    assert_eq!(world.roles(), ["implement"]);
    assert!(ran.out.contains("gate exit code: 1\n"), "{ran:#?}");
    assert!(ran.out.contains("loop iterate"), "{ran:#?}");
    let digest = head(&world, "verify_sha256");
    assert_eq!(digest, sha256(&world, "scripts/verify.sh"));
    world.role("implement", "echo x >done");
    let ran = world.run(["iterate"]).rc(0);
    assert!(ran.out.contains("passes: 2 of 10\n"), "{ran:#?}");
    assert_eq!(head(&world, "verify_sha256"), digest);
    assert_eq!(world.roles(), ["implement", "implement"]);
    assert!(ran.out.contains("outcome: green\n"), "{ran:#?}");
}

// rows: G-03, G-04, G-40
#[test]
fn what_was_there_before_is_noted_and_the_old_state_is_kept() {
    let world = planned(GATE);
    write(&world, "scratch", "mine\n");
    world.role("implement", "echo x >done");
    let ran = run(&world).rc(0);
    assert!(ran.out.contains("dirty: yes, "), "{ran:#?}");
    assert!(head(&world, "dirty").starts_with("yes"));
    let first = read(&world, "STATE.md");

    // The second run starts over, and its gate is green before any work.
    let ran = run(&world).rc(4);
    assert!(ran.out.contains("gate_green"), "{ran:#?}");
    assert_eq!(read(&world, "STATE.prev.md"), first);
    assert_eq!(head(&world, "pass"), "0");

    let mut world = planned(GATE);
    world.git_says(&["add", "--all"]);
    world.git_says(&["commit", "--quiet", "-m", "all"]);
    world.user_changed_something();
    world.role("implement", "echo x >done");
    let ran = run(&world).rc(0);
    assert!(ran.out.contains("dirty: no\n"), "{ran:#?}");

    let world = planned_in(World::plain(), GATE);
    world.role("implement", "echo x >done");
    let ran = run(&world).rc(0);
    assert!(ran.out.contains("dirty: no git\n"), "{ran:#?}");
}

// rows: U-44
#[test]
fn the_report_is_a_document_for_programs_too() {
    let world = planned(GATE);
    world.role("implement", "echo x >done");
    let report: Value = world.run(["run", "--json"]).rc(0).json();
    assert_eq!(report["v"], 1);
    assert_eq!(report["outcome"], "green");
    assert_eq!(report["gate_exit"], 0);
    assert_eq!(report["passes"], 1);
    assert_eq!(report["exit"], 0);
    assert_eq!(report["tried"][0]["gate_exit"], 0);
}

// rows: G-08, U-39
// cases: 131
#[test]
fn a_line_that_no_check_covers_is_said_and_strict_refuses_it() {
    let world = planned(GATE);
    write(&world, "TASK.md", &format!("{TASK}- the weather is fine\n"));
    world.role("implement", "echo x >done");
    let ran = run(&world).rc(0);
    let (said, spent) = (
        ran.err.find("the weather is fine").unwrap(),
        ran.err.find("implement").unwrap(),
    );
    assert!(said < spent, "{ran:#?}");
    assert!(
        ran.out
            .contains("no check covers:\n  the weather is fine\n"),
        "{ran:#?}"
    );

    fs::remove_file(world.project().join("done")).unwrap();
    let ran = world.run(["run", "--strict"]).rc(3);
    assert!(ran.out.contains("outcome: refused\n"), "{ran:#?}");
    assert!(
        ran.out.contains("(--strict): the weather is fine"),
        "{ran:#?}"
    );
    // Whoever ticks it next finds a loop that waits, not a plan to go on with.
    let ran = world.run(["iterate"]).rc(3);
    assert!(ran.out.contains("outcome: refused\n"), "{ran:#?}");
    world.run(["tick", "run"]).rc(0);
    assert_eq!(world.count("implement"), 1, "nothing was spent on work");
}

// rows: G-14
#[test]
fn what_the_plan_and_the_person_freeze_is_frozen_too() {
    for (args, frozen) in [
        (vec!["run"], json!(["tests/one"])),
        (vec!["run", "--freeze", "tests/one"], json!([])),
    ] {
        let world = planned(GATE);
        fs::create_dir(world.project().join("tests")).unwrap();
        write(&world, "tests/one", "a test\n");
        world.says("plan", plan(&json!({"frozen": frozen})));
        world.role("implement", "echo x >>tests/one; echo x >done");
        let ran = world.run(&args).rc(5);
        assert!(ran.out.contains("tests/one"), "{ran:#?}");
    }
}

// rows: G-41
#[test]
fn a_harness_of_ones_own_is_used_and_stays() {
    let world = planned(GATE);
    world.role("implement", "echo x >done");
    world
        .run(["run", "--harness-command", "[\"pi\", \"{prompt_content}\"]"])
        .rc(0);
    fs::remove_file(world.project().join("done")).unwrap();
    run(&world).rc(0);
    assert_eq!(world.calls().len(), 4);
    for call in world.calls() {
        let name = Path::new(&call.argv[0]).file_name().unwrap();
        assert_eq!(name, "pi");
    }
}

#[test]
// rows: G-30
fn a_dry_run_shows_the_task_and_the_brakes_and_writes_nothing() {
    let world = planned(GATE);
    let before = read(&world, "STATE.md");
    let ran = world.run(["run", "--dry-run", "--cap", "4"]).rc(0);
    assert!(ran.out.contains("the file `done` exists"), "{ran:#?}");
    assert!(ran.out.contains("brakes.max_iterations"), "{ran:#?}");
    assert!(!world.data("loops/run").exists());
    assert_eq!(read(&world, "STATE.md"), before);
    assert_eq!(world.calls().len(), 0);
}

// rows: G-20, G-24
#[test]
fn every_end_but_green_says_how_to_go_on_and_a_new_run_starts_over() {
    let world = planned("#!/bin/bash\necho the same\nexit 7\n");
    world.role("implement", ":");
    run(&world).rc(6);
    let ran = world.run(["iterate"]).rc(6);
    assert!(
        ran.out.contains("loop run\n") && !ran.out.contains("approve"),
        "{ran:#?}"
    );
    fs::write(world.rec("gate"), GATE).unwrap();
    world.role("implement", "echo x >done");
    let ran = run(&world).rc(0);
    assert!(ran.out.contains("passes: 1 of 10\n"), "{ran:#?}");
}

// rows: G-05
#[test]
fn a_run_that_is_stopped_while_it_plans_starts_again() {
    let world = planned(GATE);
    world.role("plan", "sleep 600");
    let first = world.start(["run"]);
    wait_for(&world.rec("taken/plan.1"));
    first.signal(Signal::TERM);
    let ran = first.wait().rc(130);
    assert!(
        ran.out.contains("next: start again: loop run\n"),
        "{ran:#?}"
    );
    world.role("plan", "cat \"$REC/gate\" >scripts/verify.sh");
    world.role("implement", "echo x >done");
    run(&world).rc(0);
    assert_eq!(world.roles(), ["plan", "plan", "implement"]);
}

// rows: G-24
#[test]
fn a_run_pays_for_itself_and_keeps_what_a_person_set() {
    let world = planned(GATE);
    world.role("implement", "echo x >done");
    run(&world).rc(0);
    let path = world.data("loops/run/loop.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config["harness"] = json!({"cost_per_call_usd": 0.5, "timeout_seconds": 60});
    fs::write(&path, config.to_string()).unwrap();
    let command = "[\"pi\", \"{prompt_content}\"]";
    for _ in 0..2 {
        fs::remove_file(world.project().join("done")).unwrap();
        let report = world
            .run(["run", "--json", "--harness-command", command])
            .rc(0)
            .json();
        assert_eq!(report["cost_usd"].to_string(), "1", "{report:#}");
    }
    let config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(config["harness"]["timeout_seconds"], 60);
}

// rows: G-42
#[test]
fn a_task_of_another_name_is_the_one_that_a_further_pass_is_about() {
    let world = planned(GATE);
    fs::create_dir(world.project().join("d")).unwrap();
    fs::rename(
        world.project().join("TASK.md"),
        world.project().join("d/t.md"),
    )
    .unwrap();
    world.role("implement", "sleep 600");
    let first = world.start(["run", "d/t.md"]);
    wait_for(&world.rec("taken/implement.1"));
    first.signal(Signal::TERM);
    first.wait().rc(130);
    world.role("implement", "echo x >>work.txt");
    world.run(["iterate"]).rc(11);
    assert_eq!(world.count("implement"), 2);
    let brief = fs::read_to_string(world.data("tasks/run/RESEARCH.md")).unwrap();
    assert_eq!(brief, read(&world, "d/t.md"));
}
