//! The acceptance gate through the command: red first, the same, and never
//! overruled.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

/// A gate that is green once `src/done` says so.
const GATE: &str = "#!/bin/sh\ngrep -q yes src/done 2>/dev/null || { echo not yet; exit 7; }\n";

/// A loop in a worktree whose only judge is the gate.
fn gated(gate: &str) -> World {
    gated_by(gate, |_| {})
}

fn gated_by(gate: &str, change: impl FnOnce(&mut Value)) -> World {
    let mut world = World::git();
    let script = world.project().join("scripts/verify.sh");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, gate).unwrap();
    world.git_says(&["add", "scripts/verify.sh"]);
    world.git_says(&["commit", "--quiet", "-m", "the gate", "scripts"]);
    world.user_changed_something();
    world.program("grep", "#!/bin/sh\ncase $3 in */*) ;; esac\nwhile IFS= read -r l; do case $l in *\"$2\"*) exit 0;; esac; done < \"$3\"\nexit 1\n");
    let world = world.with(|config| {
        config["roles"] = json!({"implement": {"prompt": "impl.md"}});
        config["gate"] = json!({"command": ["sh", "scripts/verify.sh"]});
        config["blast_radius"] = json!({"use_worktree": true});
        change(config);
    });
    world.role("implement", "echo \"$n\" >> src/log");
    world
}

// rows: G-11, G-12, G-13, G-38
// cases: 16, 118
#[test]
fn no_work_starts_under_a_gate_that_is_not_red_for_the_right_reason() {
    for (gate, reason) in [
        ("exit 0\n", "gate_green"),
        ("exit 126\n", "gate_broken"),
        ("no-such-program\n", "gate_broken"),
        ("if then\n", "gate_broken"),
        ("# loop:unwritten\nexit 1\n", "gate_unwritten"),
        ("sleep 60\n", "gate_broken"),
        (
            "[ -e $TMPDIR/x ] && rm $TMPDIR/x && exit 0; touch $TMPDIR/x; exit 1\n",
            "gate_flaky",
        ),
    ] {
        let world = gated_by(gate, |config| {
            config["gate"]["timeout_seconds"] = 2.into();
        });
        let told = world.tick();
        assert_eq!(told["outcome"], "human_intervention", "{gate}\n{told:#}");
        assert_eq!(told["reason"], reason, "{gate}\n{told:#}");
        assert_eq!(world.calls().len(), 0, "{gate}: nothing was spent");
        assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 4, "{gate}");
        let _left = fs::remove_file(world.root().join("tmp/x"));
    }
    for (key, value) in [
        ("command", json!(["no-such-gate"])),
        ("frozen", json!(["tets"])),
    ] {
        let world = gated(GATE);
        world.configure(|config| config["gate"][key] = value);
        assert_eq!(world.tick()["reason"], "gate_broken", "{key}");
    }
}

// rows: G-21, G-22
// cases: 12, 15, 129
#[test]
fn done_is_an_exit_code_and_not_a_word() {
    let world = gated(GATE);
    world.says("implement", "all tests pass, the work is complete\n");
    let told = world.tick();
    assert_eq!(
        (&told["outcome"], &told["reason"]),
        (&json!("fail"), &json!("gate_red"))
    );
    assert_eq!(told["gate"]["exit"], 7, "the literal exit code");
    assert_eq!(told["gate"]["level"], 0);
    assert_eq!(told["verdict"], Value::Null);
    let hint = world.progress()["hint"].as_str().unwrap().to_owned();
    assert_eq!(
        hint,
        "The acceptance gate failed with exit code 7.\n\nnot yet"
    );
    world.role("implement", "echo yes > src/done");
    let told = world.run(["tick", "L"]).rc(0);
    assert!(
        world
            .output("tick2-implement-prompt.md")
            .contains("hint=[The acceptance gate failed")
    );
    for line in [
        "gate: green, exit code 0, no count of tests",
        "gate: level 0: an exit code in the agent's own tree",
        "gate: not proven in a clean checkout",
    ] {
        assert!(told.out.contains(line), "{line} in {}", told.out);
    }
    assert_eq!(world.state()["last_verdict"]["by"], "gate");
    assert_eq!(world.phase("t1"), "spec");
}

