//! What the next tick would take, before anything is spent.

use super::{ends, tasks, with_backlog, with_source};
use crate::support::World;
use serde_json::json;
use std::fs;

#[track_caller]
fn foretold(world: &World) -> String {
    let run = world.run(["tick", "L", "--dry-run"]).rc(0);
    assert!(world.calls().is_empty(), "something was spent");
    assert!(
        !world.in_loop("events.jsonl").exists(),
        "something was written"
    );
    assert!(!world.in_loop("outputs").exists(), "something was written");
    run.out
}

#[test]
fn the_item_of_a_backlog_is_shown_with_its_whole_prompt_and_not_taken() {
    let world = with_backlog(
        World::plain(),
        "# Plan\n\n- [x] **old**\n- [ ] **fix-login** for plus signs\n  Mind the tests.\n",
        |_| {},
    );
    let said = foretold(&world);
    for text in [
        "task       fix-login",
        "(design/loops/BACKLOG.md:4)",
        "fix-login\nhint=[]\n",
        "Mind the tests.",
        "From: design/loops/BACKLOG.md",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert_eq!(tasks(&world), [""; 0], "a task was made");
    // What is foretold is what comes.
    ends(&world.tick(), "pass", "", Some("fix-login"));
    let prompt = world.output("tick1-implement-prompt.md");
    assert!(said.contains(&prompt), "{said}\n{prompt}");
}

#[test]
fn a_task_that_a_person_has_written_about_keeps_its_brief() {
    let world = with_backlog(World::plain(), "- [ ] **a** short\n", |_| {});
    world.task("a", "a long brief");
    let said = foretold(&world);
    assert!(
        said.contains("a long brief") && !said.contains("From: "),
        "{said}"
    );
}

#[test]
fn a_program_is_asked_and_the_worst_violation_is_named() {
    let world = World::plain();
    world.program(
        "tracker",
        "#!/bin/sh\necho '[{\"id\": \"9\", \"title\": \"Nine\", \"body\": \"All of it.\", \
         \"url\": \"https://example.org/9\"}]'\n",
    );
    let source = json!({"kind": "command", "command": ["tracker"]});
    let world = with_source(world, &source, |_| {});
    let said = foretold(&world);
    assert!(said.contains("Nine (https://example.org/9)"), "{said}");
    assert!(said.contains("All of it."), "{said}");
    assert_eq!(tasks(&world), [""; 0]);

    let world = with_source(World::plain(), &json!({"kind": "audit"}), |_| {});
    fs::create_dir_all(world.data("tasks/bare")).unwrap();
    let said = foretold(&world);
    assert!(said.contains("task       bare"), "{said}");
    assert!(said.contains("task bare has no task.json"), "{said}");
}

// rows: S-19
#[test]
fn a_source_that_fails_or_has_nothing_is_told_of() {
    let world = with_backlog(World::plain(), "- [x] **a**\n", |_| {});
    let said = foretold(&world);
    assert!(said.contains("do nothing: there is no work"), "{said}");
    assert!(said.contains("no prompt"), "{said}");
    fs::remove_file(world.project().join("design/loops/BACKLOG.md")).unwrap();
    let run = world.run(["tick", "L", "--dry-run"]).rc(0);
    assert!(run.err.contains("BACKLOG.md is missing"), "{run:#?}");

    let source = json!({"kind": "command", "command": ["nothing-there"]});
    let world = with_source(World::plain(), &source, |_| {});
    let said = foretold(&world);
    assert!(said.contains("do nothing: "), "{said}");
    assert!(said.contains("nothing-there"), "{said}");
    assert!(said.contains("mend the work source"), "{said}");
}
