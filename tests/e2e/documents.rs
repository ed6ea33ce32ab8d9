//! The command lines of the documents are ones that there are.

use crate::support::World;
use std::fs;

/// Returns the command lines of `loop` in the shell examples of a document, those
/// that go on behind a backslash in one.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let blocks = text.split("```sh\n").skip(1);
    for block in blocks.map(|block| block.split("```").next().unwrap()) {
        let whole = block.replace("\\\n", " ");
        let own = whole
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("loop "));
        lines.extend(own.map(str::to_owned));
    }
    lines
}

// rows: D-14
#[test]
fn every_command_line_of_the_documents_is_one_that_there_is() {
    let world = World::plain();
    let program = env!("CARGO_BIN_EXE_loop");
    // Everything before the last word is looked at, and nothing is done.
    world.program(
        "loop",
        &format!("#!/bin/sh\nexec {program} \"$@\" --help\n"),
    );
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut seen = 0;
    for document in [
        "README.md",
        "CONTRIBUTING.md",
        "design/loops/technical.md",
        "design/loops/gate.md",
    ] {
        let text = fs::read_to_string(format!("{root}/{document}")).unwrap();
        for line in command_lines(&text) {
            let mut command = world.command([""; 0]);
            let path = command
                .get_envs()
                .find(|(name, _)| *name == "PATH")
                .unwrap()
                .1
                .unwrap()
                .to_owned();
            let mut shell = std::process::Command::new("/bin/sh");
            shell
                .args(["-c", &line])
                .current_dir(world.project())
                .env_clear()
                .env("PATH", path);
            command.env_clear();
            let run = world.finish(shell);
            assert_eq!(run.code, 0, "{document}: {line}\n{run:#?}");
            seen += 1;
        }
    }
    assert!(seen > 25, "only {seen} were found");
}

#[test]
fn a_wrong_command_line_would_be_seen() {
    let world = World::plain();
    for args in [
        &["gate", "prve", "--help"][..],
        &["tick", "fix", "--dry-runn", "--help"],
    ] {
        world.run(args).rc(2);
    }
    let text = "text\n```sh\nloop a \\\n  --b\nls\n```\n```json\nloop c\n```\n";
    assert_eq!(command_lines(text), ["loop a    --b"]);
}
