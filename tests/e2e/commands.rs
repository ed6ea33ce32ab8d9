//! The commands that look and that track tasks.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

// rows: C-10, U-30
#[test]
fn a_loop_that_has_lost_its_configuration_is_still_told_of() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "h"));
    world.tick();
    let config = world.in_loop("loop.json");
    for kind in ["gone", "folder", "pipe", "link"] {
        drop(fs::remove_file(&config));
        match kind {
            "folder" => fs::create_dir(&config).unwrap(),
            "pipe" => {
                let made = std::process::Command::new("mkfifo").arg(&config).status();
                assert!(made.unwrap().success());
            }
            "link" => std::os::unix::fs::symlink("nowhere", &config).unwrap(),
            _ => {}
        }
        let text = world.run(["list"]).rc(0).out;
        assert!(text.starts_with("L "), "{kind}: {text}");
        assert!(text.contains("broken"), "{kind}: {text}");
        let audit = world.run(["audit"]).rc(0);
        assert!(audit.out.contains("loop.json"), "{kind}: {audit:#?}");
        if kind == "folder" {
            fs::remove_dir(&config).unwrap();
        }
    }
}

// rows: C-10, U-30
#[test]
fn list_shows_every_loop_and_reads_as_one_document() {
    let world = World::plain().with_loop();
    let mut other: Value =
        serde_json::from_str(&fs::read_to_string(world.in_loop("loop.json")).unwrap()).unwrap();
    other["name"] = "M".into();
    fs::create_dir(world.data("loops/M")).unwrap();
    fs::write(world.data("loops/M/loop.json"), other.to_string()).unwrap();
    fs::create_dir(world.data("loops/broken")).unwrap();
    fs::write(world.data("loops/broken/loop.json"), "{").unwrap();
    world.says("verify", verdict(false, 0.4, "h"));
    world.tick();
    world.run(["pause", "M"]).rc(0);

    let text = world.run(["list"]).rc(0).out;
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(
        line("L ").contains("active") && line("L ").contains("t1 in research  1/10  score 0.4")
    );
    assert!(line("M ").contains("paused"));
    assert!(line("broken ").contains("loop.json:1:"));

    let run = world.run(["list", "--json"]).rc(0);
    assert_eq!(run.out.lines().count(), 1);
    let told = run.json();
    assert_eq!(told["project"], world.project().to_str().unwrap());
    let first = &told["loops"][0];
    for (key, value) in [
        ("name", json!("L")),
        ("status", json!("active")),
        ("paused", json!(false)),
        ("reason", Value::Null),
        ("current_task", json!("t1")),
        ("current_phase", json!("research")),
        ("iteration", json!(1)),
        ("max_iterations", json!(10)),
        ("last_score", json!(0.4)),
        ("running", Value::Null),
        ("parked", json!([])),
        ("next_fire", Value::Null),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    assert_eq!(told["loops"][1]["paused"], true);
}

// rows: C-14, C-15, C-16, U-22, U-24, U-25, U-26, U-27
#[test]
fn a_task_moves_phase_by_phase_and_remembers_who_moved_it() {
    let world = World::plain();
    let made = world
        .run(["task", "create", "Fix the Parser", "--title", "Parser"])
        .rc(0);
    assert_eq!(
        made.json(),
        json!({"task": "fix-the-parser", "phase": "research", "created": true})
    );
    let task = "fix-the-parser";
    world.run(["task", "create", "fix-the-parser"]).rc(1);
    world
        .run(["task", "transition", task, "--to", "implement"])
        .rc(1);
    world.run(["task", "transition", task]).rc(0);
    assert_eq!(world.phase(task), "spec");
    let refused = world.run(["task", "transition", task]);
    assert_eq!(
        world.phase(task),
        "spec",
        "leaving it needs an approval: {refused:#?}"
    );
    world.run(["task", "approve", task]).rc(0);
    world
        .run(["task", "transition", task, "--to", "human_intervention"])
        .rc(0);
    world.run(["task", "approve", task]).rc(0);
    assert_eq!(world.phase(task), "implement");
    let record: Value = serde_json::from_str(
        &fs::read_to_string(world.data("tasks/fix-the-parser/task.json")).unwrap(),
    )
    .unwrap();
    let moves: Vec<_> = record["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{}>{} {}", step["from"], step["to"], step["by"]).replace('"', ""))
        .collect();
    assert_eq!(
        moves,
        [
            "research>spec ada",
            "spec>implement ada",
            "implement>human_intervention ada",
            "human_intervention>implement ada",
        ]
    );
    let listed = world.run(["task", "list", "--json"]).rc(0).json();
    assert_eq!(listed["tasks"][0]["name"], task);
}