// rows: G-21
// cases: 26
#[test]
fn with_a_judge_both_have_to_agree() {
    let world = gated_by(GATE, |config| {
        config["roles"]["verify"] = json!({"prompt": "ver.md"});
    });
    world.says("verify", verdict(true, 1.0, ""));
    let told = world.tick();
    assert_eq!(told["reason"], "gate_red", "{told:#}");
    assert_eq!(world.count("verify"), 0, "a red gate is never overruled");
    world.role("implement", "echo yes > src/done");
    world.says("verify", verdict(false, 0.3, "no"));
    let told = world.tick();
    assert_eq!(told["reason"], "verdict", "a judge may veto: {told:#}");
    assert_eq!(told["gate"]["green"], true);
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
}

/// What is done to the gate, and whether that is tampering.
#[rustfmt::skip]
const TAMPERING: [(&str, bool); 12] = [
    ("echo 'exit 0' > scripts/verify.sh", true),
    ("rm scripts/verify.sh", true),
    (": > scripts/verify.sh", true),
    ("mv scripts/verify.sh scripts/v; ln -s v scripts/verify.sh", true),
    ("rm scripts/verify.sh; mkdir scripts/verify.sh", true),
    ("echo 'def pytest' > src/conftest.py", true),
    ("mkdir -p deep/er; echo x > deep/er/conftest.py", true),
    ("rm tests/kept", true),
    ("rm -r tests; ln -s src tests", true),
    ("touch scripts/verify.sh; chmod +x scripts/verify.sh", false),
    ("cp scripts/verify.sh scripts/copy; mv scripts/copy scripts/verify.sh", false),
    ("echo x > src/other.py", false),
];

// rows: G-15, G-16, G-19
// cases: 120, 121
#[test]
fn a_gate_that_is_not_what_was_frozen_is_never_believed() {
    for (script, is_tampering) in TAMPERING {
        let mut world = gated_by(GATE, |config| {
            config["gate"]["frozen"] = json!(["**/conftest.py", "tests"]);
        });
        let kept = world.project().join("tests/kept");
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, "x").unwrap();
        world.git_says(&["add", "tests"]);
        world.git_says(&["commit", "--quiet", "-m", "tests", "tests"]);
        world.user_changed_something();
        world.role("implement", &format!("{script}; echo yes > src/done"));
        let told = world.tick();
        if !is_tampering {
            assert_eq!(told["outcome"], "pass", "{script}\n{told:#}");
            continue;
        }
        assert_eq!(told["reason"], "tampered", "{script}\n{told:#}");
        assert_eq!(told["gate"], Value::Null, "{script}: it was not run");
        assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 5);
        // Nothing is mended, and approving alone changes nothing.
        world.run(["approve", "L"]).rc(0);
        assert_eq!(world.tick()["reason"], "tampered", "{script}");
        assert_eq!(
            world.count("implement"),
            1,
            "{script}: nothing more is spent"
        );
    }
}

// rows: D-7, G-19
// cases: 117
#[test]
fn a_person_who_has_looked_freezes_the_gate_again() {
    let world = gated(GATE);
    world.role("implement", "echo '# better' >> scripts/verify.sh");
    assert_eq!(world.tick()["reason"], "tampered");
    // An agent cannot.
    let mut command = world.command(["gate", "freeze", "L"]);
    command.env("AUTOMATON_ROLE", "implement");
    world.finish(command).rc(3);
    let frozen = world
        .run(["gate", "freeze", "L", "--note", "it is better"])
        .rc(0);
    assert!(frozen.out.contains("now: loop approve"), "{frozen:?}");
    world.run(["approve", "L"]).rc(0);
    world.role("implement", "echo yes > src/done");
    assert_eq!(world.tick()["outcome"], "pass");
    assert!(world.log().contains("op=freeze by=ada"), "{}", world.log());
}

