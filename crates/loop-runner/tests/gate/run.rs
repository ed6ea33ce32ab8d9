//! Running the gate, before and after the work.

use crate::world::{DONE, FILES, World};
use loop_core::gate::Start;
use loop_runner::gate::{GateError, Started, first_run, prove};
use loop_runner::holder::Wish;
use serde_json::{Value, json};
use std::fs;

fn suite() -> Value {
    json!({"command": ["sh", "tests/run.sh"], "frozen": ["tests"]})
}

fn start(world: &World) -> Started {
    first_run(&world.context(), &[], "tick1-start", &mut || Wish::GoOn).unwrap()
}

fn shell(script: &str) -> World {
    World::new(json!({"command": ["sh", "-c", script]}))
}

// rows: D-13, G-11
#[test]
fn a_red_gate_is_frozen_with_what_ran_and_is_green_after_the_work() {
    let world = World::new(suite());
    let started = start(&world);
    assert_eq!(started.start, Start::Red { unbuilt: None });
    let baseline = started.armed.baseline.as_ref().unwrap();
    assert_eq!(baseline.tests, Some(3));
    let names: Vec<_> = baseline.names.as_ref().unwrap().iter().collect();
    assert_eq!(names, ["large", "nothing", "two and three"]);

    let red = world.ran(&started.armed);
    assert_eq!((red.report.exit, red.report.green), (1, false));
    let hint = red.report.hint.unwrap();
    assert!(
        hint.starts_with("The acceptance gate failed with exit code 1.\n\n"),
        "{hint}"
    );
    assert!(hint.ends_with("not ok 3 - large\n1..3"), "{hint}");
    let again = world.ran(&started.armed);
    assert_eq!(
        again.report.output, red.report.output,
        "the same output has the same hash"
    );

    world.write("lib/calc.sh", DONE);
    let green = world.ran(&started.armed);
    assert!(green.report.green, "{green:?}");
    assert_eq!(
        (green.report.level.number(), green.report.tests),
        (1, Some(3))
    );
    assert_eq!(green.report.flags, [""; 0]);
    assert_ne!(green.report.output, red.report.output);
    let log = world.setup.dir.outputs().join("tick1-gate.log");
    assert_eq!(fs::read_to_string(&log).unwrap(), green.output);
    assert!(
        !world
            .setup
            .dir
            .outputs()
            .join("tick1-gate-stderr.log")
            .exists()
    );
}

// rows: G-12, G-13, A-30
// cases: 118
#[test]
fn a_gate_is_red_only_for_the_right_reason() {
    let script = |text: &str| {
        let files = [FILES, &[("verify.sh", text)]].concat();
        World::with_files(json!({"command": ["bash", "verify.sh"]}), &files)
    };
    let bare = |argv: Value| World::new(json!({"command": argv}));
    for (world, said) in [
        (bare(json!(["bash", "missing.sh"])), "missing.sh is missing"),
        (bare(json!(["./missing"])), "missing is missing"),
        (bare(json!(["no-such-program-anywhere"])), "exit code 127"),
        (bare(json!(["./README.md"])), "exit code 126"),
        (shell("exit 126"), "exit code 126"),
        (shell("pytset -q"), "exit code 127"),
        (shell("exit 124"), "exit code 124"),
        (shell("kill -SEGV $$"), "signal 11"),
        (script("if true; then\n"), "verify.sh is not valid"),
        (script("exit 1\nfi\n"), "verify.sh is not valid"),
        (
            shell("echo 'error: could not compile `x`'; exit 0"),
            "could not compile",
        ),
    ] {
        let started = start(&world);
        let Start::Broken { why } = &started.start else {
            panic!("{said}: {started:?}")
        };
        assert!(why.contains(said), "{said}: {why}");
    }
    let unwritten = start(&script(
        "#!/bin/bash\n# loop:unwritten\necho 'write me'\nexit 1\n",
    ));
    assert_eq!(unwritten.start, Start::Unwritten);
    assert!(unwritten.ran.is_none(), "it was not run");
    assert_eq!(start(&shell("exit 0")).start, Start::Green);
    assert_eq!(start(&shell("exit 1")).start, Start::Red { unbuilt: None });
}

// rows: A-30
#[test]
fn a_flaky_gate_is_found_by_running_red_twice() {
    let world = shell("if [ -e build/x ]; then exit 0; fi; mkdir build; : > build/x; exit 1");
    let started = start(&world);
    assert!(matches!(started.start, Start::Flaky { .. }), "{started:?}");
}