// rows: C-14, C-15, C-16, U-26
#[test]
fn every_command_about_tasks_tells_programs_in_one_line() {
    let world = World::plain();
    let json = |args: &[&str]| {
        let run = world.run(args.iter().chain(&["--json"])).rc(0);
        assert_eq!(run.out.lines().count(), 1, "{args:?}");
        run.json()
    };
    let made = json(&["task", "create", "t"]);
    assert_eq!(
        made,
        json!({"task": "t", "phase": "research", "created": true})
    );
    let moved = json(&["task", "transition", "t"]);
    assert_eq!(
        (&moved["v"], &moved["task"]["phase"]),
        (&json!(1), &json!("spec"))
    );
    let moved = json(&["task", "approve", "t"]);
    assert_eq!(moved["task"]["phase"], "implement");
    assert_eq!(moved["task"]["history"].as_array().unwrap().len(), 2);
    assert_eq!(json(&["task", "show", "t"])["task"], moved["task"]);
    assert_eq!(json(&["task", "list"])["tasks"][0]["phase"], "implement");
}

// rows: C-15, S-29, U-47
// cases: 76, 150
#[test]
fn a_title_in_any_script_becomes_a_name_that_can_be_read_and_typed() {
    let world = World::plain();
    let mut names = Vec::new();
    for title in [
        "Fix the login!",
        "Über die Brücke",
        "Uber die Brucke",
        "\u{417}\u{430}\u{434}\u{430}\u{447}\u{430} 1",
        "\u{417}\u{430}\u{434}\u{430}\u{447}\u{430} 2",
        "\u{1f41b}",
        "../../etc/passwd",
        "--force",
        "CON",
    ] {
        let made = world.run(["task", "create", "--", title]).rc(0).json();
        let name = made["task"].as_str().unwrap().to_owned();
        let safe = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(name.chars().all(safe) && !name.starts_with('-'), "{name}");
        let shown = world.run(["task", "show", &name, "--json"]).rc(0).json();
        assert_eq!(shown["task"]["title"], title);
        names.push(name);
    }
    assert_eq!(names[0], "fix-the-login");
    assert!(names[1].starts_with("ber-die-br-cke-"), "{names:?}");
    assert_eq!(names[2], "uber-die-brucke");
    assert!(
        names[3].starts_with("1-") && names[4].starts_with("2-"),
        "{names:?}"
    );
    assert!(names[5].starts_with("task-"), "{names:?}");
    assert_eq!(names[6], "etc-passwd");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 9, "{names:?}");
}

// rows: D-06
#[test]
fn a_task_that_is_handed_to_a_person_is_not_worked_on() {
    let world = World::plain().with_loop();
    world
        .run(["task", "transition", "t1", "--to", "human_intervention"])
        .rc(0);
    let told = world.tick();
    assert_eq!(told["skip_reason"], "human_intervention");
    assert!(world.calls().is_empty());
    world.run(["task", "approve", "t1"]).rc(0);
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
}

// rows: C-19, D-02, P-19
#[test]
fn the_project_may_be_named_found_from_below_or_inherited() {
    let world = World::git().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    let below = world.project().join("src");
    let project = world.project().display().to_string();
    let relative = format!(
        "./{}",
        world.project().file_name().unwrap().to_str().unwrap()
    );
    let ways: [(&[&str], _, Option<&str>); 4] = [
        (&["list", "--json"], below.clone(), None),
        (
            &["list", "--json", "--project", &project],
            world.root().to_owned(),
            None,
        ),
        (
            &["--project", &relative, "list", "--json"],
            world.project().parent().unwrap().to_owned(),
            None,
        ),
        (&["list", "--json"], world.root().to_owned(), Some(&project)),
    ];
    for (args, folder, inherited) in ways {
        let mut command = world.command(args);
        command.current_dir(folder);
        command.envs(inherited.map(|project| ("AUTOMATON_PROJECT", project)));
        let told = world.finish(command).rc(0).json();
        assert_eq!(told["project"], project.as_str(), "{args:?}");
        assert_eq!(told["loops"][0]["name"], "L", "{args:?}");
    }
    let mut command = world.command(["tick", "L", "--project", &relative]);
    command.current_dir(world.project().parent().unwrap());
    world.finish(command).rc(0);
    assert!(world.calls()[0].arg(1).starts_with('/'));
}