// rows: G-14, G-18
// cases: 31
#[test]
fn what_was_kept_of_a_gate_cannot_be_replaced() {
    let world = gated(GATE);
    world.role(
        "implement",
        "echo 'exit 0' > scripts/verify.sh; \
         rm -rf $AUTOMATON_PROJECT/.automaton/loops/L/outputs/t1-gate-*.json",
    );
    assert_eq!(world.tick()["reason"], "tampered");
    let world = gated(GATE);
    world.role(
        "implement",
        "for f in $AUTOMATON_PROJECT/.automaton/loops/L/outputs/*; do echo '{}' > $f; done 2>&-; \
         echo yes > src/done",
    );
    let told = world.tick();
    assert_eq!(told["reason"], "tampered", "{told:#}");
}

// rows: D-13
// cases: 56
#[test]
fn an_exit_code_of_0_with_an_error_printed_is_not_green() {
    for (output, why) in [
        ("error: could not compile `x`", "could not compile"),
        (
            "test result: ok. 0 passed; 0 failed; 0 ignored",
            "gate.min_tests is 2",
        ),
        (
            "test result: FAILED. 1 passed; 2 failed; 0 ignored",
            "tests failed",
        ),
        ("looks good", "gate.min_tests is 2"),
    ] {
        let gate = format!("{GATE}echo '{output}' | cat\nexit 0\n");
        let world = gated_by(&gate, |config| config["gate"]["min_tests"] = 2.into());
        world.role("implement", "echo yes > src/done");
        let told = world.tick();
        assert_eq!(told["reason"], "gate_red", "{output}\n{told:#}");
        assert_eq!(told["gate"]["exit"], 0);
        assert!(told["why"].as_str().unwrap().contains(why), "{told:#}");
    }
}

// rows: D-13
// cases: 123
#[test]
fn a_green_that_does_not_stand_in_a_clean_checkout_is_a_failed_attempt() {
    let ignored = |world: &mut World| {
        fs::write(world.project().join("src/.gitignore"), "done\n").unwrap();
        world.git_says(&["add", "src/.gitignore"]);
        world.git_says(&["commit", "--quiet", "-m", "ignore", "src/.gitignore"]);
        world.user_changed_something();
    };
    // What is green because of a file that nobody will get is not green.
    for config in [json!({"prove": true}), json!({"where": "clean"})] {
        let mut world = gated_by(GATE, |loop_json| {
            for (key, value) in config.as_object().unwrap() {
                loop_json["gate"][key] = value.clone();
            }
        });
        ignored(&mut world);
        world.role("implement", "echo yes > src/done; echo x > src/b");
        let told = world.tick();
        assert_eq!(told["reason"], "gate_red", "{config}\n{told:#}");
        assert_eq!(checkouts(&world), [""; 0], "{config}");
    }
    // What stands is proven, and that is said.
    let world = gated_by(GATE, |config| config["gate"]["prove"] = true.into());
    world.role("implement", "echo yes > src/done");
    let told = world.run(["tick", "L"]).rc(0);
    assert!(told.out.contains("proven in clean checkouts"), "{told:?}");
    assert!(!told.out.contains("not proven"), "{told:?}");
}

/// Lists the clean checkouts that are still there, beside the loop's worktrees.
fn checkouts(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.home().join(".automaton/worktrees")];
    for _ in 0..3 {
        let inner = folders
            .iter()
            .flat_map(|folder| fs::read_dir(folder).unwrap());
        folders = inner.map(|entry| entry.unwrap().path()).collect();
        let names = folders
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap());
        found.extend(
            names
                .filter(|name| name.starts_with(".gate-"))
                .map(str::to_owned),
        );
        folders.retain(|path| path.is_dir());
    }
    found
}

// rows: D-13
// cases: 124
#[test]
fn a_gate_that_the_agent_never_sees_is_laid_over_a_clean_checkout() {
    let world = gated(GATE);
    let hidden = world.root().join("hidden");
    fs::create_dir_all(hidden.join("scripts")).unwrap();
    fs::write(
        hidden.join("scripts/verify.sh"),
        "grep -q 42 src/answer || exit 3\n",
    )
    .unwrap();
    world.configure(|config| config["gate"]["overlay"] = hidden.display().to_string().into());
    world.role(
        "implement",
        "echo 'exit 0' > src/cheat; echo 41 > src/answer",
    );
    let told = world.tick();
    assert_eq!(told["reason"], "gate_red", "{told:#}");
    assert_eq!(
        (&told["gate"]["exit"], &told["gate"]["level"]),
        (&json!(3), &json!(3))
    );
    world.role(
        "implement",
        "echo 42 > src/answer; cat scripts/verify.sh > $REC/seen",
    );
    assert_eq!(world.tick()["outcome"], "pass");
    let seen = fs::read_to_string(world.rec("seen")).unwrap();
    assert_eq!(seen, GATE, "the agent sees its own");
    let worktree = world.calls()[0].cwd.clone();
    let seen = fs::read_to_string(worktree.join("scripts/verify.sh")).unwrap();
    assert_eq!(seen, GATE, "nothing of it is left in the agent's tree");
    fs::remove_dir_all(&hidden).unwrap();
}

