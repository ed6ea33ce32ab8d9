//! What a gate itself makes among the files that judge.

use crate::world::{DONE, FILES, World};
use loop_core::gate::Start;
use loop_runner::gate::{GateError, Started, first_run, freeze_again, record, recorded};
use loop_runner::holder::Wish;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

fn start(world: &World) -> Started {
    first_run(&world.context(), &[], "tick1-start", &mut || Wish::GoOn).unwrap()
}

fn logging(command: &str) -> World {
    World::new(json!({"command": ["sh", "-c", command], "frozen": ["tests"]}))
}

// rows: D-13
// cases: 6, 121
#[test]
fn what_the_gate_made_before_any_work_is_its_own() {
    let world = logging("date +%N > tests/last.log; sh tests/run.sh");
    let started = start(&world);
    assert_eq!(started.start, Start::Red { unbuilt: None });
    assert_eq!(started.armed.products, ["tests/last.log"]);
    let frozen = record(&world.setup, "t", &started.armed).unwrap();
    let again = freeze_again(&world.context(), "t", &frozen).unwrap();
    for frozen in [frozen, again] {
        let armed = recorded(&frozen).unwrap();
        world.write("lib/calc.sh", DONE);
        world.write("tests/last.log", "anything\n");
        assert!(world.ran(&armed).report.green);
        world.write("tests/other.log", "x\n");
        let Err(GateError::Tampered(found)) = world.run(&armed) else {
            panic!("it was run")
        };
        assert_eq!(found[0].to_string(), "tests/other.log is new");
        fs::remove_file(world.tree().join("tests/other.log")).unwrap();
    }
}

// rows: D-13, G-12
// cases: 118
#[test]
fn a_gate_that_makes_another_file_in_every_run_is_not_armed() {
    let world = logging(": > tests/$$.log; exit 1");
    let started = start(&world);
    let Start::Broken { why } = &started.start else {
        panic!("{started:?}")
    };
    assert!(why.ends_with(".log is new"), "{why}");
    let world = logging(": > tests/a.log; exit 0");
    assert_eq!(start(&world).start, Start::Green);
}

// rows: D-13
// cases: 129
#[test]
fn names_with_an_address_are_no_baseline() {
    let world = logging("echo \"not ok 1 - frees 0x$$\"; echo 1..1; exit 1");
    let baseline = start(&world).armed.baseline.unwrap();
    assert_eq!((baseline.tests, baseline.names), (Some(1), None));
}

const TEST: &str = "import unittest
import calc


class Add(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)
";

/// A project in Python; `None` where there is no Python.
fn python(place: &str) -> Option<World> {
    Command::new("python3").arg("--version").output().ok()?;
    let files = [
        FILES,
        &[
            ("tests/test_add.py", TEST),
            ("calc.py", "def add(a, b):\n    return 0\n"),
        ],
    ];
    Some(World::with_files(
        json!({
            "command": ["python3", "-m", "unittest", "discover", "-s", "tests", "-t", "tests"],
            "frozen": ["tests"], "where": place,
        }),
        &files.concat(),
    ))
}

fn run_python(folder: &Path, code: &str) {
    let done = Command::new("python3")
        .args(["-c", code])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

// rows: D-13
// cases: 6, 120, 121, 123
#[test]
fn python_takes_no_compiled_code_for_a_frozen_source() {
    for place in ["worktree", "clean"] {
        let Some(world) = python(place) else { return };
        let started = start(&world);
        assert_eq!(
            started.start,
            Start::Red { unbuilt: None },
            "{place}: {:?}",
            started.ran
        );
        let made = world.tree().join("tests/__pycache__");
        assert!(!made.exists(), "{place}: compiled code lies elsewhere");
        run_python(
            &world.tree(),
            "import os, py_compile, importlib.util as u
text = open('tests/test_add.py').read().replace('5)', '0)')
open('cheat.py', 'w').write(text)
to = u.cache_from_source('tests/test_add.py')
py_compile.compile('cheat.py', to, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
os.remove('cheat.py')",
        );
        assert!(made.exists());
        let report = world.ran(&started.armed).report;
        assert!(!report.green, "{place}: {report:?}");
        world.write("calc.py", "def add(a, b):\n    return a + b\n");
        let report = world.ran(&started.armed).report;
        assert!(report.green, "{place}: {report:?}");
        let left = world.checkouts();
        assert!(left.is_empty(), "{place}: {left:?}");
    }
}
