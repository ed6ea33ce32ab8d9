//! `loop gate`: what the acceptance gate is, and whether it can be relied on.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

const SUITE: &str = "\
. ./calc.sh
echo 1..1
if [ \"$(add 2 3)\" = 5 ]; then echo 'ok 1 - adds'; else echo 'not ok 1 - adds'; exit 1; fi
";

/// A world with a repository in which `add` does not add, and a loop `L` with
/// this gate.
fn gated(gate: Value) -> World {
    let world = World::git();
    for (path, text) in [
        ("check.sh", SUITE),
        ("calc.sh", "add() { echo 0; }\n"),
        ("Makefile", "check:\n\tsh check.sh\n"),
    ] {
        fs::write(world.project().join(path), text).unwrap();
    }
    world.git_says(&["add", "check.sh", "calc.sh", "Makefile"]);
    world.git_says(&["commit", "--quiet", "-m", "calc"]);
    let mut world = world.with(|config| config["gate"] = gate);
    world.user_changed_something();
    world
}

fn suite() -> Value {
    json!({"command": ["sh", "check.sh"]})
}

fn work(world: &mut World, text: &str) {
    fs::write(world.project().join("calc.sh"), text).unwrap();
    world.user_changed_something();
}

// rows: G-14
#[test]
fn the_hash_is_printed_as_sha256sum_prints_it() {
    let world = gated(suite());
    let out = world.run(["gate", "hash", "L"]).rc(0).out;
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    for (line, name) in lines.iter().zip(["check.sh", "L"]) {
        let (digest, path) = line.split_once("  ").unwrap();
        assert_eq!((digest.len(), path), (64, name));
    }
    assert_eq!(
        world.run(["gate", "hash"]).rc(0).out,
        out,
        "it is the only gate"
    );
    let json = world.run(["gate", "hash", "L", "--json"]).rc(0).json();
    assert_eq!(
        json["fingerprint"]["files"]["check.sh"]["sha256"],
        lines[0][..64]
    );
    assert_eq!(json["fingerprint"]["sha256"], lines[1][..64]);
}

// rows: D-13
// cases: 56, 121
#[test]
fn a_check_tells_what_is_open_and_runs_nothing() {
    let world = gated(json!({"command": ["sh", "-c", "touch ran; sh check.sh || true"]}));
    let run = world.run(["gate", "check", "L", "--receipts"]).rc(0);
    assert!(run.out.contains("the gate is not frozen yet"), "{run:?}");
    assert!(
        run.out.contains("Makefile") && run.out.contains("what make runs"),
        "{run:?}"
    );
    assert!(
        run.out.contains("the receipts are as they were written"),
        "{run:?}"
    );
    assert!(
        run.err.contains("`|| true` makes a failure a success"),
        "{run:?}"
    );
    let json = world.run(["gate", "check", "L", "--json"]).rc(0).json();
    assert_eq!(json["side_doors"][0]["path"], "Makefile");
    assert_eq!(
        (&json["frozen"], &json["changed"]),
        (&Value::Null, &json!([]))
    );
    assert!(!world.project().join("ran").exists());
}

// rows: D-7, D-13
// cases: 117, 121
#[test]
fn what_is_not_frozen_or_not_kept_any_more_is_told() {
    let mut gate = suite();
    gate["frozen"] = json!(["*.snap"]);
    let world = gated(gate);
    let run = world.run(["gate", "check", "L"]).rc(0);
    assert!(run.err.contains("*.snap covers no file"), "{run:?}");
    let json = world.run(["gate", "check", "L", "--json"]).rc(0).json();
    assert_eq!(json["unmatched"], json!(["*.snap"]));

    world.tick();
    let outputs = fs::read_dir(world.in_loop("outputs")).unwrap();
    let record = outputs.map(|entry| entry.unwrap().path()).find(|path| {
        path.to_str().unwrap().contains("-gate-") && path.extension().is_some_and(|e| e == "json")
    });
    fs::remove_file(record.unwrap()).unwrap();
    for args in [["gate", "check", "L"], ["gate", "prove", "L"]] {
        let run = world.run(args).rc(5);
        assert!(run.error().contains("what ran before the work"), "{run:?}");
    }
    let run = world.run(["gate", "freeze", "L"]).rc(1);
    assert!(run.error().contains("what ran before the work"), "{run:?}");
}

// rows: D-13
// cases: 123
#[test]
fn a_gate_is_proven_red_without_the_work_and_green_with_it() {
    let mut world = gated(suite());
    let run = world.run(["gate", "prove", "L"]).rc(4);
    assert!(
        run.out
            .contains("not proven: in a clean checkout of the result"),
        "{run:?}"
    );
    work(&mut world, "add() { echo $(($1 + $2)); }\n");
    let run = world.run(["gate", "prove", "L"]).rc(0);
    assert!(
        run.out.contains("red without the work, green with it"),
        "{run:?}"
    );
    assert!(run.out.contains("level 2"), "{run:?}");
    let json = world.run(["gate", "prove", "L", "--json"]).rc(0).json();
    assert_eq!(json["proof"]["base"]["exit"], 1);
    assert_eq!(json["proof"]["result"]["tests"], 1);

    let world = gated(json!({"command": ["no-such-program"]}));
    let run = world.run(["gate", "prove", "L"]).rc(4);
    assert!(run.out.contains("exit code 127"), "{run:?}");
}

// rows: D-13
// cases: 120, 121
#[test]
fn an_attack_says_what_the_gate_would_accept() {
    let world = gated(json!({"command": ["sh", "-c", ". ./calc.sh; test $(add 2 3) = 5"]}));
    let run = world.run(["gate", "attack", "L"]).rc(0);
    assert!(
        run.out
            .contains("ACCEPTED   shell code of the product ends with success at once"),
        "{run:?}"
    );
    assert!(
        run.out
            .contains("the gate would accept 1 of 3 cheats (level 0"),
        "{run:?}"
    );

    let world = gated(json!({"command": ["sh", "check.sh"], "frozen": ["Makefile"]}));
    let json = world.run(["gate", "attack", "L", "--json"]).rc(0).json();
    assert_eq!(json["accepted"], 1, "{json}");
    assert_eq!(json["level"], 1, "a forged report passes: {json}");
    let refused = &json["attempts"][0];
    assert_eq!(
        (&refused["answer"], &refused["why"]),
        (&json!("refused"), &json!("check.sh was changed"))
    );

    for (script, said) in [
        ("exit 0", "green without any cheat"),
        ("exit 127", "exit code 127"),
    ] {
        let world = gated(json!({"command": ["sh", "-c", script]}));
        let run = world.run(["gate", "attack", "L"]).rc(4);
        assert!(
            run.out.contains(said) && run.out.contains("no cheat was tried"),
            "{run:?}"
        );
    }
}

// rows: D-7, D-13
#[test]
fn an_agent_runs_no_gate_and_a_loop_without_one_is_told() {
    let world = gated(suite());
    for verb in ["prove", "attack"] {
        let mut command = world.command(["gate", verb, "L"]);
        command.env("AUTOMATON_ROLE", "implement");
        let run = world.finish(command).rc(3);
        assert!(
            run.error().contains("only a person may run a gate"),
            "{run:?}"
        );
    }
    let world = World::git().with(|_| {});
    for verb in ["hash", "check", "prove", "attack"] {
        let run = world.run(["gate", verb, "L"]).rc(2);
        assert!(run.error().contains("has no gate"), "{run:?}");
    }
    assert!(
        world
            .run(["gate", "hash"])
            .rc(2)
            .error()
            .contains("no loop of this project has a gate")
    );
}

// rows: D-13
#[test]
fn the_base_that_a_gate_is_proven_on_is_the_one_that_the_task_began_from() {
    let mut world = gated(suite());
    world.role("implement", "echo 'add() { echo $(($1+$2)); }' > calc.sh");
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
    // The user keeps the work; a base that holds it would be green.
    world.git_says(&["commit", "--quiet", "-m", "work", "calc.sh"]);
    world.user_changed_something();
    world.run(["gate", "prove", "L"]).rc(0);
}
