//! What does not start, and why.

use crate::{
    runner::tests,
    support::{Yard, exited},
};
use loop_runner::holder::{Command, StartError, spawn};
use std::{fs, os::unix::fs::PermissionsExt};

tests![
    longest_argument_is_sent_and_a_longer_one_refused,
    too_many_arguments_are_refused,
    nul_is_refused,
    missing_program_and_missing_directory_are_told_apart,
    files_that_cannot_be_executed_are_named,
    trouble_with_files_is_named,
];

fn refusal(command: &Command) -> StartError {
    spawn(command).unwrap_err()
}

// rows: H-32, H-33; cases: 50
fn longest_argument_is_sent_and_a_longer_one_refused() {
    let yard = Yard::new();
    let longest = "x".repeat(131_071);
    let command = yard.command(&["printf", "%s", &longest]);
    assert_eq!(yard.finish(&command).how, exited(0));
    assert_eq!(yard.read("out"), longest);

    let longer = longest + "x";
    assert!(matches!(
        refusal(&yard.command(&["printf", "%s", &longer])),
        StartError::ArgumentTooLong {
            index: 2,
            bytes: 131_072
        }
    ));
}

// cases: 50
fn too_many_arguments_are_refused() {
    let yard = Yard::new();
    let long = "x".repeat(131_071);
    // The kernel grants the list at most 6 MiB, whatever the stack's limit.
    let argv = [vec!["true"], vec![long.as_str(); 50]].concat();
    assert!(matches!(
        refusal(&yard.command(&argv)),
        StartError::ListTooLong
    ));
}

// rows: H-34
fn nul_is_refused() {
    let yard = Yard::new();
    assert!(matches!(
        refusal(&yard.command(&["echo", "a\0b"])),
        StartError::NulInArgument { index: 1 }
    ));
}

// rows: H-35
fn missing_program_and_missing_directory_are_told_apart() {
    let yard = Yard::new();
    assert_eq!(
        refusal(&yard.command(&["no-such-program"])).to_string(),
        "program not found: no-such-program"
    );
    let mut command = yard.shell("true");
    command.directory = yard.path("gone");
    assert_eq!(
        refusal(&command).to_string(),
        format!(
            "working directory is missing: {}",
            yard.path("gone").display()
        )
    );
}

fn files_that_cannot_be_executed_are_named() {
    let yard = Yard::new();
    let write = |name: &str, text: &str, mode| {
        fs::write(yard.path(name), text).unwrap();
        fs::set_permissions(yard.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    write("plain", "#!/bin/sh\n", 0o644);
    write("text", "just text\n", 0o755);
    write("orphan", "#!/no/such/interpreter\n", 0o755);
    for name in ["./plain", "./text"] {
        let error = refusal(&yard.command(&[name]));
        assert!(
            matches!(error, StartError::NotExecutable { .. }),
            "{name}: {error}"
        );
    }
    let error = refusal(&yard.command(&["./orphan"]));
    assert!(
        matches!(error, StartError::InterpreterMissing { .. }),
        "{error}"
    );
}

fn trouble_with_files_is_named() {
    let yard = Yard::new();
    let mut command = yard.shell("true");
    command.stdout = yard.path("no/such/folder");
    let expected = format!("cannot write {}", yard.path("no/such/folder").display());
    assert_eq!(refusal(&command).to_string(), expected);
}
