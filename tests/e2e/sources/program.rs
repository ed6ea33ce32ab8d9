//! The items that a program prints as work.

use super::{ends, tasks, with_backlog, with_source};
use crate::support::World;
use serde_json::{Value, json};
use std::fs;

fn with_tracker(world: World, script: &str) -> World {
    world.program("tracker", &format!("#!/bin/sh\n{script}\n"));
    let source = json!({"kind": "command", "command": ["tracker", "open items"]});
    with_source(world, &source, |_| {})
}

// rows: S-01
// cases: 76
#[test]
fn the_item_with_the_lowest_priority_comes_first_and_its_text_is_the_brief() {
    let items = r#"[{"id": "12", "title": "Later", "priority": 2},
        {"id": "7", "title": "Überholspur", "priority": 1, "body": "All of it.",
         "url": "https://example.org/7", "labels": ["fast"]}]"#;
    let script = format!("printf '%s' \"$#:$1:$(pwd -P)\" >\"$REC/called\"; echo '{items}'");
    let world = with_tracker(World::plain(), &script);
    let told = world.tick();
    assert_eq!(told["outcome"], "pass", "{told:#}");
    let name = told["task"].as_str().unwrap();
    assert!(name.starts_with("berholspur-"), "{name}");
    assert_eq!(
        fs::read_to_string(world.rec("called")).unwrap(),
        format!("1:open items:{}", world.project().display())
    );
    let prompt = world.output("tick1-implement-prompt.md");
    for text in [
        "# Überholspur",
        "All of it.",
        "Labels: fast",
        "https://example.org/7",
    ] {
        assert!(prompt.contains(text), "{prompt}");
    }
    assert!(world.tick()["task"].as_str().unwrap().starts_with("later-"));
    ends(&world.tick(), "skipped", "no_work", None);
    let shown = world.run(["task", "show", name, "--json"]).rc(0).json();
    let origin = json!({"kind": "command", "id": "7", "url": "https://example.org/7"});
    assert_eq!(shown["task"]["origin"], origin);
}

// rows: S-19
// cases: 79
#[test]
fn a_program_that_cannot_tell_is_an_error_and_never_no_work() {
    for (script, why) in [
        ("echo broken >&2; exit 3", "tracker exited with 3: broken"),
        ("kill -9 $$", "killed by signal 9"),
        ("echo 'no items today'", "no list of items"),
        (
            "echo '[{\"id\": \"1\", \"title\": \"a\"},]'",
            "no list of items",
        ),
        (
            "echo '[{\"id\": \"1\", \"title\": \"a\"}'",
            "no list of items",
        ),
        ("echo '[{\"id\": \"1\"}]'", "title"),
        (
            "echo '{\"id\": \"1\", \"title\": \"a\"}{\"id\": \"1\", \"title\": \"b\"}'",
            "stands twice",
        ),
        ("echo '[{\"id\": \"--all\", \"title\": \"a\"}]'", "hyphen"),
        ("sleep 60", "longer than 1s"),
    ] {
        let world = with_tracker(World::plain(), script);
        world.configure(|config| config["work_source"]["timeout_seconds"] = json!(1));
        let run = world.run(["tick", "L", "--json"]).rc(1);
        let told = run.json();
        ends(&told, "error", "source_failed", None);
        assert!(told["why"].as_str().unwrap().contains(why), "{told:#}");
        assert!(told["do"].as_str().unwrap().contains("work source"));
        assert!(world.calls().is_empty(), "{script}");
        assert_eq!(tasks(&world), [""; 0], "{script}");
    }
}

// rows: S-19
#[test]
fn a_file_that_cannot_be_read_is_an_error_and_never_no_work() {
    let backlog = || with_backlog(World::plain(), "", |_| {});
    let audit = || with_source(World::plain(), &json!({"kind": "audit"}), |_| {});
    let file = |world: &World| world.project().join("design/loops/BACKLOG.md");
    let missing = with_tracker(World::plain(), "");
    fs::remove_file(missing.root().join("bin/tracker")).unwrap();
    let no_text = backlog();
    fs::write(file(&no_text), b"- [ ] a\n\xff\n").unwrap();
    let folder = backlog();
    fs::remove_file(file(&folder)).unwrap();
    fs::create_dir(file(&folder)).unwrap();
    let link = backlog();
    fs::remove_file(file(&link)).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", file(&link)).unwrap();
    let no_audit = audit();
    fs::write(no_audit.data("tasks"), "").unwrap();
    for (world, why) in [
        (missing, "tracker"),
        (no_text, "BACKLOG.md:2: is not UTF-8"),
        (folder, "BACKLOG.md"),
        (link, "BACKLOG.md"),
        (no_audit, "tasks"),
    ] {
        let told = world.run(["tick", "L", "--json"]).rc(1).json();
        ends(&told, "error", "source_failed", None);
        assert!(told["why"].as_str().unwrap().contains(why), "{told:#}");
        assert!(world.calls().is_empty());
    }
}

// cases: 113
#[test]
fn looking_at_a_loop_runs_nothing() {
    let world = with_tracker(World::plain(), ">>\"$REC/called\"; echo '[]'");
    world.run(["list"]).rc(0);
    world.run(["list", "--json"]).rc(0);
    world.run(["show", "L"]).rc(0);
    let shown = world.run(["show", "L", "--json"]).rc(0).json();
    assert_eq!(shown["items"], Value::Null);
    assert!(!world.rec("called").exists());
    ends(&world.tick(), "skipped", "no_work", None);
    assert!(world.rec("called").exists());
}
