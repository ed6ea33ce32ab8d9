//! What is out of order with a project, for people and for programs.

use crate::support::World;
use serde_json::{Value, json};
use std::fs;

fn broken() -> World {
    let world = World::plain().with_loop();
    world.configure(|config| config["roles"]["verify"]["prompt"] = json!("nowhere.md"));
    fs::create_dir_all(world.data("tasks/bare")).unwrap();
    fs::create_dir_all(world.data("loops/M")).unwrap();
    fs::write(world.data("loops/M/loop.json"), "{").unwrap();
    world
}

// scenarios: 23
// rows: AU-01, AU-02, AU-03, AU-04, AU-10, AU-13, AU-14
#[test]
fn the_report_for_programs_is_one_line_and_changes_nothing() {
    let empty = World::plain();
    let run = empty.run(["audit", "--json"]).rc(0);
    let report = json!({"violations": [], "loops": [], "total_tasks": 0, "untracked_tasks": 0});
    assert_eq!(run.json(), report);
    let world = broken();
    let run = world.run(["audit", "--json"]).rc(0);
    assert_eq!(run.out.lines().count(), 1);
    let report: Value = run.json();
    assert_eq!(report["total_tasks"], 2);
    assert_eq!(report["untracked_tasks"], 1);
    assert_eq!(report["loops"].as_array().unwrap().len(), 2);
    let codes: Vec<_> = report["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| (&violation["severity"], &violation["code"]))
        .map(|(severity, code)| {
            format!("{} {}", severity.as_str().unwrap(), code.as_str().unwrap())
        })
        .collect();
    assert_eq!(
        codes,
        [
            "high invalid_loop",
            "med untracked_task",
            "low prompt_missing"
        ]
    );
    assert_eq!(world.run(["audit", "--json"]).rc(0).out, run.out);
}

// scenarios: 23
// rows: AU-03, AU-05, AU-06, AU-07, AU-08, AU-14, U-29, U-48
#[test]
fn the_report_counts_everything_reads_from_its_last_line_and_touches_nothing() {
    let world = broken();
    world.task("t2", "more");
    let tree = || {
        let mut files = Vec::new();
        let mut folders = vec![world.project().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        files.sort();
        files
    };
    let before = tree();
    let run = world.run(["audit", "--json"]).rc(0);
    assert_eq!(tree(), before);
    let noisy = format!("some noise\n{}", run.out);
    let report: Value = serde_json::from_str(noisy.lines().last().unwrap()).unwrap();
    let keys: Vec<_> = report.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert_eq!(report["loops"].as_array().unwrap().len(), 2);
    assert_eq!(report["total_tasks"], 3);
    assert_eq!(report["untracked_tasks"], 1);
    for key in [
        "name",
        "status",
        "paused",
        "current_task",
        "current_phase",
        "iteration",
        "last_score",
        "reason",
    ] {
        assert!(report["loops"][0].get(key).is_some(), "{key}");
    }
    let violations = report["violations"].as_array().unwrap();
    assert!(!violations.is_empty());
    for violation in violations {
        let severity = violation["severity"].as_str().unwrap();
        assert!(["high", "med", "low"].contains(&severity), "{violation}");
        assert!(!violation["message"].as_str().unwrap().is_empty());
    }
}

// rows: AU-09, AU-10, AU-11
#[test]
fn the_report_for_people_has_counts_and_a_line_for_each_violation() {
    let world = broken();
    let run = world.run(["audit"]).rc(0);
    let lines: Vec<_> = run.out.lines().collect();
    assert!(
        lines[0].contains("2 loops, 2 tasks, 1 without a record, 3 violations"),
        "{run:#?}"
    );
    assert_eq!(lines.len(), 4);
    world.run(["audit", "--strict"]).rc(1);
    let other = world.root().join("other");
    fs::create_dir_all(&other).unwrap();
    let named = other.display().to_string();
    let run = world.run(["audit", "--strict", "--project", &named]).rc(0);
    assert!(run.out.starts_with("0 loops"), "{run:#?}");
}
