//! The engine dies at every point of its store; the next tick is right.
//!
//! Only builds with debug assertions have these points. What a power cut does to
//! the files, and what a log does that has grown, the store's own tests show.

use crate::support::{Run, World, verdict};
use serde_json::{Value, json};
use std::fs;

/// The phases of the task, none of which needs a person.
const PHASES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
/// How a process ends that aborts.
const ABORTED: i32 = -1;

fn world() -> World {
    let world = World::plain().with(|config| {
        config["phases"] = json!(PHASES);
        config["approval_phases"] = json!([]);
    });
    world.says("verify", verdict(true, 1.0, ""));
    world
}

/// Runs a command that dies when it passes a point for the `passage`-th time.
fn dying(world: &World, args: &[&str], point: &str, passage: u32) -> Run {
    let mut command = world.command(args);
    command.env("LOOP_FAULT", format!("{point}:{passage}"));
    world.finish(command)
}

/// Returns the records of the loop.
fn records(world: &World) -> Vec<Value> {
    let log = world.run(["log", "L", "--json"]).rc(0).out;
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Makes two more ticks and checks that nothing was lost or counted twice.
fn recovers(world: &World, at: &str) {
    for _ in 0..2 {
        let told = world.tick();
        assert_eq!(told["outcome"], "pass", "{at}: {told}");
    }
    let records = records(world);
    let of_kind = |kind: &str| -> Vec<&Value> {
        records
            .iter()
            .filter(|record| record["kind"] == kind)
            .collect()
    };
    for (n, record) in (1_u64..).zip(&records) {
        assert_eq!(record["seq"], n, "{at}: a record is missing");
    }
    let numbers = |records: &[&Value]| -> Vec<u64> {
        records
            .iter()
            .map(|record| record["tick"].as_u64().unwrap())
            .collect()
    };
    let closed = of_kind("closed");
    assert_eq!(numbers(&of_kind("opened")), numbers(&closed), "{at}");
    assert_eq!(
        numbers(&closed),
        (1..=closed.len() as u64).collect::<Vec<_>>(),
        "{at}"
    );

    let ended = |outcome: &str| {
        closed
            .iter()
            .filter(|record| record["outcome"]["outcome"] == outcome)
            .count()
    };
    let passes = ended("pass");
    assert_eq!(passes + ended("interrupted"), closed.len(), "{at}");
    let verdicts = of_kind("answer")
        .iter()
        .filter(|record| !record["answer"]["verify"].is_null())
        .count();
    assert_eq!(verdicts, passes, "{at}: a judgement was lost or repeated");
    let began = of_kind("began")
        .iter()
        .filter(|record| record["fence"]["step"] == "implement")
        .count();
    let called = world.count("implement");
    assert!(
        called <= began && began <= called + 1,
        "{at}: {called} calls, {began} begun"
    );

    let task = fs::read_to_string(world.data("tasks/t1/task.json")).unwrap();
    let task: Value = serde_json::from_str(&task).unwrap();
    assert_eq!(task["history"].as_array().unwrap().len(), passes, "{at}");
    assert_eq!(task["phase"], PHASES[passes], "{at}");
    let state = world.state();
    assert_eq!(state["current_phase"], PHASES[passes], "{at}");
    assert_eq!(state["in_progress"], Value::Null, "{at}");
    assert_eq!(state["spent"]["ticks"], closed.len(), "{at}");
    world.settle();
}

/// Kills the first tick at every passage of a point, each in a world of its own.
fn every_passage(points: &[&str]) {
    for point in points {
        for passage in 1.. {
            let world = world();
            let run = dying(&world, &["tick", "L"], point, passage);
            if run.code != ABORTED {
                assert!(passage > 1, "{point} is never passed: {run:#?}");
                break;
            }
            recovers(&world, &format!("{point}:{passage}"));
        }
    }
}

/// Kills the first tick where it passes a point first.
fn first_passage(points: &[&str]) {
    for point in points {
        let world = world();
        let run = dying(&world, &["tick", "L"], point, 1);
        assert_eq!(run.code, ABORTED, "{point}: {run:#?}");
        recovers(&world, point);
    }
}

// scenarios: 25
// rows: L-06, L-07
// cases: 55, 107
#[test]
fn a_kill_after_any_record_of_a_tick_loses_and_repeats_nothing() {
    every_passage(&["append.written"]);
}

// scenarios: 25
// rows: L-06, L-07
// cases: 55, 107
#[test]
fn a_kill_when_a_step_has_begun_loses_and_repeats_nothing() {
    every_passage(&["step.begun"]);
}

// scenarios: 25
// rows: L-06
// cases: 55, 107
#[test]
fn a_kill_around_opening_and_closing_loses_and_repeats_nothing() {
    first_passage(&[
        "open.1",
        "open.2",
        "open.3",
        "open.4",
        "open.5",
        "append.before",
        "append.synced",
        "step.opened",
        "step.answered",
        "close.recorded",
        "close.cleared",
    ]);
}

// rows: L-06
// cases: 107
#[test]
fn a_kill_around_the_cache_leaves_a_cache_that_is_right_or_made_anew() {
    every_passage(&["cache.renamed"]);
    first_passage(&["cache.written"]);
}

// scenarios: 25
// rows: L-08
// cases: 55
#[test]
fn a_second_kill_while_the_first_is_mended_is_mended_too() {
    for point in [
        "open.3",
        "open.3.ended",
        "open.3.interrupted",
        "open.4",
        "append.written",
        "close.recorded",
    ] {
        let world = world();
        assert_eq!(dying(&world, &["tick", "L"], "step.begun", 2).code, ABORTED);
        let run = dying(&world, &["tick", "L"], point, 1);
        assert_eq!(run.code, ABORTED, "{point}: {run:#?}");
        recovers(&world, point);
        let crashes = records(&world);
        let crashes = crashes
            .iter()
            .filter(|record| record["kind"] == "closed" && record["outcome"]["reason"] == "crash");
        assert_eq!(crashes.count(), 1, "{point}: told once");
    }
}

// scenarios: 25
// rows: L-08
// cases: 107
#[test]
fn a_kill_while_a_torn_end_is_healed_keeps_what_was_cut() {
    for point in ["open.2.kept", "open.2.cut", "open.2.healed"] {
        let world = world();
        let path = world.in_loop("events.jsonl");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"v\":1,\"seq\":");
        fs::write(&path, bytes).unwrap();
        let run = dying(&world, &["tick", "L"], point, 1);
        assert_eq!(run.code, ABORTED, "{point}: {run:#?}");
        recovers(&world, point);
        let records = records(&world);
        let healed: Vec<_> = records
            .iter()
            .filter(|record| record["kind"] == "healed")
            .collect();
        assert_eq!(healed.len(), 1, "{point}: told once");
        let kept = healed[0]["kept"].as_str().unwrap();
        assert_eq!(fs::read(kept).unwrap(), b"{\"v\":1,\"seq\":", "{point}");
    }
}

