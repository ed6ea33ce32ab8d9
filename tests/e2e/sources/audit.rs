//! The violations of the project as work.

use super::{ends, tasks, with_source};
use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

fn with_audit(world: World) -> World {
    let world = with_source(world, &json!({"kind": "audit"}), |config| {
        config["phases"] = Value::Null;
    });
    world.says("verify", verdict(false, 0.2, "look again"));
    world
}

fn other_loop(world: &World, text: &str) {
    fs::create_dir_all(world.data("loops/M")).unwrap();
    fs::write(world.data("loops/M/loop.json"), text).unwrap();
}

// scenarios: 4
// rows: S-01, S-08, S-09, S-10, S-11, S-12
#[test]
fn the_worst_violation_is_the_task() {
    let world = with_audit(World::plain());
    fs::create_dir_all(world.data("tasks/bare")).unwrap();
    world.run(["task", "create", "t-high"]).rc(0);
    world.run(["task", "transition", "t-high"]).rc(0);
    other_loop(
        &world,
        r#"{"name": "M", "roles": {"verify": {"prompt": "nowhere.md"}}}"#,
    );
    let report = world.run(["audit", "--json"]).rc(0).json();
    let found: Vec<_> = report["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| (violation["severity"].as_str(), violation["task"].as_str()))
        .collect();
    let expected = [
        (Some("high"), Some("t-high")),
        (Some("med"), Some("bare")),
        (Some("low"), None),
    ];
    assert_eq!(found, expected);
    let told = world.tick();
    ends(&told, "fail", "verdict", Some("t-high"));
    assert_eq!(tasks(&world), ["bare", "t-high"], "a task was made");
}

// scenarios: 5
// rows: S-13, S-14, S-15, S-29
#[test]
fn a_violation_without_a_task_makes_one_once() {
    let world = with_audit(World::plain());
    other_loop(&world, "{");
    let name = "loop-m-has-a-loop-json-that-cannot-be-used";
    for tick in [1, 2] {
        ends(&world.tick(), "fail", "verdict", Some(name));
        assert_eq!(tasks(&world), [name], "in tick {tick}");
        assert_eq!(world.phase(name), "research");
    }
    let prompt = world.output("tick2-implement-prompt.md");
    assert!(prompt.contains("hint=[look again]"), "{prompt}");
    assert!(prompt.contains("loop M has a loop.json"), "{prompt}");
}

// scenarios: 6
// rows: S-07, L-02, U-08
#[test]
fn a_clean_project_has_no_work_and_uses_no_tick() {
    let world = with_audit(World::plain());
    let told = world.tick();
    ends(&told, "skipped", "no_work", None);
    assert_eq!(told["tick"], Value::Null);
    assert!(world.calls().is_empty());
    let log = world.log();
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("no_work"))
        .collect();
    assert!(
        matches!(lines[..], [line] if line.contains("INFO")),
        "{log}"
    );
    other_loop(&world, "{");
    assert_eq!(world.tick()["tick"], 1, "the number was used");
}

// rows: S-31
#[test]
fn a_worse_violation_comes_between_and_each_task_keeps_its_own_counts() {
    let world = with_audit(World::plain());
    fs::create_dir_all(world.data("tasks/bare")).unwrap();
    ends(&world.tick(), "fail", "verdict", Some("bare"));
    other_loop(&world, "{");
    let told = world.tick();
    assert_eq!(told["iteration"], 1);
    assert_ne!(told["task"], "bare");
    assert!(
        world
            .output("tick2-implement-prompt.md")
            .contains("hint=[]")
    );
    fs::remove_dir_all(world.data("loops/M")).unwrap();
    let told = world.tick();
    ends(&told, "fail", "verdict", Some("bare"));
    assert_eq!(told["iteration"], 2);
    let prompt = world.output("tick3-implement-prompt.md");
    assert!(prompt.contains("hint=[look again]"), "{prompt}");
}
