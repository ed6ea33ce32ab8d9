//! Two loops with one source never take the same item.

use super::{ends, tasks, with_backlog, write_backlog};
use crate::support::{World, verdict, wait_for};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// Holds implement until the test lets it go on.
const HELD: &str = "true >\"$REC/started.$n\"; until [ -e \"$REC/go\" ]; do sleep 0.02; done; \
                    echo \"$n\" >>work.txt";

/// Makes the loops `L` and `M` with one backlog.
fn two_loops(items: usize, change: impl FnOnce(&mut Value)) -> World {
    let text: String = (0..items).map(|n| format!("- [ ] **t{n}**\n")).collect();
    // In one tree, each loop would change what the other's judge looks at.
    let world = with_backlog(World::git(), &text, |config| {
        config["blast_radius"] = json!({"use_worktree": true});
        change(config);
    });
    let other = world.data("loops/M");
    fs::create_dir_all(&other).unwrap();
    for name in ["impl.md", "ver.md"] {
        fs::copy(world.in_loop(name), other.join(name)).unwrap();
    }
    let config = fs::read_to_string(world.in_loop("loop.json")).unwrap();
    fs::write(other.join("loop.json"), config.replace(r#""L""#, r#""M""#)).unwrap();
    world
}

fn claimed_by(world: &World, task: &str) -> Value {
    let path = world.data(&format!("tasks/{task}/.claim"));
    match fs::read(path) {
        Ok(text) => serde_json::from_slice::<Value>(&text).unwrap()["loop"].take(),
        Err(_) => Value::Null,
    }
}

// cases: 113
#[test]
fn two_loops_that_tick_at_the_same_time_take_two_items() {
    let world = two_loops(3, |_| {});
    world.role("implement", HELD);
    let loops = ["L", "M"].map(|name| (name, world.start(["tick", name, "--json"])));
    for n in [1, 2] {
        wait_for(&world.rec(&format!("started.{n}")));
    }
    let mut owners: Vec<_> = ["t0", "t1"].iter().map(|t| claimed_by(&world, t)).collect();
    owners.sort_by_key(Value::to_string);
    assert_eq!(owners, ["L", "M"]);
    assert_eq!(tasks(&world), ["t0", "t1"]);
    let shown = world.shown();
    assert!(shown.contains("loop M works on it"), "{shown}");
    fs::write(world.rec("go"), "").unwrap();
    let taken: BTreeSet<_> = loops
        .into_iter()
        .map(|(name, running)| {
            let told = running.wait().rc(0).json();
            assert_eq!(told["outcome"], "pass", "{name}: {told:#}");
            told["task"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(taken.len(), 2, "{taken:?}");
    for task in taken {
        assert_eq!(claimed_by(&world, &task), Value::Null, "{task} is complete");
    }
}

// cases: 113
#[test]
fn every_item_is_taken_once_however_two_loops_meet() {
    const ITEMS: usize = 6;
    let world = two_loops(ITEMS, |_| {});
    let mut taken = Vec::new();
    while taken.len() < ITEMS {
        let loops = ["L", "M"].map(|name| world.start(["tick", name, "--json"]));
        for running in loops {
            let told = running.wait().rc(0).json();
            if told["outcome"] == "pass" {
                taken.push(told["task"].as_str().unwrap().to_owned());
            } else {
                ends(&told, "skipped", "no_work", None);
            }
        }
    }
    let distinct: BTreeSet<_> = taken.iter().collect();
    assert_eq!(distinct.len(), ITEMS, "{taken:?}");
    assert_eq!(world.count("implement"), ITEMS);
}

// cases: 113
#[test]
fn a_begun_item_stays_its_loops_and_one_put_aside_is_free() {
    let world = two_loops(1, |config| {
        config["brakes"]["on_trip"] = json!("park");
        config["brakes"]["max_iterations"] = json!(2);
    });
    world.says_at("verify", 1, verdict(false, 0.2, "h"));
    world.says_at("verify", 2, verdict(false, 0.3, "h"));
    ends(&world.tick(), "fail", "verdict", Some("t0"));
    assert_eq!(claimed_by(&world, "t0"), "L");
    let told = world.run(["tick", "M", "--json"]).rc(0).json();
    ends(&told, "skipped", "no_work", None);
    ends(&world.tick(), "parked", "max_iterations", Some("t0"));
    assert_eq!(claimed_by(&world, "t0"), Value::Null);
    let told = world.run(["tick", "M", "--json"]).rc(0).json();
    ends(&told, "pass", "", Some("t0"));
    assert_eq!(claimed_by(&world, "t0"), Value::Null);
}

// cases: 113
#[test]
fn the_item_of_a_loop_that_is_gone_is_taken_over() {
    let world = two_loops(1, |_| {});
    world.says("verify", verdict(false, 0.2, "h"));
    ends(&world.tick(), "fail", "verdict", Some("t0"));
    let other = |args: &[&str]| world.run(args).rc(0);
    let told = other(&["tick", "M", "--json"]).json();
    ends(&told, "skipped", "no_work", None);
    let home = world.data("loops/L");
    fs::remove_dir_all(&home).unwrap();
    for command in [&["show", "M"][..], &["audit"]] {
        let shown = other(command).out;
        assert!(!shown.contains("loop L"), "{shown}");
    }
    world.says("verify", verdict(true, 1.0, ""));
    let told = other(&["tick", "M", "--json"]).json();
    ends(&told, "pass", "", Some("t0"));
    let log = fs::read_to_string(world.data("loops/M/.state.log")).unwrap();
    assert!(
        log.contains("WARNING") && log.contains("\"L\" that worked on t0 is gone"),
        "{log}"
    );

    // A name that no loop ever had does not count either.
    write_backlog(world.project(), "- [ ] **t1**\n");
    fs::create_dir_all(world.data("tasks/t1")).unwrap();
    let planted = json!({"loop": "ghost", "since": "2026-01-01T00:00:00.000Z"});
    fs::write(world.data("tasks/t1/.claim"), planted.to_string()).unwrap();
    let told = other(&["tick", "M", "--json"]).json();
    ends(&told, "pass", "", Some("t1"));
}
