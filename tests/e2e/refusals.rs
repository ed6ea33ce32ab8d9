//! What is malformed is refused before anything runs: with an exit code, and
//! one line that says where, what, and what to do.

use crate::support::World;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Marks where the fault has to be reported; it is not part of the text.
const MARK: char = '»';

/// Returns line and column of the mark.
fn place(marked: &str) -> String {
    let before = &marked[..marked.find(MARK).unwrap()];
    let line = before.rsplit('\n').next().unwrap();
    format!(
        "{}:{}",
        before.matches('\n').count() + 1,
        line.chars().count() + 1
    )
}

/// Puts one fragment into an otherwise good configuration, on its third line.
fn around(fragment: &str) -> String {
    format!("{{\n  \"name\": \"L\", \"roles\": {{}},\n  {fragment}\n}}")
}

/// A configuration with its mark; the key; what the message says to do.
type Malformed = (String, &'static str, &'static str);

#[rustfmt::skip]
fn malformed_configurations() -> Vec<Malformed> {
    vec![
        ("»".into(), "", "the file is empty; write an object with at least `name` and `roles`"),
        ("»[]".into(), "", "expected an object, found an empty array"),
        ("»null".into(), "", "expected an object"),
        ("»{}".into(), "name", "missing key; add it"),
        (r#"»{"name": "L"}"#.into(), "roles", "missing key; add it"),
        ("»name: L".into(), "", "write plain JSON"),
        (r#"{"name": "L", "roles": {}»"#.into(), "", "restore it or close what is open"),
        (r#"{"name": "L", "roles": {},»}"#.into(), "", "no trailing commas"),
        (r#"{"name": "L", "roles": {}} »{}"#.into(), "", "trailing characters"),
        ("{»// why\n}".into(), "", "no comments"),
        (r#"{"name": »"../x", "roles": {}}"#.into(), "name", "../x"),
        (r#"{"name": »"", "roles": {}}"#.into(), "name", "start with a letter or digit"),
        (around(r#"»"brake": {"max_iterations": 3}"#), "brake", "did you mean brakes?"),
        (around(r#"»"max_iterations": 3"#), "max_iterations", "did you mean brakes.max_iterations?"),
        (around(r#""brakes": {»"max_iteratons": 3}"#), "brakes.max_iteratons", "did you mean max_iterations?"),
        (around(r#""brakes": {"max_iterations": 3, »"max_iterations": 4}"#), "brakes.max_iterations", "keep one of the two"),
        (around(r#""brakes": {"max_iterations": »0}"#), "brakes.max_iterations", "a whole number from 1"),
        (around(r#""brakes": {"max_iterations": »-1}"#), "brakes.max_iterations", "a whole number from 1"),
        (around(r#""brakes": {"max_iterations": »08}"#), "brakes.max_iterations", "plain decimals"),
        (around(r#""brakes": {"max_iterations": »1e3}"#), "brakes.max_iterations", "a whole number"),
        (around(r#""brakes": {"max_iterations": »3.0}"#), "brakes.max_iterations", "a whole number"),
        (around(r#""brakes": {"max_iterations": »" 5 "}"#), "brakes.max_iterations", "or \"unlimited\""),
        (around(r#""brakes": {"max_iterations": »18446744073709551616}"#), "brakes.max_iterations", "a whole number"),
        (around(r#""brakes": {"max_iterations": »"unlimited", "max_wall_seconds": "unlimited"}"#), "brakes.max_iterations", "would never stop"),
        (around(r#""brakes": {"score_plateau_window": »1}"#), "brakes.score_plateau_window", "0"),
        (around(r#""brakes": {"min_score": »1.5}"#), "brakes.min_score", "expected"),
        (around(r#""brakes": {"max_harness_failures": »0}"#), "brakes.max_harness_failures", "from 1"),
        (around(r#""brakes": {"max_ticks_per_day": »0}"#), "brakes.max_ticks_per_day", "from 1"),
        (around(r#""brakes": {"max_cost_usd": »0}"#), "brakes.max_cost_usd", "0"),
        (around(r#""brakes": {"max_cost_usd": »"$5"}"#), "brakes.max_cost_usd", "dollars as a plain decimal"),
        (around(r#""brakes": {"max_cost_usd": »-1}"#), "brakes.max_cost_usd", "not negative"),
        (around(r#""brakes": {"max_wall_seconds": »0}"#), "brakes.max_wall_seconds", "from 1"),
        (around(r#""brakes": {"on_trip": »"park"}"#), "brakes.on_trip", "use \"halt\""),
        (around(r#""harness": {"command": »"opencode run"}"#), "harness.command", "expected an array"),
        (around(r#""harness": {"command": [»"", "x"]}"#), "harness.command[0]", "name one"),
        (around(r#""harness": {"command": ["x", »1]}"#), "harness.command[1]", "expected"),
        (around(r#""harness": {"timeout_seconds": »0}"#), "harness.timeout_seconds", "from 1"),
        (around(r#""harness": {»"timeout": 60}"#), "harness.timeout", "did you mean timeout_seconds?"),
        (around(r#""harness": {"prompt_via": »"pipe"}"#), "harness.prompt_via", "use one of"),
        (around(r#""acceptance_criteria": [»1, 2]"#), "acceptance_criteria[0]", "expected"),
        (around(r#""acceptance_criteria": »{"a": 1}"#), "acceptance_criteria", "expected"),
        (around(r#""work_source": {»"knd": "single"}"#), "work_source.knd", "did you mean kind?"),
        (around(r#""work_source": »"single""#), "work_source", "expected an object"),
        (around(r#""work_source": {"kind": "backlog", "area": »"../x"}"#), "work_source.area", ".."),
        (around(r#""work_source": »{"kind": "command"}"#), "work_source.command", "missing key"),
        (around(r#""blast_radius": {»"filescope": []}"#), "blast_radius.filescope", "did you mean file_scope?"),
        (around(r#""blast_radius": {"file_scope": [»"/etc"]}"#), "blast_radius.file_scope[0]", "/etc"),
        (around(r#""blast_radius": {"file_scope": [»"a/../../b"]}"#), "blast_radius.file_scope[0]", ".."),
        (around(r#""blast_radius": {"use_worktree": »"yes"}"#), "blast_radius.use_worktree", "expected"),
        (around(r#""schedule": {"interval_seconds": »0}"#), "schedule.interval_seconds", "from 1"),
        (around(r#""schedule": {"interval_seconds": 60, "cron": »"* * * * *"}"#), "schedule.cron", "not both"),
        (around(r#""phases": »[]"#), "phases", "name at least one"),
        (around(r#""phases": ["a", »"a"]"#), "phases[1]", "twice"),
        (around(r#""phases": ["a"], "approval_phases": [»"b"]"#), "approval_phases[0]", "use one of a"),
        (around(r#""notify": [{"on": ["done"], »"comand": ["x"]}]"#), "notify[0].comand", "did you mean command?"),
        (around(r#""gate": {"command": »"make test"}"#), "gate.command", "expected an array"),
        (around(r#"»"x": 1"#), "x", "use one of"),
    ]
}

// rows: B-04, B-20, H-39, K-05, L-15, W-10, X-10, S-27
// cases: 2, 3, 4
#[test]
fn a_malformed_configuration_is_refused_with_its_place_its_key_and_what_to_do() {
    let world = World::plain().with_loop();
    let records = fs::read(world.in_loop("events.jsonl")).unwrap();
    let mut wrong = Vec::new();
    for (marked, key, advice) in malformed_configurations() {
        let text = marked.replace(MARK, "");
        world.write_config(&text);
        let path = world.in_loop("loop.json");
        let key = if key.is_empty() {
            String::new()
        } else {
            format!("{key}: ")
        };
        let start = format!("{}:{}: {key}", path.display(), place(&marked));
        for args in [&["tick", "L"][..], &["validate", "L"]] {
            let run = world.run(args).rc(2);
            let error = run.error();
            assert_eq!(run.err.lines().count(), 1, "{run:#?}");
            if !(error.starts_with(&start) && error.contains(advice)) {
                wrong.push(format!("{text}\n{error}\n{start}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(world.calls().is_empty());
    assert_eq!(fs::read(world.in_loop("events.jsonl")).unwrap(), records);
}

// rows: W-10
// cases: 107
#[test]
fn a_configuration_that_is_no_text_is_refused() {
    let world = World::plain().with_loop();
    let path = world.in_loop("loop.json");
    for (bytes, said) in [
        (b"{\"name\": \"\xff\"}".to_vec(), "utf-8"),
        (vec![b' '; 1024 * 1024 + 1], "is longer than 1 MiB"),
        (vec![0; 4096], "1:1: "),
    ] {
        fs::write(&path, bytes).unwrap();
        let run = world.run(["tick", "L"]).rc(2);
        assert!(run.error().contains("loop.json"), "{run:#?}");
        assert!(run.error().contains(said), "{run:#?}");
    }
    fs::remove_file(&path).unwrap();
    assert!(world.run(["tick", "L"]).rc(2).error().contains("loop.json"));
    fs::create_dir(&path).unwrap();
    assert!(world.run(["tick", "L"]).rc(2).error().contains("loop.json"));
    assert!(world.calls().is_empty());
}

// rows: L-14, L-15
// cases: 115
#[test]
fn a_tick_for_a_program_tells_a_wrong_configuration_in_json_too() {
    let world = World::plain().with_loop();
    world.write_config(&around(r#""brakes": {"max_iterations": 0}"#));
    let told = world.run(["tick", "L", "--json"]).rc(2).json();
    assert_eq!(told["outcome"], "error");
    assert_eq!(told["reason"], "config");
    assert_eq!(told["exit"], 2);
    assert!(
        told["why"]
            .as_str()
            .unwrap()
            .contains("loop.json:3:32: brakes.max_iterations")
    );
    assert_eq!(told["next"]["needs"], "fix");
    assert!(
        told["do"].as_str().unwrap().contains("loop validate L"),
        "{told}"
    );
}

// rows: D-03
// cases: 4, 135
#[test]
fn a_limit_that_this_version_cannot_hold_is_refused_by_name() {
    let world = World::plain().with_loop();
    let shown = fs::read_to_string(world.in_loop("loop.json")).unwrap();
    for (key, section, value) in [
        ("brakes.max_tokens", "brakes", json!({"max_tokens": 1000})),
        (
            "schedule.window",
            "schedule",
            json!({"interval_seconds": 60, "window": "22:00-06:00", "timezone": "Europe/Berlin"}),
        ),
        (
            "blast_radius.sandbox",
            "blast_radius",
            json!({"sandbox": "on"}),
        ),
    ] {
        let mut config: Value = serde_json::from_str(&shown).unwrap();
        config[section] = value;
        world.write_config(&config.to_string());
        let run = world.run(["tick", "L"]).rc(2);
        let said = format!("not enforced by this version: {key}");
        assert!(run.error().contains(&said), "{run:#?}");
        let run = world.run(["validate", "L"]).rc(2);
        assert!(run.error().contains(&said), "{run:#?}");
    }
    assert!(world.calls().is_empty());
}

// rows: D-15
// cases: 133
#[test]
fn a_cost_cap_that_cannot_hold_is_refused() {
    let world = World::plain().with(|config| config["brakes"]["max_cost_usd"] = json!(5));
    let run = world.run(["tick", "L"]).rc(2);
    let error = run.error();
    assert!(error.contains("brakes.max_cost_usd cannot hold"), "{error}");
    assert!(
        error.contains("set harness.cost_per_call_usd to an estimate"),
        "{error}"
    );
    assert!(world.calls().is_empty());
}

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
    (&["create", "x", "--from-template", "nope"], 1, "there are ci-triage, self-improvement, task"),
    (&["create", "../x", "--from-template", "task"], 2, "cannot be a loop's name"),
    (&["create", "", "--from-template", "task"], 2, "cannot be a loop's name"),
    (&["create", "a b", "--from-template", "task"], 2, "cannot be a loop's name"),
    (&["create", "-rf", "--from-template", "task"], 2, "-r"),
    (&["create", "run", "--from-template", "task"], 2, "belongs to `loop run`"),
    (&["create", "x", "--from-template", "task", "--brief", " "], 2, "the brief is empty"),
    (&["create", "x", "--from-template", "task", "--brief", "@nowhere"], 2, "nowhere"),
    (&["create", "x", "--from-template", "task", "--harness-command", "my-agent"], 2, "give a JSON array"),
    (&["create", "x", "--from-template", "task", "--harness-command", "[\"\"]"], 2, "--harness-command"),
    (&["create", "x", "--from-template", "task", "--harness-command", "[1]"], 2, "--harness-command"),
    (&["create", "x"], 2, "--from-template"),
    (&["prompt", "render", "L", "planner"], 2, "there are implement, verify, orchestrate"),
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