// rows: C-19, D-02
#[test]
fn the_frameworks_home_is_not_taken_for_a_projects_data() {
    let world = World::under_home().with_loop();
    assert!(world.project().starts_with(world.home()));
    world.run(["create", "x", "--from-template", "task"]).rc(0);
    assert!(world.home().join(".automaton/prompts").is_dir());
    let mut command = world.command(["list", "--json"]);
    command.current_dir(world.home().join("src"));
    let told = world.finish(command).rc(0).json();
    assert_eq!(
        told["loops"],
        json!([]),
        "outside a repository only the folder itself is looked at"
    );
    let mut command = world.command(["list", "--json", "--project", "~/src/proj"]);
    command.current_dir("/");
    let told = world.finish(command).rc(0).json();
    assert_eq!(told["loops"].as_array().unwrap().len(), 2);
}

// rows: W-10, L-14
// cases: 115, 146
#[test]
fn json_is_exactly_one_document_and_colors_are_for_terminals() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(true, 1.0, "\u{1b}[31mred"));
    world.says("implement", "\u{1b}[2J\u{1b}]0;title\u{7}did it\n");
    for args in [
        &["tick", "L", "--json"][..],
        &["show", "L", "--json"],
        &["list", "--json"],
        &["config", "L", "--json"],
        &["task", "list", "--json"],
        &["task", "show", "t1", "--json"],
    ] {
        let mut command = world.command(args);
        command.env("RUST_LOG", "debug");
        let run = world.finish(command).rc(0);
        assert_eq!(run.out.lines().count(), 1, "{args:?}: {run:#?}");
        run.json();
    }
    for args in [&["tick", "L"][..], &["show", "L"], &["log", "L"], &["list"]] {
        let run = world.run(args).rc(0);
        assert!(
            !run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'),
            "{args:?}: {run:#?}"
        );
    }
    let lines = world.run(["log", "L", "--json"]).rc(0).out;
    let kinds: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    assert_eq!(kinds[0], "control");
    assert!(kinds.contains(&json!("closed")));
}

// rows: L-12
#[test]
fn every_line_of_the_log_has_time_level_and_message() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "two\nlines"));
    world.says("implement", "{\"blocked\":\"first\\nsecond\"}");
    world.tick();
    let log = world.log();
    for line in log.lines() {
        let mut words = line.splitn(3, ' ');
        let time = words.next().unwrap();
        assert!(
            time.len() == 24 && time.ends_with('Z') && time.contains('T'),
            "{line}"
        );
        assert!(
            matches!(words.next(), Some("INFO" | "WARNING" | "ERROR")),
            "{line}"
        );
        assert!(
            words.next().is_some_and(|message| !message.is_empty()),
            "{line}"
        );
    }
    assert_eq!(world.run(["log", "L"]).out, log);
}

// rows: W-11, W-14, H-41
#[test]
fn neither_python_nor_a_harness_is_on_the_path_of_these_tests() {
    let world = World::plain();
    for name in ["python", "python3", "pip"] {
        for folder in ["bin", "tools"] {
            assert!(!world.root().join(folder).join(name).exists());
        }
    }
    assert!(!world.root().join("tools/opencode").exists());
    let run = world.run(["demo", "--quiet"]).rc(0);
    let line = run
        .out
        .lines()
        .find_map(|line| line.strip_prefix("Throw it away: rm -r "));
    fs::remove_dir_all(line.unwrap()).unwrap();
}

// rows: D-14
#[test]
fn help_lists_every_command() {
    let world = World::plain();
    let short = world.run(["--help"]).rc(0).out;
    let all = world.run(["help", "--all"]).rc(0).out;
    for command in [
        "init", "create", "tick", "list", "show", "log", "diff", "approve", "pause", "resume",
        "stop", "set-task", "task", "prompt", "validate", "config", "schema", "demo",
    ] {
        assert!(all.contains(command), "{command}: {all}");
        world.run([command, "--help"]).rc(0);
    }
    for heading in ["Start", "Watch", "Decide", "Set up"] {
        assert!(short.contains(heading), "{heading}: {short}");
    }
    let version = world.run(["--version"]).rc(0).out;
    assert_eq!(version, format!("loop {}\n", env!("CARGO_PKG_VERSION")));
}

// rows: C-18
#[test]
fn the_schemas_that_are_printed_are_the_ones_that_are_shipped() {
    let world = World::plain();
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
    let shipped = |name: &str| -> Value {
        let text = fs::read_to_string(format!("{schemas}/{name}.schema.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert!(world.run(["schema"]).rc(0).json() == shipped("loop"));
    for name in ["loop", "harness"] {
        assert!(world.run(["schema", name]).rc(0).json() == shipped(name));
    }
    world.run(["schema", "agent"]).rc(2);
}
