//! From nothing to a loop: init, create, templates, validate, config.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../templates/loops");

fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

// scenarios: 18
// rows: C-01, C-02, C-03, C-05, T-01, T-02, T-13, Q-37
#[test]
fn a_loop_made_from_a_template_is_the_template_under_a_new_name() {
    for template in ["task", "backlog", "ci-triage", "self-improvement"] {
        let world = World::git();
        let prompts = world.home().join(".automaton/prompts");
        fs::create_dir_all(&prompts).unwrap();
        fs::write(prompts.join("loop-verifier.md"), "mine").unwrap();
        let run = world
            .run(["create", "triage", "--from-template", template])
            .rc(0);
        assert!(run.out.contains("next: "), "{run:#?}");
        let mut expected = read_json(format!("{TEMPLATES}/{template}/loop.json"));
        assert_eq!(expected["name"], template);
        expected["name"] = "triage".into();
        let made = read_json(world.data("loops/triage/loop.json"));
        assert_eq!(made, expected);
        assert!(
            made["acceptance_criteria"]
                .as_array()
                .is_some_and(|list| !list.is_empty())
        );

        assert_eq!(
            fs::read_to_string(prompts.join("loop-verifier.md")).unwrap(),
            "mine"
        );
        for name in ["loop-implement.md", "loop-orchestrate.md"] {
            let shipped = format!("{TEMPLATES}/../../prompts/{name}");
            assert_eq!(
                fs::read(prompts.join(name)).unwrap(),
                fs::read(shipped).unwrap()
            );
        }
        let before = fs::read(world.data("loops/triage/loop.json")).unwrap();
        world
            .run(["create", "triage", "--from-template", template])
            .rc(1);
        assert_eq!(
            fs::read(world.data("loops/triage/loop.json")).unwrap(),
            before
        );
    }
}

// scenarios: 18
// rows: T-04, T-05, T-06, T-07, T-08, T-09, T-10
#[test]
fn the_template_self_improvement_is_as_the_seeds_have_it() {
    let template = read_json(format!("{TEMPLATES}/self-improvement/loop.json"));
    let triage = read_json(format!("{TEMPLATES}/ci-triage/loop.json"));
    assert_eq!(template["name"], "self-improvement");
    assert_eq!(
        template["work_source"],
        json!({"kind": "audit", "project": "~/.automaton/"})
    );
    assert_eq!(template["roles"], triage["roles"]);
    assert_eq!(
        triage["roles"],
        json!({
            "implement": {"prompt": "loop-implement.md"},
            "verify": {"prompt": "loop-verifier.md"},
            "orchestrate": {"prompt": "loop-orchestrate.md"},
        })
    );
    assert_eq!(
        template["brakes"],
        json!({"max_iterations": 10, "score_plateau_window": 3})
    );
    assert_eq!(
        template["blast_radius"].to_string(),
        r#"{"use_worktree":true,"file_scope":["scripts/","prompts/","tests/","design/"]}"#
    );
    assert_eq!(template["schedule"], json!({"interval_seconds": 3600}));
    assert!(template.get("worktree").is_none());
}

// scenarios: 18
// rows: C-04
// cases: 150
#[test]
fn a_refused_create_writes_nothing() {
    for (name, template, code, said) in [
        ("../x", "task", 2, "is no loop name"),
        ("", "task", 2, "is no loop name"),
        ("a b", "task", 2, "is no loop name"),
        (
            "x",
            "nope",
            1,
            "there are backlog, ci-triage, run-loop, self-improvement, task",
        ),
        ("x", "../task", 1, "there is no template"),
    ] {
        let world = World::plain();
        let run = world.run(["create", name, "--from-template", template, "--brief", "b"]);
        assert_eq!(run.code, code, "{run:#?}");
        assert!(run.error().contains(said), "{run:#?}");
        assert_eq!(fs::read_dir(world.project()).unwrap().count(), 0);
        assert!(!world.home().join(".automaton").exists());
    }
}

