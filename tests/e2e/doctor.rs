//! `loop doctor` finds what would keep a loop from working, and touches nothing.

use crate::support::{Run, World, verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the findings of a check that are not as they should be.
fn findings(run: &Run, check: &str) -> Vec<Value> {
    let report = run.json();
    let found = report["findings"].as_array().unwrap();
    let wanted = |finding: &&Value| finding["check"] == check && finding["severity"] != "ok";
    found.iter().filter(wanted).cloned().collect()
}

fn is_about(finding: &Value, severity: &str, why: &str) -> bool {
    finding["severity"] == severity && finding["why"].as_str().unwrap().contains(why)
}

/// Reads every file of the world's data, and how it may be used.
fn everything(world: &World) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut files = BTreeMap::new();
    for root in [world.home(), world.project(), &world.rec("")] {
        read(root, &mut files);
    }
    files
}

fn read(folder: &Path, files: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            files.insert(path.clone(), (meta.permissions().mode(), Vec::new()));
            read(&path, files);
        } else {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, (meta.permissions().mode(), bytes));
        }
    }
}

// rows: U-04
// cases: 133
#[test]
fn a_loop_in_order_has_no_problem_and_nothing_is_touched() {
    let world = World::git().with(|config| {
        config["gate"] = json!({"command": ["sh", "gate.sh"], "frozen": ["src"]});
        config["notify"] = json!([{"on": ["done"], "command": ["rec"]}]);
    });
    world.link_loop();
    world.says("verify", verdict(false, 0.4, "h"));
    let before = everything(&world);
    let run = world.run(["doctor"]).rc(0);
    assert!(run.out.contains("0 problems, "), "{run:#?}");
    assert!(
        run.out.contains("warning    L: brakes: cost: no cap"),
        "{run:#?}"
    );
    let harness = format!(
        "L: harness: implement: {}",
        world.root().join("bin/rec").display()
    );
    assert!(run.out.contains(&harness), "{run:#?}");
    let json = world.run(["doctor", "L", "--json"]).rc(0).json();
    assert_eq!((&json["v"], &json["exit"]), (&json!(1), &json!(0)));
    let keys: Vec<_> = json["findings"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["check", "loop", "severity", "why", "do"]);
    // Whoever has to act is told how.
    for finding in json["findings"].as_array().unwrap() {
        assert_eq!(
            finding["severity"] == "ok",
            finding["do"].is_null(),
            "{finding}"
        );
    }
    assert_eq!(everything(&world), before);
    assert!(world.calls().is_empty());
    world.run(["doctor", "nobody"]).rc(1);
}

/// One thing that is wrong with a loop, and what the doctor says.
struct Case {
    what: &'static str,
    harm: fn(&World),
    code: i32,
    check: &'static str,
    severity: &'static str,
    why: &'static str,
}

