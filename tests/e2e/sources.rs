//! Where work comes from: audits, backlogs and programs.

mod audit;
mod backlog;
mod claims;
mod dry_run;
mod finishing;
mod parking;
mod program;
mod project;
mod recipes;
mod shared;

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Makes the loop `L` with a work source, and tasks of one phase. The first line
/// of what implement is told is the task.
fn with_source(world: World, source: &Value, change: impl FnOnce(&mut Value)) -> World {
    world.make_loop(|config| {
        config["work_source"] = source.clone();
        config["phases"] = json!(["implement"]);
        config["roles"]["orchestrate"] = Value::Null;
        change(config);
    });
    let prompt = "{current_task}\nhint=[{next_hint}]\n{task_brief}";
    fs::write(world.in_loop("impl.md"), prompt).unwrap();
    world.says("verify", verdict(true, 1.0, ""));
    world
}

/// The same with a backlog of the area `loops`.
fn with_backlog(world: World, text: &str, change: impl FnOnce(&mut Value)) -> World {
    write_backlog(world.project(), text);
    let source = json!({"kind": "backlog", "area": "loops"});
    with_source(world, &source, change)
}

fn write_backlog(project: &Path, text: &str) {
    fs::create_dir_all(project.join("design/loops")).unwrap();
    fs::write(project.join("design/loops/BACKLOG.md"), text).unwrap();
}

fn read_backlog(world: &World) -> String {
    fs::read_to_string(world.project().join("design/loops/BACKLOG.md")).unwrap()
}

/// Returns the names of all tasks.
fn tasks(world: &World) -> Vec<String> {
    let listed = world.run(["task", "list", "--json"]).rc(0).json();
    let names = listed["tasks"].as_array().unwrap().iter();
    names
        .map(|task| task["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Checks how a tick ended: outcome, reason or skip reason, and task.
#[track_caller]
fn ends(told: &Value, outcome: &str, reason: &str, task: Option<&str>) {
    let said = [&told["reason"], &told["skip_reason"]];
    let said = said.into_iter().find_map(Value::as_str).unwrap_or_default();
    let found = (
        told["outcome"].as_str().unwrap(),
        said,
        told["task"].as_str(),
    );
    assert_eq!(found, (outcome, reason, task), "{told:#}");
}
