//! A loop whose work is another project's.

use super::{ends, with_source, write_backlog};
use crate::support::{World, verdict};
use serde_json::json;
use std::fs;

// rows: S-17, S-18, Q-22
// cases: 113
#[test]
fn uses_work_source_project_override() {
    let world = World::plain();
    let other = world.other_repository("home/src/other");
    write_backlog(&other, "- [ ] **there**\n");
    write_backlog(world.project(), "- [ ] **here**\n");
    let source = json!({"kind": "backlog", "area": "loops", "project": "~/src/other"});
    let world = with_source(world, &source, |config| {
        config["blast_radius"] = json!({"use_worktree": true});
    });
    let told = world.tick();
    ends(&told, "pass", "", Some("there"));
    let tree = world.state()["worktree"]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    for call in world.calls() {
        assert_eq!(call.cwd.to_str(), Some(tree.as_str()));
    }
    let prompt = world.output("tick1-implement-prompt.md");
    assert!(prompt.starts_with("there\n"), "{prompt}");
    let administration = fs::read_to_string(format!("{tree}/.git")).unwrap();
    assert!(
        administration.contains(other.join(".git").to_str().unwrap()),
        "{administration}"
    );
    assert!(other.join(".automaton/tasks/there/task.json").exists());
    assert!(!other.join(".automaton/loops/L").exists());
    assert!(
        !world.data("tasks").exists(),
        "a task in the loop's project"
    );
}

// rows: S-17, S-18
#[test]
fn in_place_the_other_projects_files_are_worked_on_and_its_box_is_ticked() {
    let world = World::plain();
    let other = world.other_repository("other");
    write_backlog(&other, "- [ ] **there**\n");
    let source = json!({
        "kind": "backlog", "area": "loops", "project": other.to_str().unwrap(),
    });
    let world = with_source(world, &source, |_| {});
    ends(&world.tick(), "pass", "", Some("there"));
    assert_eq!(world.calls()[0].cwd, other);
    assert!(other.join("work.txt").exists());
    let backlog = fs::read_to_string(other.join("design/loops/BACKLOG.md")).unwrap();
    assert_eq!(backlog, "- [x] **there**\n");
}

// rows: S-17, AU-11
#[test]
fn the_audit_is_the_other_projects() {
    let world = World::plain();
    let other = world.root().join("other");
    fs::create_dir_all(other.join(".automaton/tasks/bare")).unwrap();
    fs::create_dir_all(world.data("tasks/here")).unwrap();
    let source = json!({"kind": "audit", "project": other.to_str().unwrap()});
    let world = with_source(world, &source, |_| {});
    assert_eq!(world.tick()["task"], "bare");
}

// rows: S-17
#[test]
fn a_project_that_is_not_there_is_an_error_in_the_configuration() {
    let world = with_source(
        World::plain(),
        &json!({"kind": "audit", "project": "~/nowhere"}),
        |_| {},
    );
    let run = world.run(["tick", "L"]).rc(2);
    assert!(run.error().contains("work_source.project"), "{run:#?}");
    assert!(run.error().contains("nowhere"), "{run:#?}");
}

// rows: T-04, T-05, T-08, S-17, S-18
#[test]
fn the_self_improvement_template_works_on_the_framework_home() {
    let world = World::plain();
    let home = world.other_repository("home/.automaton");
    fs::create_dir_all(home.join("tasks/bare")).unwrap();
    world
        .run(["create", "mend", "--from-template", "self-improvement"])
        .rc(0);
    world.role("implement", "mkdir -p scripts; echo \"$n\" >scripts/x");
    world.says("verify", verdict(true, 1.0, ""));
    let run = world.run(["tick", "mend", "--json"]).rc(0);
    ends(&run.json(), "pass", "", Some("bare"));
    let tree = &world.calls()[0].cwd;
    assert!(tree.starts_with(home.join("worktrees")), "{tree:?}");
    assert!(tree.ends_with("mend/bare"), "{tree:?}");
    assert!(!home.join("scripts").exists());
}
