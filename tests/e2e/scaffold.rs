//! `loop init --run`: the files of an autonomous run.

use crate::support::World;
use std::fs;
use std::process::{Command, Output};

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../templates/run-loop");
const PLANNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../prompts/loop-planner.md");

/// Every file, in the order in which it is named.
const FILES: [&str; 10] = [
    "TASK.md",
    "LOOP.md",
    "STATE.md",
    "scripts/verify.sh",
    "scripts/hashes.sh",
    "CLAUDE.md",
    ".claude/commands/run-loop.md",
    ".claude/commands/iterate.md",
    ".claude/commands/setup-loop.md",
    ".claude/agents/planner.md",
];

/// Runs bash in the project, with the tools of whoever runs the tests.
#[track_caller]
fn bash(world: &World, args: &[&str]) -> Output {
    let mut bash = Command::new("bash");
    bash.args(args).current_dir(world.project()).env_clear();
    bash.env("PATH", std::env::var_os("PATH").unwrap());
    bash.env("HOME", world.home());
    bash.output().unwrap()
}

// rows: G-30, G-31, G-32, U-39, U-43
#[test]
fn the_scaffold_is_what_is_shipped_and_starts_nothing() {
    let world = World::git();
    let run = world.run(["init", "--run"]).rc(0);
    for path in FILES {
        let made = world.project().join(path);
        let shipped = match path {
            ".claude/agents/planner.md" => PLANNER.to_owned(),
            _ => format!("{SHIPPED}/{path}"),
        };
        assert_eq!(
            fs::read(&made).unwrap(),
            fs::read(shipped).unwrap(),
            "{path}"
        );
        assert!(
            run.out.contains(&format!("made {}\n", made.display())),
            "{run:#?}"
        );
    }
    assert!(run.out.ends_with("then: loop run\n"), "{run:#?}");
    assert_eq!(world.calls().len(), 0);
    assert_eq!(fs::read_dir(world.data("loops")).unwrap().count(), 0);
    // Only `--run` asks for it.
    let other = World::plain();
    other.run(["init"]).rc(0);
    assert!(!other.project().join("TASK.md").exists());
}

// rows: G-30, G-32
#[test]
fn what_is_there_is_never_overwritten() {
    let world = World::plain();
    fs::create_dir(world.project().join("scripts")).unwrap();
    for path in ["TASK.md", "scripts/verify.sh"] {
        fs::write(world.project().join(path), "mine\n").unwrap();
    }
    let run = world.run(["init", "--run"]).rc(0);
    for path in FILES {
        let path = world.project().join(path);
        let mine = fs::read(&path).unwrap() == b"mine\n";
        let word = if mine { "kept" } else { "made" };
        assert!(
            run.out.contains(&format!("{word} {}\n", path.display())),
            "{run:#?}"
        );
    }
    assert_eq!(run.out.matches("kept ").count(), 2, "{run:#?}");
    let again = world.run(["init", "--run"]).rc(0);
    assert_eq!(
        again.out.matches("kept ").count(),
        FILES.len(),
        "{again:#?}"
    );
}

// rows: G-30
#[test]
fn no_file_is_written_behind_a_link() {
    let world = World::plain();
    let outside = world.root().join("rec/outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.project().join("scripts")).unwrap();
    let run = world.run(["init", "--run"]).rc(0);
    assert_eq!(run.err.matches("is left out").count(), 2, "{run:#?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

// rows: Q-50, G-26, G-27, G-28, U-40
#[test]
fn both_scripts_are_right_and_the_gate_fails_closed() {
    let world = World::plain();
    world.run(["init", "--run"]).rc(0);
    for script in ["scripts/verify.sh", "scripts/hashes.sh"] {
        let checked = bash(&world, &["-n", script]);
        assert!(
            checked.status.success() && checked.stderr.is_empty(),
            "{checked:?}"
        );
    }
    let gate = bash(&world, &["scripts/verify.sh"]);
    assert_eq!(gate.status.code(), Some(1), "{gate:?}");
    let text = fs::read_to_string(world.project().join("scripts/verify.sh")).unwrap();
    assert!(text.starts_with("#!/usr/bin/env bash\n") && text.contains("FROZEN"));

    // The digests of two texts that every implementation is tried with.
    let expected = "\
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  scripts/verify.sh\n\
        ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  TASK.md\n";
    fs::write(world.project().join("scripts/verify.sh"), "").unwrap();
    fs::write(world.project().join("TASK.md"), "abc").unwrap();
    let hashes = world.project().join("scripts/hashes.sh");
    // As a program of its own, from anywhere, it says the same.
    for command in [
        "bash scripts/hashes.sh".to_owned(),
        "scripts/hashes.sh".to_owned(),
        format!("cd / && CDPATH=/tmp '{}'", hashes.display()),
    ] {
        let ran = bash(&world, &["-c", &command]);
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        assert_eq!(
            String::from_utf8(ran.stdout).unwrap(),
            expected,
            "{command}"
        );
    }
    // It fails rather than print one line.
    fs::remove_file(world.project().join("scripts/verify.sh")).unwrap();
    assert!(!bash(&world, &["scripts/hashes.sh"]).status.success());
}

// rows: Q-50, U-40
#[test]
fn the_hashes_are_the_same_without_sha256sum() {
    let world = World::plain();
    world.run(["init", "--run"]).rc(0);
    // A `shasum` that only knows how it is called on other systems.
    world.program(
        "shasum",
        "#!/bin/sh\n[ \"$1 $2\" = '-a 256' ] || exit 9\necho \"digest  $3\"\n",
    );
    world.program(
        "dirname",
        "#!/bin/sh\n[ \"$1\" = -- ] && shift\necho \"${1%/*}\"\n",
    );
    let bin = world.root().join("bin");
    let script = format!("PATH='{}' \"$BASH\" scripts/hashes.sh", bin.display());
    let ran = bash(&world, &["-c", &script]);
    assert!(ran.status.success(), "{ran:?}");
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said, "digest  scripts/verify.sh\ndigest  TASK.md\n");
}

// rows: B-10, D-07
#[test]
fn an_agent_may_not_lay_the_scaffold() {
    let world = World::plain();
    let mut command = world.command(["init", "--run"]);
    command.env("AUTOMATON_ROLE", "implement");
    world.finish(command).rc(3);
    assert!(!world.project().join("TASK.md").exists());
}