// rows: C-01, C-15, U-49, W-06
#[test]
fn one_command_makes_loop_task_and_brief_and_the_next_one_works() {
    let world = World::git();
    let command = r#"["rec","{prompt}"]"#;
    let brief = "Make the parser faster.\nMuch faster.";
    let run = world
        .run([
            "create",
            "fix",
            "--from-template",
            "task",
            "--brief",
            brief,
            "--harness-command",
            command,
        ])
        .rc(0);
    assert!(run.out.ends_with("next: loop tick fix\n"), "{run:#?}");
    let path = world.data("tasks/fix/RESEARCH.md");
    assert_eq!(fs::read_to_string(path).unwrap(), brief);
    assert_eq!(
        world.phase("fix"),
        "implement",
        "the loop's own first phase"
    );
    world.says("verify", verdict(true, 1.0, ""));
    let run = world.run(["tick", "fix"]).rc(0);
    assert!(run.out.contains("fix tick 1: pass"), "{run:#?}");
    let lines: Vec<_> = run.out.lines().rev().take(2).collect();
    assert!(
        lines[1].contains("work: ") && lines[1].contains("loop/fix/fix"),
        "{run:#?}"
    );
    assert!(lines[0].contains("take it: git -C "), "{run:#?}");
    assert_eq!(world.phase("fix"), "complete");
    assert!(world.calls()[0].file(1).contains("Make the parser faster."));
}

// rows: C-15, C-20
#[test]
fn a_brief_may_come_from_a_file_or_from_standard_input() {
    let world = World::plain();
    fs::write(world.root().join("brief.md"), "from a file").unwrap();
    let given = world.root().join("brief.md").display().to_string();
    world
        .run(["task", "create", "f", "--brief", &format!("@{given}")])
        .rc(0);
    assert_eq!(
        fs::read_to_string(world.data("tasks/f/RESEARCH.md")).unwrap(),
        "from a file"
    );
    let mut command =
        assert_cmd::Command::from_std(world.command(["task", "create", "s", "--brief", "-"]));
    command.write_stdin("from a pipe").assert().success();
    assert_eq!(
        fs::read_to_string(world.data("tasks/s/RESEARCH.md")).unwrap(),
        "from a pipe"
    );
}

// rows: D-02
#[test]
fn init_makes_the_project_ready_and_overwrites_nothing() {
    let mut world = World::git();
    world.run(["init"]).rc(0);
    let ignore = world.data(".gitignore");
    let text = fs::read_to_string(&ignore).unwrap();
    assert_eq!(
        text,
        "/loops/*/*\n!/loops/*/loop.json\n!/loops/*/*.md\n/tasks/*/.*\n"
    );
    fs::write(&ignore, "mine\n").unwrap();
    world.run(["init"]).rc(0);
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "mine\n");

    // With the shipped rules, git sees what people write and nothing else.
    fs::write(&ignore, text).unwrap();
    world = world.with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.tick();
    let seen = world.git_says(&["status", "--porcelain", "-uall", "--", ".automaton"]);
    let mut seen: Vec<_> = seen.lines().map(|line| &line[3..]).collect();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            ".automaton/.gitignore",
            ".automaton/loop.schema.json",
            ".automaton/loops/L/impl.md",
            ".automaton/loops/L/loop.json",
            ".automaton/loops/L/orch.md",
            ".automaton/loops/L/ver.md",
            ".automaton/tasks/t1/RESEARCH.md",
            ".automaton/tasks/t1/task.json",
        ]
    );
}

// scenarios: 19
// rows: L-13, S-02, S-06, H-02
#[test]
fn a_loop_with_neither_source_nor_criteria_ticks_as_before() {
    let world = World::plain().with(|config| {
        let config = config.as_object_mut().unwrap();
        config.remove("work_source");
        config.remove("acceptance_criteria");
    });
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
    assert!(
        world
            .output("tick1-implement-prompt.md")
            .contains("crit=; ")
    );
}