const CASES: &[Case] = &[
    Case {
        what: "the harness is not there",
        harm: |world| {
            world.configure(|config| {
                config["harness"]["command"] = json!(["no-such-agent", "{prompt}"]);
            });
        },
        code: 1,
        check: "harness",
        severity: "problem",
        why: "implement: program not found: no-such-agent",
    },
    Case {
        what: "the harness may not be executed",
        harm: |world| {
            let path = world.root().join("bin/rec");
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        },
        code: 1,
        check: "harness",
        severity: "problem",
        why: "not executable",
    },
    Case {
        what: "a program of the gate is not there",
        harm: |world| world.configure(|c| c["gate"] = json!({"command": ["no-such-gate"]})),
        code: 1,
        check: "program",
        severity: "problem",
        why: "gate.command: program not found: no-such-gate",
    },
    Case {
        what: "loop.json cannot be read",
        harm: |world| world.write_config("{"),
        code: 2,
        check: "config",
        severity: "problem",
        why: "loop.json:1:",
    },
    Case {
        what: "a limit cannot be held",
        harm: |world| world.configure(|c| c["brakes"]["max_cost_usd"] = 1.into()),
        code: 2,
        check: "config",
        severity: "problem",
        why: "brakes.max_cost_usd cannot hold",
    },
    Case {
        what: "a prompt is missing",
        harm: |world| fs::remove_file(world.in_loop("ver.md")).unwrap(),
        code: 1,
        check: "prompts",
        severity: "warning",
        why: "roles.verify.prompt: there is no ver.md",
    },
    Case {
        what: "a prompt is empty",
        harm: |world| fs::write(world.in_loop("impl.md"), " \n").unwrap(),
        code: 1,
        check: "prompts",
        severity: "problem",
        why: "implement: ",
    },
    Case {
        what: "the log is gone",
        harm: |world| fs::remove_file(world.in_loop("events.jsonl")).unwrap(),
        code: 1,
        check: "state",
        severity: "problem",
        why: "events.jsonl",
    },
    Case {
        what: "the log is torn",
        harm: |world| {
            let mut log = fs::read(world.in_loop("events.jsonl")).unwrap();
            log.extend(b"{\"v\":1,");
            fs::write(world.in_loop("events.jsonl"), log).unwrap();
        },
        code: 0,
        check: "state",
        severity: "warning",
        why: "is torn",
    },
    Case {
        what: "outputs are in the place of a file",
        harm: |world| {
            let _none = fs::remove_dir_all(world.in_loop("outputs"));
            fs::write(world.in_loop("outputs"), "").unwrap();
        },
        code: 1,
        check: "outputs",
        severity: "problem",
        why: "it is no folder",
    },
    Case {
        what: "another program is called loop",
        harm: |world| world.program("loop", "#!/bin/sh\n"),
        code: 0,
        check: "program",
        severity: "warning",
        why: "another program named `loop` comes first on PATH",
    },
    Case {
        what: "the lock of a step is in the place of a link",
        harm: |world| std::os::unix::fs::symlink("x", world.in_loop("step.lock")).unwrap(),
        code: 1,
        check: "lock",
        severity: "problem",
        why: "is no file that can be locked",
    },
];

// cases: 4, 56, 107, 133
#[test]
fn whatever_is_wrong_is_named_with_what_mends_it() {
    for case in CASES {
        let world = World::git().with_loop();
        (case.harm)(&world);
        let run = world.run(["doctor", "--json"]).rc(case.code);
        let found = findings(&run, case.check);
        let told = found
            .iter()
            .any(|finding| is_about(finding, case.severity, case.why));
        assert!(told, "{}: {run:#?}", case.what);
    }
}

// cases: 47
#[test]
fn a_process_of_an_earlier_attempt_is_named() {
    let world = World::git().with_loop();
    let path = world.in_loop("step.lock");
    fs::write(&path, "holder 4711 99\n").unwrap();
    world.run(["doctor"]).rc(0);
    let file = File::open(&path).unwrap();
    file.lock().unwrap();
    let run = world.run(["doctor", "L", "--json"]).rc(1);
    let found = findings(&run, "lock");
    assert!(
        is_about(&found[0], "problem", "alive, pid 4711"),
        "{found:?}"
    );
}

// cases: 141, 142
#[test]
fn a_timer_finds_less_than_a_shell() {
    let world = World::git().with_loop();
    let doctor = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("SOME_API_KEY", "opensesame");
        command.env("AUTOMATON_HOME", world.root().join("elsewhere"));
        command
    };
    world.finish(doctor(&["doctor", "L"])).rc(0);
    let run = world
        .finish(doctor(&["doctor", "L", "--as-scheduled", "--json"]))
        .rc(1);
    let harness = findings(&run, "harness");
    assert!(
        is_about(&harness[0], "problem", "program not found: rec"),
        "{harness:?}"
    );
    assert!(
        harness[0]["do"]
            .as_str()
            .unwrap()
            .contains("PATH is /usr/bin:/bin"),
        "{harness:?}"
    );
    let timer = findings(&run, "timer");
    assert!(
        is_about(&timer[0], "warning", "AUTOMATON_HOME is set here"),
        "{timer:?}"
    );
    assert!(is_about(&timer[1], "warning", "SOME_API_KEY"), "{timer:?}");
    assert!(!run.out.contains("opensesame"), "{run:#?}");
    // The environment's trust is not a timer's.
    assert_eq!(findings(&run, "trust").len(), 1);

    // By its whole path the agent is found, and a login that is kept in files too.
    let rec = world.root().join("bin/rec");
    world.configure(|config| {
        config["harness"]["command"] = json!([rec, "{prompt}"]);
        config["harness"]["env"] = json!({"unset": ["SOME_API_KEY"]});
    });
    world.run(["trust"]).rc(0);
    let mut command = world.command(["doctor", "L", "--as-scheduled", "--json"]);
    command.env("SOME_API_KEY", "opensesame");
    let run = world.finish(command).rc(0);
    assert_eq!(findings(&run, "timer"), [json!(null); 0]);

    let mut command = doctor(&["doctor", "L", "--as-scheduled", "--json"]);
    command.env_remove("HOME");
    let run = world.finish(command).rc(1);
    assert!(is_about(
        &findings(&run, "timer")[0],
        "problem",
        "HOME is not set"
    ));
}

