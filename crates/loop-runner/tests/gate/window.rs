//! What judges is watched while the gate runs.

use crate::world::{FILES, World};
use loop_core::gate::Start;
use loop_runner::gate::{Started, first_run};
use loop_runner::holder::Wish;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A shell reads a script while it runs it.
const SCRIPT: &str = "sh bin/calc 2 3\n[ \"$(sh bin/calc 2 3)\" = 5 ] || exit 1\n";

fn scripted(gate: Value) -> World {
    let files = [FILES, &[("verify.sh", SCRIPT)]].concat();
    World::with_files(gate, &files)
}

fn start(world: &World) -> Started {
    first_run(&world.context(), &[], "tick1-start", &mut || Wish::GoOn).unwrap()
}

// rows: D-13, G-16, G-19
// cases: 120, 121
#[test]
fn a_script_that_is_changed_while_it_runs_and_changed_back_is_tampered_with() {
    for place in ["worktree", "clean"] {
        let world = scripted(json!({"command": ["bash", "verify.sh"], "where": place}));
        let armed = start(&world).armed;
        let cheat = "cp verify.sh kept; \
             printf 'sh bin/calc 2 3\\n cat kept > verify.sh; exit 0      \\n' > verify.sh\n";
        world.write("bin/calc", cheat);
        let ran = world.ran(&armed);
        assert_eq!(ran.report.exit, 0, "{place}: the cheat works: {ran:?}");
        assert!(!ran.report.green, "{place}");
        assert_eq!(
            ran.changed[0].to_string(),
            "verify.sh was rewritten, or its mode was changed, while the gate ran",
            "{place}"
        );
    }
}

// rows: D-13, G-16, G-19
// cases: 120, 121
#[test]
fn a_folder_of_tests_that_is_swapped_and_swapped_back_is_tampered_with() {
    for place in ["worktree", "clean"] {
        let world = World::new(json!({
            "command": ["sh", "tests/run.sh"], "frozen": ["tests"], "where": place,
        }));
        let armed = start(&world).armed;
        let swap = "mv tests kept; mkdir tests; \
             echo 'check x 1 1; rm -r tests; mv kept tests' > tests/t_x.sh\n";
        world.write("lib/calc.sh", &format!("{swap}add() {{ echo 0; }}\n"));
        let ran = world.ran(&armed);
        assert!(!ran.report.green, "{place}: {ran:?}");
        let found = ran.changed.iter().map(ToString::to_string);
        let moved = "tests was moved, or its mode was changed, while the gate ran";
        assert!(
            found.into_iter().any(|told| told == moved),
            "{:?}",
            ran.changed
        );
    }
}

// rows: D-13, G-12
// cases: 118
#[test]
fn a_gate_that_changes_what_is_frozen_is_not_armed() {
    for command in [
        "chmod +x tests/run.sh; exit 1",
        "echo >> tests/t_add.sh; exit 0",
    ] {
        let world = World::new(json!({"command": ["sh", "-c", command], "frozen": ["tests"]}));
        let started = start(&world);
        let Start::Broken { why } = &started.start else {
            panic!("{command}: {started:?}")
        };
        assert!(
            why.starts_with("the gate changes what is frozen: tests/"),
            "{why}"
        );
    }
}

// rows: D-13, G-19
// cases: 6
#[test]
fn files_that_are_touched_between_two_runs_are_the_same() {
    let world = World::new(json!({"command": ["sh", "tests/run.sh"], "frozen": ["tests"]}));
    let armed = start(&world).armed;
    for mode in [0o755, 0o600] {
        let file = world.tree().join("tests/run.sh");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let folder = world.tree().join("tests");
        fs::rename(&folder, world.tree().join("away")).unwrap();
        fs::rename(world.tree().join("away"), &folder).unwrap();
        assert_eq!(world.ran(&armed).changed, []);
    }
}
