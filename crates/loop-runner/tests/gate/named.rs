//! What `gate.frozen` names, and what it does not.

use crate::world::{DONE, World};
use loop_core::gate::Start;
use loop_runner::gate::{GateError, Started, first_run, freeze, unmatched};
use loop_runner::holder::Wish;
use serde_json::json;
use std::os::unix::fs::symlink;

fn start(world: &World) -> Started {
    first_run(&world.context(), &[], "tick1-start", &mut || Wish::GoOn).unwrap()
}

// rows: D-13, G-12
// cases: 118, 121
#[test]
fn a_name_that_leads_nowhere_is_told_before_anything_is_spent() {
    let world = World::new(json!({"command": ["sh", "tests/run.sh"], "frozen": ["tests", "tets"]}));
    let started = start(&world);
    let Start::Broken { why } = &started.start else {
        panic!("{started:?}")
    };
    assert!(why.starts_with("gate.frozen: tets names nothing"), "{why}");
    assert!(started.ran.is_none(), "it was not run");
    let frozen = freeze(&world.context(), &[], None);
    assert!(matches!(frozen, Err(GateError::Nothing { path }) if path == "tets"));

    let world = World::new(json!({
        "command": ["sh", "tests/run.sh"], "frozen": ["tests", "**/conftest.py", "tests/*.sh"],
    }));
    assert!(matches!(start(&world).start, Start::Red { .. }));
    assert_eq!(unmatched(&world.context()).unwrap(), ["**/conftest.py"]);
}

// rows: D-13, G-19
// cases: 120
#[test]
fn what_lies_behind_a_link_in_the_project_is_frozen() {
    for (link, target, frozen) in [
        ("checks", "tests", "checks/t_add.sh"),
        ("checks", "tests", "checks/t_*.sh"),
        ("deep", ".", "deep/tests"),
    ] {
        let world = World::new(json!({"command": ["sh", "-c", "exit 1"], "frozen": [frozen]}));
        symlink(target, world.tree().join(link)).unwrap();
        let armed = start(&world).armed;
        assert_eq!(armed.compare(&world.context()).unwrap(), [], "{frozen}");
        world.write("tests/t_add.sh", "check x 1 1\n");
        let found = armed.compare(&world.context()).unwrap();
        assert_eq!(
            found[0].to_string(),
            "tests/t_add.sh was changed",
            "{frozen}"
        );
    }
}

// rows: D-13
// cases: 6
#[test]
fn what_is_named_twice_can_be_laid_into_a_clean_checkout() {
    for frozen in [json!(["tests"]), json!(["tests/t_add.sh", "tests"])] {
        let world = World::new(json!({
            "command": ["sh", "tests/run.sh"], "frozen": frozen, "where": "clean",
        }));
        let armed = start(&world).armed;
        world.write("lib/calc.sh", DONE);
        assert!(world.ran(&armed).report.green, "{frozen}");
    }
    // The script is all that is in the folder.
    let world = World::new(json!({
        "command": ["sh", "bin/calc", "2", "3"], "frozen": ["bin"], "where": "clean",
    }));
    let report = world.ran(&world.freeze(None)).report;
    assert!(report.green, "{report:?}");
}

// rows: D-13, G-19
// cases: 120
#[test]
fn a_part_of_the_gate_that_lies_outside_of_the_project_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    let script = elsewhere.path().join("v.sh");
    std::fs::write(&script, "exit 1\n").unwrap();
    for gate in [
        json!({"command": ["sh", "v.sh"]}),
        json!({"command": ["sh", "-c", "exit 1"], "frozen": ["v.sh"]}),
    ] {
        let world = World::new(gate);
        symlink(&script, world.tree().join("v.sh")).unwrap();
        let started = start(&world);
        let Start::Broken { why } = &started.start else {
            panic!("{started:?}")
        };
        assert!(why.contains("leads out of the project"), "{why}");
        let frozen = freeze(&world.context(), &[], None);
        assert!(matches!(frozen, Err(GateError::LeadsOut { .. })));
    }
}