// rows: G-38
#[test]
fn a_gate_that_hangs_ends_with_124() {
    let world = World::new(json!({
        "command": ["sh", "-c", "echo begun; sleep 600"], "timeout_seconds": 3,
    }));
    let ran = world.ran(&world.freeze(None));
    assert_eq!((ran.report.exit, ran.report.green), (124, false));
    assert_eq!(ran.output, "begun\n");
    let hint = ran.report.hint.unwrap();
    assert_eq!(
        hint,
        "The acceptance gate failed with exit code 124.\n\nbegun"
    );
}

// rows: G-38, D-23
#[test]
fn the_gate_runs_in_the_project_with_nothing_to_read_and_no_git_variables() {
    let world = shell(
        "pwd; cat; echo \"role=$AUTOMATON_ROLE tick=$AUTOMATON_TICK\"; env | grep ^GIT_; exit 1",
    );
    let ran = world.ran(&world.freeze(None));
    let expected = format!("{}\nrole=gate tick=1\n", world.tree().display());
    assert_eq!(ran.output, expected);
}

// rows: D-13
#[test]
fn both_streams_are_kept_in_their_order_and_a_long_output_is_cut() {
    let world = shell("echo a; echo b >&2; echo c; exit 1");
    assert_eq!(world.ran(&world.freeze(None)).output, "a\nb\nc\n");
    let world =
        shell("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last; exit 1");
    let ran = world.ran(&world.freeze(None));
    assert!(ran.output.len() < 9 << 20);
    assert!(ran.output.starts_with("first\n") && ran.output.ends_with("\nlast\n"));
    assert!(ran.output.contains("bytes omitted"));
}

// rows: G-16
// cases: 120
#[test]
fn a_changed_gate_is_not_run() {
    let world = World::new(suite());
    let armed = world.freeze(None);
    world.write("tests/run.sh", "touch ran; exit 0\n");
    let Err(GateError::Tampered(found)) = world.run(&armed) else {
        panic!("it was run")
    };
    assert_eq!(found[0].to_string(), "tests/run.sh was changed");
    assert!(!world.tree().join("ran").exists());
}

// rows: D-13
#[test]
fn a_stop_ends_the_gate() {
    let world = shell("sleep 600");
    let armed = world.freeze(None);
    let ran = loop_runner::gate::run(&world.context(), &armed, "x", &mut || Wish::End);
    assert!(matches!(ran, Err(GateError::Stopped)), "{ran:?}");
}

// rows: D-13
// cases: 123
#[test]
fn a_gate_is_proven_in_two_clean_checkouts() {
    let world = World::new(json!({
        "command": ["sh", "tests/run.sh"], "frozen": ["tests"], "setup": ["sh", "-c", "echo ready > made"],
    }));
    let armed = start(&world).armed;
    let proof =
        |world: &World| prove(&world.context(), &armed, "prove", &mut || Wish::GoOn).unwrap();

    world.write("lib/calc.sh", DONE);
    let proven = proof(&world);
    assert!(proven.proven, "{proven:?}");
    assert_eq!((proven.base.exit, proven.result.exit), (1, 0));
    assert_eq!(proven.result.level.number(), 2);

    // Green here, and red where nothing was left behind.
    world.write("lib/calc.sh", ". ./build/calc.sh\n");
    world.write("build/calc.sh", DONE);
    assert!(world.ran(&armed).report.green);
    let unproven = proof(&world);
    assert!(
        !unproven.proven && unproven.why.contains("clean checkout of the result"),
        "{unproven:?}"
    );
    assert_eq!(world.checkouts().len(), 0);
}

// rows: D-13
// cases: 123
#[test]
fn a_gate_that_is_green_without_the_work_proves_nothing() {
    let world = shell("exit 0");
    let armed = world.freeze(None);
    let proof = prove(&world.context(), &armed, "prove", &mut || Wish::GoOn).unwrap();
    assert_eq!(
        proof.why,
        "not proven: the gate is green without the work too"
    );
    let world = World::new(json!({"command": ["sh", "-c", "exit 1"], "setup": ["false"]}));
    let armed = world.freeze(None);
    let proof = prove(&world.context(), &armed, "prove", &mut || Wish::GoOn);
    assert!(matches!(proof, Err(GateError::Setup { .. })), "{proof:?}");
}