// rows: U-28
// cases: 55
#[test]
fn a_request_counts_once_wherever_it_is_cut_off() {
    for (point, counts) in [
        ("submit.written", false),
        ("submit.renamed", true),
        ("submit.synced", true),
    ] {
        let world = world();
        let run = dying(&world, &["pause", "L"], point, 1);
        assert_eq!(run.code, ABORTED, "{point}: {run:#?}");
        let told = world.tick();
        let outcome = if counts { "skipped" } else { "pass" };
        assert_eq!(told["outcome"], outcome, "{point}: {told}");
        assert_eq!(world.state()["paused"], counts, "{point}");
    }
    for point in ["drain.read", "drain.recorded", "drain.removed"] {
        let world = world();
        assert_eq!(
            dying(&world, &["pause", "L"], "submit.synced", 1).code,
            ABORTED
        );
        let run = dying(&world, &["tick", "L"], point, 1);
        assert_eq!(run.code, ABORTED, "{point}: {run:#?}");
        assert_eq!(world.tick()["skip_reason"], "paused", "{point}");
        let pauses = records(&world);
        let pauses = pauses
            .iter()
            .filter(|record| record["control"]["request"]["op"] == "pause");
        assert_eq!(pauses.count(), 1, "{point}: recorded once");
        assert_eq!(
            fs::read_dir(world.in_loop("control")).unwrap().count(),
            0,
            "{point}"
        );
        world.run(["resume", "L"]).rc(0);
        recovers(&world, point);
    }
}

// rows: B-12
// cases: 55
#[test]
fn an_approved_move_is_made_once_wherever_it_is_cut_off() {
    for (point, passage) in [
        ("drain.recorded", 1),
        ("step.begun", 1),
        ("append.written", 1),
        ("append.written", 2),
        ("append.written", 3),
    ] {
        let world = World::plain().with_loop();
        world.move_to("t1", "spec");
        world.says("verify", verdict(true, 1.0, ""));
        world.tick();
        let run = dying(&world, &["approve", "L"], point, passage);
        let at = format!("{point}:{passage}");
        assert_eq!(run.code, ABORTED, "{at}: {run:#?}");
        let told = world.tick();
        assert_eq!(told["outcome"], "pass", "{at}: {told}");
        let task = fs::read_to_string(world.data("tasks/t1/task.json")).unwrap();
        let task: Value = serde_json::from_str(&task).unwrap();
        assert_eq!(task["phase"], "code_review", "{at}");
        assert_eq!(task["history"].as_array().unwrap().len(), 3, "{at}");
    }
}

// rows: L-08, W-10
#[test]
fn a_request_that_cannot_be_read_is_put_aside_and_told_of() {
    let world = world();
    fs::create_dir_all(world.in_loop("control")).unwrap();
    fs::write(world.in_loop("control/1-x.json"), "{").unwrap();
    let run = dying(&world, &["tick", "L"], "drain.set_aside", 1);
    assert_eq!(run.code, ABORTED, "{run:#?}");
    recovers(&world, "drain.set_aside");
    assert!(world.log().contains("WARNING"), "{}", world.log());
    assert_eq!(
        fs::read_dir(world.in_loop("outputs/control-bad"))
            .unwrap()
            .count(),
        1
    );
}
