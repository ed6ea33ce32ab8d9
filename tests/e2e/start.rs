//! `loop start`: ticks in the foreground, until done or stopped.

mod terminal;

use crate::support::{Run, World, verdict, wait_for, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// Holds implement until the test lets it go on.
const HELD: &str = "true >\"$REC/started.$n\"; until [ -e \"$REC/go\" ]; do sleep 0.02; done; \
                    echo \"$n\" >>work.txt";

/// One phase, so that a pass completes the task.
fn one_phase(config: &mut Value) {
    config["phases"] = json!(["implement"]);
    config["approval_phases"] = json!([]);
}

/// Makes one more loop in the project, with a task of the same name.
fn another(world: &World, name: &str, change: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(world.in_loop("loop.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["name"] = name.into();
    change(&mut config);
    let folder = world.data(&format!("loops/{name}"));
    fs::create_dir_all(&folder).unwrap();
    for prompt in ["impl.md", "ver.md", "orch.md"] {
        fs::copy(world.in_loop(prompt), folder.join(prompt)).unwrap();
    }
    fs::write(folder.join("loop.json"), config.to_string()).unwrap();
    world.task(name, "BRIEF");
    world.run(["set-task", name, name]).rc(0);
}

fn lines(run: &Run) -> Vec<Value> {
    let lines = run.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

// rows: L-14, L-15
// cases: 146
#[test]
fn it_goes_on_at_once_until_the_task_is_done() {
    let world = World::plain().with(one_phase);
    world.says_at("verify", 1, verdict(false, 0.2, "h"));
    world.says_at("verify", 2, verdict(false, 0.4, "h"));
    world.says("verify", verdict(true, 1.0, ""));
    let run = world.run(["start", "L", "--json"]).rc(0);
    let told = lines(&run);
    let outcomes: Vec<_> = told[..3]
        .iter()
        .map(|tick| tick["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["fail", "fail", "pass"]);
    assert_eq!(told[0]["exit"], 11);
    let end = &told[3];
    assert_eq!(end["loops"][0]["outcome"], "done");
    assert_eq!(end["loops"][0]["ticks"], 3);
    assert_eq!(end["exit"], 0);
    assert_eq!(told.len(), 4);
    assert!(!run.err.contains("implement"), "{run:#?}");

    // There is nothing left, and nothing is spent on finding that out.
    let again = world.run(["start", "L"]).rc(0);
    assert!(again.out.contains("L: done after 0 ticks"), "{again:#?}");
    assert_eq!(world.count("implement"), 3);
}

// rows: B-02, C-13
#[test]
fn a_loop_that_waits_for_a_person_ends_it_with_its_reason_and_code() {
    let world = World::plain().with(|config| {
        one_phase(config);
        config["brakes"]["max_iterations"] = 2.into();
    });
    world.says("verify", verdict(false, 0.2, "h"));
    let run = world.run(["start", "L"]).rc(8);
    let out = &run.out;
    assert!(
        out.contains("L: human_intervention (max_iterations) after 2 ticks: "),
        "{out}"
    );
    let last = out.lines().last().unwrap();
    assert!(
        last.starts_with("  do: ") && last.ends_with("loop approve L"),
        "{out}"
    );
    assert!(run.err.contains("L implement ..."), "{run:#?}");
    world.run(["start", "L", "--quiet"]).rc(8);
    assert_eq!(world.count("implement"), 2);
}

// rows: C-18
#[test]
fn it_makes_as_many_ticks_as_it_is_given() {
    let world = World::plain().with(one_phase);
    world.says("verify", verdict(false, 0.2, "h"));
    world.run(["start", "L", "--max-ticks", "2"]).rc(11);
    assert_eq!(world.count("implement"), 2);
    for args in [
        &["start"][..],
        &["start", "L", "--all"],
        &["start", "L", "--max-ticks", "0"],
        &["start", "--all", "--jobs", "0"],
    ] {
        world.run(args).rc(2);
    }
    assert!(
        world
            .run(["start", "nope"])
            .rc(1)
            .error()
            .contains("no loop `nope`")
    );
    let mut agent = world.command(["start", "L"]);
    agent.env("AUTOMATON_ROLE", "implement");
    assert!(world.finish(agent).rc(3).error().contains("only a person"));
    assert_eq!(world.count("implement"), 2);
}

// rows: L-02
#[test]
fn with_nothing_to_do_it_ends() {
    let world = World::plain();
    world.run(["start", "--all"]).rc(0);
    world.make_loop(|_| {});
    let run = world.run(["start", "L"]).rc(0);
    assert!(run.out.contains("loop set-task L TASK"), "{run:#?}");
    assert!(world.calls().is_empty());
}

// rows: B-13, C-11, C-12
// cases: 140
#[test]
fn a_paused_loop_is_waited_for_until_another_terminal_resumes_it() {
    let world = World::plain().with(one_phase);
    world.says("verify", verdict(true, 1.0, ""));
    world.run(["pause", "L"]).rc(0);
    let started = world.start(["start", "L"]);
    wait_for(&world.in_loop(".start.lock"));
    assert!(world.calls().is_empty());
    world.run(["resume", "L"]).rc(0);
    let run = started.wait().rc(0);
    assert_eq!(run.err.matches("it is paused").count(), 1, "{run:#?}");
    assert_eq!(world.count("implement"), 1);
}

// rows: U-28
#[test]
fn a_stop_from_another_terminal_ends_it_during_a_tick_and_between_two() {
    let world = World::plain().with(one_phase);
    world.role("implement", HELD);
    let started = world.start(["start", "L"]);
    wait_for(&world.rec("started.1"));
    world.run(["stop", "L"]).rc(0);
    let run = started.wait().rc(130);
    assert!(
        run.out.contains("L: interrupted (stop) after 1 tick"),
        "{run:#?}"
    );
    assert!(
        run.out.contains("do: go on with: loop resume L"),
        "{run:#?}"
    );
    world.run(["resume", "L"]).rc(0);

    world.configure(|config| config["schedule"] = json!({"interval_seconds": 3600}));
    fs::write(world.rec("go"), "").unwrap();
    world.says("verify", verdict(false, 0.4, "h"));
    let started = world.start(["start", "L"]);
    wait_until("a tick is made and told of", || {
        let state = world.state();
        (state["in_progress"].is_null() && state["tick"] == 2).then_some(())
    });
    world.run(["stop", "L"]).rc(0);
    let run = started.wait().rc(130);
    assert!(run.out.contains("interrupted (stop)"), "{run:#?}");
    assert_eq!(world.count("implement"), 2, "no tick before its time");
}

// rows: U-28
// cases: 144
#[test]
fn a_signal_ends_the_running_tick_and_a_second_one_at_once() {
    for signal in [Signal::INT, Signal::TERM] {
        let world = World::plain().with(one_phase);
        world.role("implement", HELD);
        let started = world.start(["start", "L", "--json"]);
        wait_for(&world.rec("started.1"));
        started.signal(signal);
        let told = lines(&started.wait().rc(130));
        assert_eq!(told[0]["outcome"], "interrupted");
        assert_eq!(told[1]["loops"][0]["do"], "go on with: loop start L");
        assert!(world.processes().is_empty());
        assert_eq!(world.state()["in_progress"], Value::Null);
    }
    let world = World::plain().with(one_phase);
    world.role("implement", &format!("trap '' TERM; {HELD}"));
    let started = world.start(["start", "L"]);
    wait_for(&world.rec("started.1"));
    started.signal(Signal::INT);
    wait_until("the first was heard", || {
        started.signal(Signal::INT);
        world.state()["in_progress"].is_null().then_some(())
    });
    started.wait().rc(130);
    assert_eq!(world.state()["last_outcome"]["outcome"], "interrupted");
}

// rows: U-28
#[test]
fn a_signal_ends_a_driver_that_rests() {
    let world = World::plain();
    world.make_loop(|config| config["schedule"] = json!({"interval_seconds": 3600}));
    let started = world.start(["start", "L"]);
    wait_for(&world.in_loop("events.jsonl"));
    started.signal(Signal::TERM);
    let run = started.wait().rc(130);
    assert!(run.out.contains("do: go on with: loop start L"), "{run:#?}");
}

/// Starts the driver beside the test, and waits until it has said something.
fn start_until_it_says(world: &World, args: &[&str], what: &str) -> (Child, PathBuf) {
    let said = world.rec("said");
    let mut command = world.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(File::create(&said).unwrap());
    let child = command.spawn().unwrap();
    wait_until(what, || {
        let text = fs::read_to_string(&said).unwrap();
        text.contains(what).then_some(())
    });
    (child, said)
}

// rows: L-09
#[test]
fn two_of_them_do_not_tick_twice() {
    let world = World::plain().with(one_phase);
    world.says("verify", verdict(true, 1.0, ""));
    world.role("implement", HELD);
    let first = world.start(["start", "L"]);
    wait_for(&world.rec("started.1"));
    let waits = "another loop start drives it";
    let (mut second, said) = start_until_it_says(&world, &["start", "--all"], waits);
    fs::write(world.rec("go"), "").unwrap();
    first.wait().rc(0);
    let status = wait_until("the second ends", || second.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    let said = fs::read_to_string(said).unwrap();
    assert_eq!(said.matches(waits).count(), 1, "{said}");
    assert_eq!(world.count("implement"), 1);
}

// rows: L-09
// cases: 143
#[test]
fn a_tick_of_somebody_elses_is_waited_for() {
    let world = World::plain().with(one_phase);
    world.says("verify", verdict(false, 0.4, "h"));
    world.role("implement", HELD);
    let by_hand = world.start(["tick", "L"]);
    wait_for(&world.rec("started.1"));
    let args = ["start", "L", "--max-ticks", "1"];
    let (mut started, _) = start_until_it_says(&world, &args, "waits for the end of another tick");
    fs::write(world.rec("go"), "").unwrap();
    by_hand.wait().rc(0);
    let status = wait_until("the driver ends", || started.try_wait().unwrap());
    assert_eq!(status.code(), Some(11));
    assert_eq!(world.count("implement"), 2);
}

// rows: C-10, C-13
#[test]
fn of_all_loops_those_that_wait_or_are_broken_hold_up_nobody() {
    let world = World::git().with(|config| {
        one_phase(config);
        config["blast_radius"] = json!({"use_worktree": true});
        config["brakes"]["max_iterations"] = 1.into();
    });
    another(&world, "M", |config| {
        config["brakes"]["max_iterations"] = 9.into();
    });
    world.says("verify", verdict(true, 1.0, ""));
    world.says_at("verify", 1, verdict(false, 0.2, "h"));
    // L comes first, fails once and waits; M is held until L was approved.
    world.role(
        "implement",
        "if [ \"$AUTOMATON_LOOP\" = M ]; then until [ -e \"$REC/go\" ]; do sleep 0.02; done; fi; \
         echo \"$n\" >>work.txt",
    );
    fs::create_dir_all(world.data("loops/broken")).unwrap();
    fs::write(world.data("loops/broken/loop.json"), "{").unwrap();

    let started = world.start(["start", "--all", "--json"]);
    wait_until("L waits for a person", || {
        (world.state()["status"] == "human_intervention").then_some(())
    });
    world.run(["approve", "L"]).rc(0);
    wait_until("it was noticed", || {
        (world.state()["status"] == "complete").then_some(())
    });
    fs::write(world.rec("go"), "").unwrap();
    let run = started.wait().rc(2);
    let end = lines(&run).pop().unwrap();
    let ends: Vec<_> = end["loops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["name"].as_str().unwrap(),
                one["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(ends, [("L", "done"), ("M", "done"), ("broken", "error")]);
    assert_eq!(world.count("implement"), 3);
}

// rows: C-11
#[test]
fn a_stop_ends_a_driver_that_waits_for_the_end_of_a_pause() {
    let world = World::plain().with_loop();
    world.run(["pause", "L"]).rc(0);
    let driver = world.start(["start", "L"]);
    wait_until("the driver waits", || {
        world.in_loop(".start.lock").exists().then_some(())
    });
    // It has looked at the loop by then.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    world.run(["stop", "L"]).rc(0);
    assert_eq!(driver.wait().code, 130);
}
