//! A gate or a task that was changed after it was frozen.

use super::{GATE, head, planned, read, run, write};
use crate::support::wait_for;
use std::fs;

// rows: G-15, G-16, G-17, G-18, G-19, G-25, G-39
// cases: 120
#[test]
fn an_agent_that_touches_the_gate_ends_the_run_and_is_not_believed() {
    for (script, names) in [
        ("printf 'exit 0\\n' >scripts/verify.sh", "scripts/verify.sh"),
        ("echo '- less' >>TASK.md", "TASK.md"),
        (
            "printf 'exit 0\\n' >scripts/verify.sh; h=0000000000000000000000000000000000000000000000000000000000000000; \
             while IFS= read -r l; do case $l in verify_sha*) echo \"verify_sha256: $h\";; *) echo \"$l\";; esac; done <STATE.md >s; mv s STATE.md",
            "scripts/verify.sh",
        ),
        (
            "while IFS= read -r l; do case $l in verify_sha*) echo \"verify_sha256: 00\";; *) echo \"$l\";; esac; done <STATE.md >s; mv s STATE.md",
            "STATE.md",
        ),
        ("rm scripts/verify.sh", "scripts/verify.sh"),
        (
            "cp scripts/verify.sh v; rm scripts/verify.sh; ln -s ../v scripts/verify.sh",
            "scripts/verify.sh",
        ),
        (": >TASK.md", "TASK.md"),
    ] {
        let world = planned(GATE);
        world.role("implement", &format!("echo x >done\n{script}"));
        let ran = run(&world).rc(5);
        assert_eq!(world.roles(), ["plan", "implement"], "{script}");
        assert!(ran.out.contains("outcome: tampered\n"), "{ran:#?}");
        assert!(ran.out.contains(names), "{script}: {ran:#?}");
        assert_eq!(head(&world, "outcome"), "tampered");
        if script.starts_with("printf") {
            assert_eq!(read(&world, "scripts/verify.sh"), "exit 0\n");
        }
    }
}

// rows: G-19, G-39
#[test]
fn a_touch_a_mode_and_a_removed_state_file_are_no_tampering() {
    let world = planned(GATE);
    world.role(
        "implement",
        "touch scripts/verify.sh TASK.md; chmod 600 scripts/verify.sh TASK.md; rm -f STATE.md; echo x >done",
    );
    run(&world).rc(0);
    assert_eq!(head(&world, "outcome"), "green");
}

// rows: G-29
#[test]
fn a_pass_by_hand_sees_a_gate_that_changed_since_it_was_armed() {
    let world = planned(GATE);
    write(&world, "scripts/verify.sh", GATE);
    world.run(["iterate"]).rc(11);
    write(&world, "scripts/verify.sh", "exit 0\n");
    let ran = world.run(["iterate"]).rc(5);
    assert!(ran.out.contains("outcome: tampered\n"), "{ran:#?}");
    assert_eq!(world.count("implement"), 1);
}

// rows: G-20, G-24
#[test]
fn a_second_run_of_a_project_changes_nothing() {
    let world = planned(GATE);
    world.role("implement", "sleep 60; echo x >done");
    let first = world.start(["run"]);
    wait_for(&world.rec("taken/implement.1"));
    let files = || {
        let config = fs::read_to_string(world.data("loops/run/loop.json")).unwrap();
        [
            read(&world, "STATE.md"),
            read(&world, "STATE.prev.md"),
            config,
        ]
    };
    let before = files();
    let ran = world.run(["run", "--cap", "3"]).rc(1);
    assert!(ran.error().contains("another run"), "{ran:#?}");
    assert_eq!(files(), before);
    first.signal(rustix::process::Signal::TERM);
    let ran = first.wait();
    assert!(ran.out.contains("outcome: aborted\n"), "{ran:#?}");
    assert!(ran.out.contains("loop iterate"), "{ran:#?}");
}

// rows: G-18
#[test]
fn a_state_file_that_says_something_else_is_tampering_however_it_is_said() {
    let edit = |what: &str| {
        format!(
            "while IFS= read -r l; do case $l in {what} *) echo \"$l\";; esac; done <STATE.md >s; mv s STATE.md"
        )
    };
    for script in [
        edit(
            "verify_sha*) echo \"task_sha256: ${l#*: }\";; task_sha*) echo \"verify_sha256: ${l#*: }\";;",
        ),
        edit("verify_sha*) echo \"$l\"; echo 'verify_sha256: 00';;"),
        format!(
            "{}; dd if=/dev/zero bs=65536 count=32 >>STATE.md 2>/dev/null",
            edit("verify_sha*) echo 'verify_sha256: 00';;")
        ),
        "rm STATE.md; mkdir STATE.md".to_owned(),
    ] {
        let world = planned(GATE);
        world.role("implement", &format!("echo x >done\n{script}"));
        let ran = run(&world).rc(5);
        assert!(ran.out.contains("STATE.md"), "{script}: {ran:#?}");
    }
}

// rows: G-16, G-25
#[test]
fn a_run_that_cannot_begin_forgets_nothing_of_the_one_before() {
    let world = planned(GATE);
    write(&world, "scripts/verify.sh", GATE);
    world.role("implement", "echo 'exit 0' >scripts/verify.sh");
    world.run(["iterate"]).rc(5);
    fs::create_dir(world.project().join("STATE.prev.md")).unwrap();
    let config = fs::read(world.data("loops/run/loop.json")).unwrap();
    let ran = run(&world).rc(2);
    assert!(ran.error().contains("STATE.prev.md"), "{ran:#?}");
    world.run(["run", "--freeze", "../x"]).rc(2);
    assert_eq!(fs::read(world.data("loops/run/loop.json")).unwrap(), config);
    world.role("implement", "echo x >done");
    let ran = world.run(["iterate"]).rc(5);
    assert!(ran.out.contains("then: loop run\n"), "{ran:#?}");
    assert_eq!(world.count("implement"), 1);
}

// rows: G-14, G-18
#[test]
fn a_gate_of_ones_own_is_no_tampering() {
    let world = planned(GATE);
    world.role("implement", "echo x >done");
    world.run(["run"]).rc(0);
    fs::remove_file(world.project().join("done")).unwrap();
    let path = world.data("loops/run/loop.json");
    let config = fs::read_to_string(&path).unwrap();
    let own = config.replace("\"scripts/verify.sh\"", "\"-c\", \"[ -f done ]\"");
    assert_ne!(own, config);
    fs::write(&path, own).unwrap();
    run(&world).rc(0);
    assert_eq!(head(&world, "verify_sha256"), "-");
}