// scenarios: 19
// rows: S-03, S-04, L-11
#[test]
fn an_unknown_or_missing_kind_is_warned_of_and_read_as_single() {
    for (source, word) in [
        (json!({"kind": "magic", "spell": 7}), "magic"),
        (json!({}), "kind"),
    ] {
        let world = World::plain().with(|config| config["work_source"] = source.clone());
        world.says("verify", verdict(true, 1.0, ""));
        let told = world.tick();
        assert_eq!(told["outcome"], "pass", "{source}");
        assert_eq!(told["task"], "t1");
        let log = world.log();
        assert!(
            log.lines()
                .any(|line| line.contains("WARNING") && line.contains(word)),
            "{log}"
        );
    }
}

// scenarios: 19
// rows: S-06, U-08, L-10
#[test]
fn a_single_loop_without_a_task_does_nothing() {
    let world = World::plain();
    world.make_loop(|_| {});
    let told = world.tick();
    assert_eq!(told["outcome"], "skipped");
    assert_eq!(told["skip_reason"], "no_current_task");
    assert_eq!(told["tick"], Value::Null);
    assert!(
        told["do"]
            .as_str()
            .unwrap()
            .contains("loop set-task L TASK"),
        "{told}"
    );
    assert!(world.calls().is_empty());
    assert!(!world.in_loop("outputs").exists());
    world.task("t1", "BRIEF");
    world.run(["set-task", "L", "t1"]).rc(0);
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["tick"], 1, "a skipped tick uses no number");
}

// rows: U-49
#[test]
fn the_configured_task_is_the_first_one() {
    let world = World::plain();
    world.make_loop(|config| config["work_source"]["task"] = "t1".into());
    world.task("t1", "BRIEF");
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["task"], "t1");
}

// rows: B-04, D-03
// cases: 4
#[test]
fn config_shows_what_is_in_effect_and_where_it_comes_from() {
    let world = World::plain().with_loop();
    let shown = world.run(["config", "L", "--json"]).rc(0).json();
    let rows = shown["settings"].as_array().unwrap();
    let row = |key: &str| rows.iter().find(|row| row["key"] == key).unwrap();
    assert_eq!(row("brakes.max_iterations")["from"], "loop.json");
    assert_eq!(row("brakes.max_harness_failures")["from"], "default");
    assert_eq!(row("brakes.max_harness_failures")["value"], "3 in a row");
    assert_eq!(row("brakes.max_harness_failures")["enforced"], "yes");
    world.run(["validate"]).rc(0);
    let run = world.run(["validate", "L"]).rc(0);
    assert_eq!(run.out, "L: right\n");
}

// rows: H-12
// cases: 64
#[test]
fn what_is_likely_a_mistake_is_said_before_anything_is_spent() {
    let world = World::git();
    let run = world
        .run([
            "create",
            "x",
            "--from-template",
            "task",
            "--brief",
            "b",
            "--harness-command",
            r#"["agent","{promt}"]"#,
        ])
        .rc(0);
    assert!(run.err.contains("hands no prompt over"), "{run:#?}");
    let mut world = World::git();
    fs::write(world.project().join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
    world.user_changed_something();
    let run = world.run(["create", "x", "--from-template", "task"]).rc(0);
    assert!(run.err.contains("the repository filters files"), "{run:#?}");
    let world = World::plain().with_loop();
    world.configure(|config| {
        config["roles"]["verify"]["prompt"] = serde_json::json!("nowhere.md");
        config["work_source"]["task"] = serde_json::json!("nobody");
    });
    let run = world.run(["validate", "L"]).rc(0);
    for said in [
        "roles.verify.prompt: there is no nowhere.md",
        "work_source.task: there is no task nobody",
    ] {
        assert!(run.err.contains(said), "{run:#?}");
    }
    assert!(world.calls().is_empty());
}
