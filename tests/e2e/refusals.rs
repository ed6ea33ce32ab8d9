//! A record, a task or an argument that is wrong is refused before anything
//! runs: with an exit code, and one line that says what and what to do.

use crate::support::World;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// What is done to a loop's files, and what has to be said of it.
type Damage = (fn(&World), &'static str);

// scenarios: 25
// rows: L-08
// cases: 107
#[test]
fn a_record_that_cannot_be_trusted_is_refused_and_left_as_it_is() {
    let damages: [Damage; 9] = [
        (
            |world| lines(world, |lines| lines[1] = "not json".to_owned()),
            "events.jsonl, line 2",
        ),
        (
            |world| lines(world, |lines| lines[1] = "{}".to_owned()),
            "events.jsonl, line 2",
        ),
        (
            |world| lines(world, |lines| lines[1] = "\0".repeat(64)),
            "events.jsonl, line 2",
        ),
        (
            |world| lines(world, |lines| lines[0] = "[]".to_owned()),
            "events.jsonl, line 1",
        ),
        (
            |world| lines(world, |lines| drop(lines.remove(2))),
            "events.jsonl, line 3",
        ),
        (
            |world| lines(world, |lines| lines.insert(1, lines[0].clone())),
            "events.jsonl, line 2",
        ),
        (
            |world| lines(world, |lines| lines.truncate(1)),
            "has been cut",
        ),
        (|world| lines(world, Vec::clear), "events.jsonl"),
        (
            |world| fs::remove_file(world.in_loop("events.jsonl")).unwrap(),
            "is missing beside",
        ),
    ];
    for (damage, said) in damages {
        let world = World::plain().with_loop();
        world.run(["pause", "L"]).rc(0);
        world.run(["resume", "L"]).rc(0);
        world.run(["pause", "L"]).rc(0);
        damage(&world);
        let before = files(&world);
        for args in [&["tick", "L"][..], &["resume", "L"], &["show", "L"]] {
            let run = world.run(args).rc(2);
            assert!(run.error().contains(said), "{said}: {run:#?}");
        }
        let told = world.run(["tick", "L", "--json"]).json();
        assert_eq!(told["outcome"], "error", "{said}");
        assert_eq!(told["reason"], "state", "{said}");
        assert_eq!(files(&world), before, "{said}");
        assert!(world.calls().is_empty());
    }
}

/// Changes the lines of the loop's record.
fn lines(world: &World, change: impl FnOnce(&mut Vec<String>)) {
    let path = world.in_loop("events.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).unwrap();
}

/// Returns the files of the loop's record.
fn files(world: &World) -> [Option<Vec<u8>>; 2] {
    ["events.jsonl", ".state.json"].map(|name| fs::read(world.in_loop(name)).ok())
}

// rows: W-10, S-19
// cases: 107
#[test]
fn a_task_that_cannot_be_read_is_refused() {
    for (text, said) in [
        ("", "task.json"),
        ("\0\0\0\0", "task.json"),
        ("[]", "task.json"),
        ("{\"v\": 1", "task.json"),
        ("{\"v\": 1, \"name\": \"t1\"}", "task.json"),
    ] {
        let world = World::plain().with_loop();
        fs::write(world.data("tasks/t1/task.json"), text).unwrap();
        let told = world.run(["tick", "L", "--json"]).rc(1).json();
        assert_eq!(told["outcome"], "error", "{text}");
        assert_eq!(told["reason"], "source_failed", "{text}");
        assert!(told["why"].as_str().unwrap().contains(said), "{told}");
        let run = world.run(["task", "show", "t1"]).rc(1);
        assert!(run.error().contains(said), "{run:#?}");
        assert!(world.calls().is_empty());
    }
}

/// Arguments, exit code, and what the one line says.
type Refusal = (&'static [&'static str], i32, &'static str);

#[rustfmt::skip]
const ARGUMENTS: &[Refusal] = &[
    (&["tick", "nope"], 1, "there is no loop `nope`"),
    (&["show", "nope"], 1, "there is no loop `nope`"),
    (&["log", "nope"], 1, "there is no loop `nope`"),
    (&["diff", "nope"], 1, "there is no loop `nope`"),
    (&["approve", "nope"], 1, "there is no loop `nope`"),
    (&["pause", "nope"], 1, "there is no loop `nope`"),
    (&["resume", "nope"], 1, "there is no loop `nope`"),
    (&["stop", "nope"], 1, "there is no loop `nope`"),
    (&["set-task", "nope", "t1"], 1, "there is no loop `nope`"),
    (&["config", "nope"], 1, "there is no loop `nope`"),
    (&["validate", "nope"], 1, "there is no loop `nope`"),
    (&["prompt", "render", "nope", "implement"], 1, "there is no loop `nope`"),
    (&["prompt", "check", "nope"], 1, "there is no loop `nope`"),
    (&["tick", "../L"], 1, "there is no loop `../L`"),
    (&["tick", ""], 1, "there is no loop ``"),
    (&["set-task", "L", "nope"], 1, "there is no task `nope`"),
    (&["task", "show", "nope"], 1, "there is no task `nope`"),
    (&["task", "transition", "nope"], 1, "there is no task `nope`"),
    (&["task", "approve", "nope"], 1, "there is no task `nope`"),
    (&["task", "transition", "t1", "--to", "bug_find"], 1, "bug_find"),
    (&["task", "transition", "t1", "--to", "nowhere"], 1, "nowhere"),
    (&["task", "approve", "t1"], 1, "waits for no approval"),
    (&["task", "create", "t1"], 1, "exists already"),
    (&["task", "create", " "], 2, "say what it is about"),
    (&["approve", "L"], 1, "waits for nothing"),
    (&["create", "L", "--from-template", "task"], 1, "exists already"),
    (&["create", "x", "--from-template", "nope"], 1, "there are backlog, ci-triage, run-loop, self-improvement, task"),
    (&["create", "../x", "--from-template", "task"], 2, "is no loop name"),
    (&["create", "", "--from-template", "task"], 2, "is no loop name"),
    (&["create", "a b", "--from-template", "task"], 2, "is no loop name"),
    (&["create", "-rf", "--from-template", "task"], 2, "-r"),
    (&["create", "run", "--from-template", "task"], 2, "`run` belongs to `loop run`"),
    (&["create", "x", "--from-template", "task", "--brief", " "], 2, "the brief is empty"),
    (&["create", "x", "--from-template", "task", "--brief", "@nowhere"], 2, "nowhere"),
    (&["create", "x", "--from-template", "task", "--harness-command", "my-agent"], 2, "give a JSON array"),
    (&["create", "x", "--from-template", "task", "--harness-command", "[\"\"]"], 2, "--harness-command"),
    (&["create", "x", "--from-template", "task", "--harness-command", "[1]"], 2, "--harness-command"),
    (&["create", "x"], 2, "--from-template"),
    (&["prompt", "render", "L", "planner"], 2, "there are plan, implement, verify, orchestrate"),
    (&["--project", "nowhere", "list"], 2, "no such folder"),
    (&["list", "surplus"], 2, "surplus"),
    (&["tick"], 2, "<NAME>"),
    (&["tick", "L", "--jsn"], 2, "--jsn"),
    (&["tick", "L", "--max-iterations", "3"], 2, "--max-iterations"),
    (&["teleport"], 2, "teleport"),
    (&["task", "teleport"], 2, "teleport"),
    (&["list", "--color", "sometimes"], 2, "sometimes"),
];

// rows: C-04, C-13, C-14, C-15, C-17, C-18, C-20, W-10
// cases: 1, 150
#[test]
fn a_wrong_argument_is_refused_in_one_line_and_makes_nothing() {
    let world = World::plain().with_loop();
    let before = tree(&world);
    for (args, code, said) in ARGUMENTS {
        let run = world.run(*args).rc(*code);
        assert!(run.out.is_empty(), "{args:?}: {run:#?}");
        assert!(run.error().contains(said), "{args:?}: {run:#?}");
    }
    assert!(world.calls().is_empty());
    assert_eq!(tree(&world), before);
}

/// Lists every path of the project's data but for the locks that a look leaves.
fn tree(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.data("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.ends_with(".lock") && name != "events.jsonl" {
                found.push(path.display().to_string());
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

// rows: C-04, C-17, W-10
// cases: 65, 150, 155
#[test]
fn an_odd_name_is_refused_in_one_clean_line_by_every_command() {
    let world = World::plain().with_loop();
    let before = tree(&world);
    let long = "x".repeat(300);
    let names = [
        "",
        " ",
        ".",
        "..",
        "../L",
        "a/b",
        "/",
        "a\nb",
        "\u{1b}[31mred",
        "\u{202e}x",
        "\u{1F6E1}",
        "{cwd}",
        long.as_str(),
    ];
    let commands = [
        &["tick"][..],
        &["show"],
        &["log"],
        &["diff"],
        &["config"],
        &["validate"],
        &["approve"],
        &["pause"],
        &["stop"],
        &["set-task", "L"],
        &["task", "show"],
        &["task", "transition"],
        &["task", "approve"],
        &["prompt", "check"],
    ];
    for command in commands {
        for name in names {
            let run = world.run(command.iter().copied().chain([name]));
            assert!(matches!(run.code, 1 | 2), "{command:?} {name:?}: {run:#?}");
            assert!(!run.error().contains('\u{1b}'), "{command:?} {name:?}");
            assert_eq!(run.err.lines().count(), 1, "{command:?} {name:?}: {run:#?}");
        }
    }
    let broken = OsStr::from_bytes(b"\xff");
    for command in commands {
        let run = world.run(command.iter().map(OsStr::new).chain([broken]));
        assert_eq!(run.code, 2, "{command:?}: {run:#?}");
    }
    assert_eq!(tree(&world), before);
}

// rows: C-18
#[test]
fn a_usage_error_shows_the_usage_line() {
    let world = World::plain();
    for args in [&["tick"][..], &["list", "surplus"], &["tick", "L", "--jsn"]] {
        let run = world.run(args).rc(2);
        assert!(run.err.contains("Usage: loop"), "{run:#?}");
    }
}
