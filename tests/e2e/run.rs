//! `loop run` and `loop iterate`: from `TASK.md` to a green gate.

mod endings;
mod meanwhile;
mod real_tasks;
mod refusing;
mod tampering;

use crate::support::{Run, World};
use serde_json::{Value, json};
use std::fs;

const TASK: &str = "# Make it done\n\n## Done when\n\n- the file `done` exists\n";
/// A gate that is red until the file `done` is there.
const GATE: &str = "#!/bin/bash\n[ -f done ] || { echo no done; exit 1; }\n";

/// Makes a repository with the scaffold, a task, and a planner that writes `gate`.
fn planned(gate: &str) -> World {
    planned_in(World::git(), gate)
}

fn planned_in(world: World, gate: &str) -> World {
    world.run(["init", "--run"]).rc(0);
    write(&world, "TASK.md", TASK);
    fs::write(world.rec("gate"), gate).unwrap();
    world.role("plan", "cat \"$REC/gate\" >scripts/verify.sh");
    world.says("plan", plan(&json!({})));
    world
}

/// A planner's answer, with `change` laid over its block.
fn plan(change: &Value) -> String {
    let mut block = json!({
        "v": 1,
        "boxes": {
            "bounded": "one file",
            "rejectable": "the gate",
            "end_to_end": "no outside help",
            "objective": "a file exists",
        },
        "plan": [{"item": "make the file", "check": "[ -f done ]"}],
        "covers": [{"line": "the file `done` exists", "check": 0}],
        "frozen": [],
    });
    for (key, value) in change.as_object().unwrap() {
        block[key] = value.clone();
    }
    format!("I looked at it.\n\n```json\n{block:#}\n```\nPLANNED\n")
}

fn write(world: &World, path: &str, text: &str) {
    fs::write(world.project().join(path), text).unwrap();
}

fn read(world: &World, path: &str) -> String {
    fs::read_to_string(world.project().join(path)).unwrap()
}

/// Returns a field of the head of `STATE.md`.
fn head(world: &World, field: &str) -> String {
    let text = read(world, "STATE.md");
    let field = format!("{field}: ");
    let line = text.lines().find_map(|line| line.strip_prefix(&field));
    line.unwrap_or_else(|| panic!("no {field} in\n{text}"))
        .to_owned()
}

fn run(world: &World) -> Run {
    world.run(["run"])
}
