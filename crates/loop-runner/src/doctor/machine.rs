//! What concerns every loop of this machine.

use super::room::{room, writable};
use super::{Exam, Finding};
use crate::holder::{Command, Environment};
use crate::setup::Surroundings;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// No machine on which this was built is older: 2025-01-01, in milliseconds.
const NOT_BEFORE: i64 = 1_735_689_600_000;

pub(super) fn checks(exam: &Exam<'_>, around: &Surroundings) -> Vec<Finding> {
    let mut found = vec![platform(), clock(around), home(around)];
    found.extend(own_program(exam, around));
    let project = around.project.root();
    let tmp = std::env::temp_dir();
    let places = [
        ("the project", project),
        ("the home", around.home.root()),
        ("the folder for temporary files", &tmp),
    ];
    found.extend(places.map(|(what, path)| room(what, path)));
    found.push(Finding::ok(
        "git",
        "the engine brings its own git: neither a git program nor an identity is needed",
    ));
    found
}

fn platform() -> Finding {
    if cfg!(target_os = "linux") {
        Finding::ok(
            "platform",
            "Linux: everything that an agent starts ends with it, also when the engine is \
             killed; there is no sandbox",
        )
    } else {
        Finding::warning(
            "platform",
            "macOS: there is no sandbox, and only an agent's process group is ended with it, \
             not what leaves that",
            "look for left-over processes after a kill, or use Linux",
        )
    }
}

fn clock(around: &Surroundings) -> Finding {
    let now = around.clock.now();
    if now.unix_millis() < NOT_BEFORE {
        return Finding::problem(
            "clock",
            format!("the machine's clock says {now}"),
            "set the clock: caps for a day and times to wait for go by it",
        );
    }
    Finding::ok("clock", format!("{now}"))
}

fn home(around: &Surroundings) -> Finding {
    writable("home", "the framework home", around.home.root())
}

/// An agent that asks for a transition calls `loop`, and has to find this one.
fn own_program(exam: &Exam<'_>, around: &Surroundings) -> Option<Finding> {
    let own = exam.program.as_deref()?;
    let found = on_path("loop", around);
    Some(match found {
        None => Finding::warning(
            "program",
            "no `loop` is on PATH; an orchestrator that asks for a move calls it by that name",
            format!("put the folder of {} on PATH", own.display()),
        ),
        Some(found) if is_same(&found, own) => {
            Finding::ok("program", format!("`loop` is {}", found.display()))
        }
        Some(found) => Finding::warning(
            "program",
            format!(
                "another program named `loop` comes first on PATH: {}; this one is {}",
                found.display(),
                own.display()
            ),
            format!("put the folder of {} first on PATH", own.display()),
        ),
    })
}

/// Finds a program as a child of the engine would.
fn on_path(name: &str, around: &Surroundings) -> Option<PathBuf> {
    let environment: Environment = around.environment.iter().cloned().collect();
    let folder = around.project.root().to_owned();
    let unused = || PathBuf::from("/dev/null");
    let argv = vec![OsString::from(name)];
    let command = Command::new(argv, folder, environment, [unused(), unused()], unused());
    command.find_program().ok()
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