// rows: D-13
// cases: 124
#[test]
fn a_verified_result_leaves_a_receipt_and_later_changes_are_noticed() {
    let world = gated(GATE);
    world.role("implement", "echo yes > src/done");
    world.tick();
    let receipt: Value = serde_json::from_str(&world.output("receipts/t1-1.json")).unwrap();
    assert_eq!(
        (&receipt["task"], &receipt["tick"]),
        (&json!("t1"), &json!(1))
    );
    assert_eq!(receipt["gate"]["exit"], 0);
    assert_eq!(receipt["prompts"]["implement"].as_str().unwrap().len(), 64);
    let check = || world.run(["gate", "check", "L", "--receipts", "--json"]);
    let told = check().rc(0).json();
    assert_eq!(told["receipts"], json!([]), "{told:#}");
    let worktree = world.calls()[0].cwd.clone();
    fs::write(worktree.join("src/later"), "x").unwrap();
    let told = check().rc(5).json();
    assert!(
        told["receipts"]
            .to_string()
            .contains("not the one that was verified"),
        "{told:#}"
    );
    fs::remove_file(worktree.join("src/later")).unwrap();
    let path = world.in_loop("outputs/receipts/t1-1.json");
    fs::write(
        &path,
        fs::read_to_string(&path)
            .unwrap()
            .replace("\"exit\":0", "\"exit\":1"),
    )
    .unwrap();
    assert!(check().rc(5).out.contains("was changed"));
    fs::remove_file(&path).unwrap();
    assert!(check().rc(5).out.contains("is gone"));
}

// rows: L-07
// cases: 55
#[test]
fn a_gate_that_is_stopped_leaves_nothing_behind() {
    let world = gated(&format!("{GATE}touch $REC/gate; sleep 600 & sleep 600\n"));
    world.role("implement", "echo yes > src/done");
    let running = world.start(["tick", "L"]);
    crate::support::wait_until("the gate runs", || world.rec("gate").exists().then_some(()));
    world.run(["stop", "L"]).rc(0);
    let told = running.wait();
    assert_eq!(told.code, 130, "{told:?}");
    world.settle();
}

// rows: G-21
#[test]
fn show_and_dry_run_tell_what_the_gate_is() {
    let world = gated(GATE);
    let told = world.run(["tick", "L", "--dry-run"]).rc(0).out;
    for line in [
        "sh scripts/verify.sh",
        "at best level 1",
        "it has to be red before the first attempt",
    ] {
        assert!(told.contains(line), "{line} in {told}");
    }
    assert_eq!(world.calls().len(), 0);
    world.tick();
    let told = world.run(["show", "L"]).rc(0).out;
    assert!(told.contains("seen red before any work"), "{told}");
    assert!(world.log().contains("the gate is red step=gate tick=1"));
}

// rows: D-13
// cases: 150
#[test]
fn a_receipt_that_the_agent_has_put_there_is_not_taken_for_the_engines() {
    let world = gated(GATE);
    world.role(
        "implement",
        "echo yes > src/done\n\
         out=$AUTOMATON_PROJECT/.automaton/loops/L/outputs/receipts\n\
         mkdir -p $out; echo '{\"forged\": true}' > $out/t1-1.json",
    );
    assert_eq!(world.tick()["outcome"], "pass");
    let receipt: Value = serde_json::from_str(&world.output("receipts/t1-1.json")).unwrap();
    assert_eq!(receipt["task"], "t1", "{receipt:#}");
    world.run(["gate", "check", "L", "--receipts"]).rc(0);
}
