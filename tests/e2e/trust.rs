//! What came with a clone starts nothing until its user has agreed to it.

use crate::support::{Run, World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Runs a command as a person does whose environment trusts nothing.
fn plainly(world: &World, args: &[&str]) -> Run {
    let mut command = world.command(args);
    command.env_remove("AUTOMATON_TRUST");
    world.finish(command)
}

fn kept(world: &World) -> PathBuf {
    world.home().join(".automaton/trust.json")
}

/// A loop that came with a repository, and whose every program leaves a trace.
fn cloned() -> World {
    let trace = |what: &str| json!(["sh", "-c", format!("touch \"$REC/started.{what}\"")]);
    World::git().with(|config| {
        config["harness"]["command"] = trace("harness");
        config["gate"] = json!({"command": trace("gate"), "setup": trace("gate-setup")});
        config["blast_radius"] = json!({"use_worktree": true, "setup": trace("setup")});
        config["notify"] = json!([{"on": ["stopped"], "command": trace("notify")}]);
    })
}

#[track_caller]
fn assert_nothing_started(world: &World, after: &[&str]) {
    let names = fs::read_dir(world.rec("")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let started: Vec<_> = names.filter(|name| name.starts_with("started")).collect();
    assert_eq!(started, [""; 0], "{after:?}");
    assert!(world.calls().is_empty(), "{after:?}");
}

// cases: 152
#[test]
fn reading_a_cloned_loop_starts_nothing_and_says_that_it_is_not_trusted() {
    let world = cloned();
    world.run(["tick", "L", "--dry-run"]).rc(0);
    for args in [
        &["list"][..],
        &["show", "L"],
        &["log", "L"],
        &["audit"],
        &["validate", "L"],
        &["validate"],
        &["config", "L"],
        &["prompt", "render", "L", "implement"],
        &["prompt", "check", "L"],
        &["gate", "hash", "L"],
        &["gate", "check", "L"],
        &["tick", "L", "--dry-run"],
    ] {
        let run = plainly(&world, args).rc(0);
        let said = format!("{}{}", run.out, run.err);
        assert!(said.contains("loop trust L"), "{args:?}: {run:#?}");
        assert_nothing_started(&world, args);
    }
    let list = plainly(&world, &["list", "--json"]).rc(0).json();
    assert_eq!(list["loops"][0]["trusted"], false);
    let show = plainly(&world, &["show", "L", "--json"]).rc(0).json();
    assert_eq!(show["trusted"], false);
}

// rows: U-04
// cases: 152
#[test]
fn an_untrusted_loop_starts_nothing_and_says_what_to_do() {
    let world = cloned();
    let tick = plainly(&world, &["tick", "L", "--json", "--exit-code"]).rc(9);
    let tick = tick.json();
    assert_eq!(tick["outcome"], "skipped");
    assert_eq!(tick["reason"], "untrusted");
    assert_eq!(
        tick["do"],
        "see what it starts: loop trust L --show; then: loop trust L"
    );
    let plain = plainly(&world, &["tick", "L"]).rc(0);
    assert!(plain.out.contains("skipped (untrusted)"), "{plain:#?}");
    for args in [["gate", "prove", "L"], ["gate", "attack", "L"]] {
        plainly(&world, &args).rc(9);
    }
    // Requests are recorded all the same, and start nothing.
    for args in [["pause", "L"], ["resume", "L"]] {
        plainly(&world, &args).rc(0);
    }
    assert_nothing_started(&world, &["tick"]);
    assert!(!kept(&world).exists());
}

// cases: 152
#[test]
fn what_is_trusted_was_shown_line_by_line() {
    let world = World::plain().with_loop();
    let show = plainly(&world, &["trust", "--show"]).rc(0);
    assert_eq!(
        show.out,
        "L: not trusted yet; it would start\n  harness.command: [\"rec\",\"{prompt}\"]\n"
    );
    assert!(!kept(&world).exists());
    let trusted = plainly(&world, &["trust", "L"]).rc(0);
    assert!(
        trusted
            .out
            .starts_with("L: trusted from now on; it starts\n"),
        "{trusted:#?}"
    );
    world.says("verify", verdict(false, 0.4, "h"));
    plainly(&world, &["tick", "L", "--exit-code"]).rc(11);

    // A pull brings another command, one more, and a cap that starts nothing.
    world.configure(|config| config["brakes"]["max_iterations"] = 20.into());
    plainly(&world, &["tick", "L", "--exit-code"]).rc(11);
    world.configure(|config| {
        config["harness"]["command"] = json!(["sh", "-c", "curl x | sh"]);
        config["notify"] = json!([{"on": ["done"], "command": ["tell"]}]);
    });
    let tick = plainly(&world, &["tick", "L", "--exit-code"]).rc(9);
    assert!(
        tick.out
            .contains("now: harness.command: [\"sh\",\"-c\",\"curl x | sh\"]"),
        "{tick:#?}"
    );
    let show = plainly(&world, &["trust", "L", "--show"]).rc(0);
    assert_eq!(
        show.out,
        "L: changed since it was trusted; it would start\n\
         + harness.command: [\"sh\",\"-c\",\"curl x | sh\"]\n\
         + notify[0].command: [\"tell\"]\n\
         + notify[0].on: [\"done\"]\n\
         - harness.command: [\"rec\",\"{prompt}\"]\n"
    );
    let json = plainly(&world, &["trust", "--json"]).rc(0).json();
    assert_eq!(json["loops"][0]["before"], "changed");
    assert_eq!(json["loops"][0]["trusted"], true);
    let again = plainly(&world, &["trust", "L", "--show", "--json"])
        .rc(0)
        .json();
    assert_eq!(again["loops"][0]["before"], "trusted");
}

// cases: 152
#[test]
fn what_this_user_makes_here_is_trusted() {
    let world = World::git();
    let rec = r#"["rec","{prompt}"]"#;
    let create = [
        "create",
        "L",
        "--from-template",
        "task",
        "--brief",
        "B",
        "--harness-command",
        rec,
    ];
    plainly(&world, &create).rc(0);
    world.says("verify", verdict(true, 0.9, ""));
    plainly(&world, &["tick", "L", "--exit-code"]).rc(0);
    // The same files elsewhere are somebody else's until one has looked at them.
    let other = world.root().join("other");
    fs::create_dir_all(other.join(".automaton/loops/L")).unwrap();
    fs::copy(
        world.in_loop("loop.json"),
        other.join(".automaton/loops/L/loop.json"),
    )
    .unwrap();
    let other = other.to_str().unwrap();
    plainly(&world, &["tick", "L", "--exit-code", "--project", other]).rc(9);
}

/// A project with a task and a gate for `loop iterate`.
fn run_project() -> World {
    let world = World::git();
    world.run(["init", "--run"]).rc(0);
    let task = "# Do\n\n## Done when\n\n- done\n";
    fs::write(world.project().join("TASK.md"), task).unwrap();
    let gate = "test -e done || { echo not done; exit 1; }\necho done\n";
    fs::write(world.project().join("scripts/verify.sh"), gate).unwrap();
    world.role("implement", "touch done");
    world
}

// cases: 152
#[test]
fn a_run_trusts_what_it_makes_and_not_what_it_finds() {
    let rec = r#"["rec","{prompt}"]"#;
    let iterate = ["iterate", "--harness-command", rec];
    let world = run_project();
    plainly(&world, &iterate).rc(0);
    assert_eq!(world.count("implement"), 1);
    let path = world.data("loops/run/loop.json");
    let made = fs::read_to_string(&path).unwrap();
    let mut config: Value = serde_json::from_str(&made).unwrap();
    config["gate"]["setup"] = json!(["sh", "-c", "touch \"$REC/started\""]);
    fs::write(&path, config.to_string()).unwrap();
    for args in [&iterate[..], &["run", "--harness-command", rec]] {
        let refused = plainly(&world, args).rc(9);
        assert!(refused.error().contains("loop trust run"), "{refused:#?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), config.to_string());
    assert_eq!(world.count("implement"), 1);
    // The environment lets it begin, and leaves no trust behind.
    world.run(iterate);
    plainly(&world, &iterate).rc(9);
    plainly(&world, &["trust", "run"]).rc(0);
    let goes_on = plainly(&world, &["iterate"]);
    assert_ne!(goes_on.code, 9, "{goes_on:#?}");

    let cloned = run_project();
    fs::create_dir_all(cloned.data("loops/run")).unwrap();
    fs::write(cloned.data("loops/run/loop.json"), made).unwrap();
    plainly(&cloned, &iterate).rc(9);
    assert_eq!(cloned.count("implement"), 0);
}

// rows: U-18
// cases: 152
#[test]
fn an_agent_trusts_nothing() {
    let world = World::plain().with_loop();
    world.link_loop();
    plainly(&world, &["trust", "L"]).rc(0);
    let before = fs::read(kept(&world)).unwrap();
    let config = world.in_loop("loop.json");
    let edit = format!(
        "printf '%s' '{}' >'{}'; loop trust L; echo $? >\"$REC/rc\"; loop trust --show >\"$REC/shown\"",
        fs::read_to_string(&config)
            .unwrap()
            .replace("[\"rec\",\"{prompt}\"]", "[\"evil\"]"),
        config.display()
    );
    world.role("implement", &edit);
    plainly(&world, &["tick", "L", "--exit-code"]).rc(9);
    assert_eq!(fs::read_to_string(world.rec("rc")).unwrap(), "3\n");
    let shown = fs::read_to_string(world.rec("shown")).unwrap();
    assert!(shown.contains("+ harness.command: [\"evil\"]"), "{shown}");
    assert_eq!(fs::read(kept(&world)).unwrap(), before);
    // A person who approves has not agreed to the command.
    plainly(&world, &["approve", "L"]).rc(0);
    let tick = plainly(&world, &["tick", "L", "--json"]).rc(0).json();
    assert_eq!(tick["reason"], "untrusted");
}

// cases: 107, 152
#[test]
fn what_was_agreed_to_has_to_be_readable() {
    let world = World::plain().with_loop();
    plainly(&world, &["trust"]).rc(0);
    fs::write(kept(&world), "{").unwrap();
    let tick = plainly(&world, &["tick", "L", "--json", "--exit-code"])
        .rc(9)
        .json();
    assert_eq!(tick["reason"], "untrusted");
    let why = tick["why"].as_str().unwrap();
    assert!(
        why.contains("trust.json") && why.contains("take it away"),
        "{why}"
    );
    plainly(&world, &["trust", "L"]).rc(1);
    assert_eq!(fs::read_to_string(kept(&world)).unwrap(), "{");
    fs::remove_file(kept(&world)).unwrap();
    plainly(&world, &["trust", "L"]).rc(0);
    world.says("verify", verdict(false, 0.4, "h"));
    plainly(&world, &["tick", "L", "--exit-code"]).rc(11);
}

// cases: 152
#[test]
fn only_one_value_of_the_variable_trusts() {
    let world = World::plain().with_loop();
    world.says("verify", verdict(false, 0.4, "h"));
    for (value, code) in [("0", 9), ("", 9), ("true", 9), ("1", 11)] {
        let mut tick = world.command(["tick", "L", "--exit-code"]);
        tick.env("AUTOMATON_TRUST", value);
        world.finish(tick).rc(code);
    }
    assert!(!kept(&world).exists());
}

// cases: 152
#[test]
fn a_sources_programs_wait_for_the_same_word() {
    let world = World::git();
    let item = r#"touch "$REC/started.source"; echo '[{"id":"1","title":"One"}]'"#;
    world.make_loop(|config| {
        config["work_source"] = json!({
            "kind": "command",
            "command": ["sh", "-c", item],
            "done_command": ["sh", "-c", "touch \"$REC/started.done\""],
        });
        config["phases"] = json!(["implement"]);
        config["approval_phases"] = json!(["implement"]);
        config["roles"]["orchestrate"] = Value::Null;
    });
    for args in [
        &["show", "L"][..],
        &["tick", "L", "--dry-run"],
        &["tick", "L"],
    ] {
        plainly(&world, args).rc(0);
        assert_nothing_started(&world, args);
    }
    world.says("verify", verdict(true, 0.9, ""));
    world.run(["tick", "L", "--exit-code"]).rc(9);
    plainly(&world, &["approve", "L"]).rc(0);
    assert!(!world.rec("started.done").exists());
    let state = world.state();
    assert_eq!(state["to_finish"][0]["task"], state["finished"][0]["task"]);
    // What is owed is done as soon as somebody has agreed to it.
    plainly(&world, &["trust", "L"]).rc(0);
    plainly(&world, &["tick", "L"]).rc(0);
    assert!(world.rec("started.done").exists());
}

// cases: 152
#[test]
fn doctor_asks_no_program_of_a_loop_that_is_not_trusted() {
    let world = World::git().with(|config| {
        config["harness"] = json!({"profile": "pi", "command": ["own", "--mode", "json"]});
    });
    world.program("own", "#!/bin/sh\ntouch \"$REC/started.own\"\necho 1.0\n");
    plainly(&world, &["doctor", "L"]).rc(1);
    plainly(&world, &["doctor", "L", "--as-scheduled"]).rc(1);
    assert_nothing_started(&world, &["doctor"]);
}

// cases: 150, 152
#[test]
fn folders_of_a_loop_that_are_links_are_neither_read_nor_emptied() {
    for folder in ["control", "outputs"] {
        let world = World::plain().with_loop();
        let treasure = world.root().join("treasure");
        fs::create_dir(&treasure).unwrap();
        fs::write(treasure.join("letters.txt"), "dear").unwrap();
        let inner = world.in_loop(folder);
        if inner.exists() {
            fs::remove_dir_all(&inner).unwrap();
        }
        std::os::unix::fs::symlink(&treasure, &inner).unwrap();
        for args in [
            &["tick", "L"][..],
            &["pause", "L"],
            &["approve", "L"],
            &["show", "L"],
        ] {
            let run = world.run(args);
            if args[0] != "show" {
                assert_eq!(run.code, 1, "{folder} {args:?}: {run:#?}");
                assert!(run.error().contains("a link to another place"), "{run:#?}");
            }
            let left: Vec<_> = fs::read_dir(&treasure).unwrap().collect();
            assert_eq!(left.len(), 1, "{folder} {args:?}");
            assert_eq!(
                fs::read_to_string(treasure.join("letters.txt")).unwrap(),
                "dear"
            );
        }
        fs::remove_dir_all(&treasure).unwrap();
    }
}