// cases: 152
#[test]
fn a_loop_that_is_not_trusted_is_a_problem() {
    let world = World::git().with_loop();
    let mut command = world.command(["doctor", "--json"]);
    command.env_remove("AUTOMATON_TRUST");
    let run = world.finish(command).rc(1);
    let found = findings(&run, "trust");
    assert!(
        is_about(&found[0], "problem", "nobody has agreed"),
        "{found:?}"
    );
    assert_eq!(
        found[0]["do"],
        "see what it starts: loop trust L --show; then: loop trust L"
    );
}

// cases: 120, 121
#[test]
fn a_gate_that_is_not_what_was_frozen_is_a_problem() {
    let mut world = World::git();
    fs::write(world.project().join("gate.sh"), "test -e done\n").unwrap();
    world.git_says(&["add", "gate.sh"]);
    world.git_says(&["commit", "--quiet", "-m", "gate", "gate.sh"]);
    world.user_changed_something();
    let world = world.with(|config| {
        config["gate"] = json!({"command": ["sh", "gate.sh"]});
        config["roles"] = json!({"implement": {"prompt": "impl.md"}});
    });
    world.run(["tick", "L", "--exit-code"]).rc(11);
    world.run(["doctor", "L"]).rc(0);
    fs::write(world.project().join("gate.sh"), "true || test -e done\n").unwrap();
    let run = world.run(["doctor", "L", "--json"]).rc(1);
    let found = findings(&run, "gate");
    assert!(is_about(&found[0], "problem", "gate.sh"), "{found:?}");
}

// cases: 83, 87, 97
#[test]
fn repositories_and_worktrees_are_looked_at() {
    let plain = World::plain().with_loop();
    let run = plain.run(["doctor", "--json"]).rc(0);
    let found = findings(&run, "repository");
    assert!(
        is_about(&found[0], "warning", "in no git repository"),
        "{found:?}"
    );
    plain.configure(|config| config["blast_radius"] = json!({"use_worktree": true}));
    let run = plain.run(["doctor", "--json"]).rc(1);
    assert_eq!(findings(&run, "worktree").len(), 1, "{run:#?}");

    let world = World::git().with(|config| {
        config["blast_radius"] = json!({"use_worktree": true});
    });
    let bare = world.root().join("bare");
    world.git_says(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let run = world
        .run(["doctor", "--json", "--project", bare.to_str().unwrap()])
        .rc(1);
    let found = findings(&run, "repository");
    assert!(is_about(&found[0], "problem", "is bare"), "{found:?}");

    world.says("verify", verdict(false, 0.4, "h"));
    world.run(["tick", "L"]).rc(0);
    assert_eq!(
        findings(&world.run(["doctor", "--json"]), "worktrees"),
        [json!(null); 0]
    );
    fs::remove_dir_all(world.in_loop("")).unwrap();
    let run = world.run(["doctor", "--json"]).rc(0);
    let found = findings(&run, "worktrees");
    assert!(
        is_about(&found[0], "warning", "1 worktree of a loop that is gone"),
        "{found:?}"
    );
}
