//! Whether what judges the work is what it was.

use crate::world::{World, write};
use loop_core::gate::Baseline;
use loop_runner::gate::{
    EntryKind, Fingerprint, GateError, freeze, freeze_again, record, recorded,
};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn world() -> World {
    World::new(json!({
        "command": ["bash", "tests/run.sh"],
        "setup": ["sh", "setup.sh"],
        "frozen": ["tests/t_*.sh", "settings.sh", "not/there.tx[t]", "**/*.snap"],
    }))
}

/// What differs after `change`, as text.
fn differs(world: &World, change: fn(&World)) -> Vec<String> {
    world.reset();
    let before = world.fingerprint();
    change(world);
    let now = world.fingerprint();
    let found = before.compare(&now);
    assert_eq!(found.is_empty(), before.sha256 == now.sha256);
    found.iter().map(ToString::to_string).collect()
}

fn remove(world: &World, path: &str) {
    fs::remove_file(world.tree().join(path)).unwrap();
}

// rows: G-14, G-16, G-19
// cases: 120, 121
#[test]
fn every_change_of_what_judges_is_named() {
    let world = world();
    type Case = (fn(&World), &'static [&'static str]);
    let cases: [Case; 17] = [
        (
            |w| w.write("tests/run.sh", "exit 0\n"),
            &["tests/run.sh was changed"],
        ),
        (
            |w| w.write("tests/run.sh", ""),
            &["tests/run.sh was emptied"],
        ),
        (|w| remove(w, "tests/run.sh"), &["tests/run.sh is gone"]),
        (|w| w.write("setup.sh", "x\n"), &["setup.sh is new"]),
        (
            |w| w.write("not/there.txt", "x\n"),
            &["not/there.txt is new"],
        ),
        (
            |w| w.write("tests/t_new.sh", "x\n"),
            &["tests/t_new.sh is new"],
        ),
        (
            |w| w.write("deep/er/a.snap", "x\n"),
            &["deep/er/a.snap is new"],
        ),
        (|w| remove(w, "tests/t_add.sh"), &["tests/t_add.sh is gone"]),
        (
            |w| {
                fs::rename(w.tree().join("settings.sh"), w.tree().join("other")).unwrap();
                symlink("other", w.tree().join("settings.sh")).unwrap();
            },
            &["other is new", "settings.sh is a link now"],
        ),
        (
            |w| {
                remove(w, "settings.sh");
                fs::create_dir(w.tree().join("settings.sh")).unwrap();
            },
            &["settings.sh is a folder now"],
        ),
        (
            |w| {
                remove(w, "settings.sh");
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let kind = rustix::fs::FileType::Fifo;
                let path = w.tree().join("settings.sh");
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
            },
            &["settings.sh is no regular file any more"],
        ),
        (
            |w| {
                let file = fs::File::create(w.tree().join("settings.sh")).unwrap();
                file.set_len(1 << 40).unwrap();
            },
            &["settings.sh cannot be read any more"],
        ),
        (
            |w| {
                fs::rename(w.tree().join("tests"), w.tree().join("same")).unwrap();
                symlink("same", w.tree().join("tests")).unwrap();
            },
            &[
                "same/t_add.sh is new",
                "same/t_more.sh is new",
                "tests is new",
                "tests/run.sh is gone",
                "tests/t_add.sh is gone",
                "tests/t_more.sh is gone",
            ],
        ),
        // What does not judge, and what is the same.
        (|w| w.write("lib/calc.sh", "x\n"), &[]),
        (|w| w.write("tests/other.sh", "x\n"), &[]),
        (
            |w| {
                let file = w.tree().join("tests/run.sh");
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
                let file = fs::File::options().append(true).open(file).unwrap();
                file.set_modified(std::time::SystemTime::UNIX_EPOCH)
                    .unwrap();
            },
            &[],
        ),
        (
            |w| {
                let text = fs::read_to_string(w.tree().join("settings.sh")).unwrap();
                remove(w, "settings.sh");
                w.write("settings.sh", &text);
            },
            &[],
        ),
    ];
    for (number, (change, expected)) in cases.into_iter().enumerate() {
        assert_eq!(differs(&world, change), expected, "case {number}");
    }
}

// rows: G-19
// cases: 120
#[test]
fn what_a_frozen_link_leads_to_is_frozen_with_it() {
    let world = World::new(json!({"command": ["sh", "verify"], "frozen": ["checks"]}));
    symlink("tests/run.sh", world.tree().join("verify")).unwrap();
    symlink("tests", world.tree().join("checks")).unwrap();
    symlink("/etc/hostname", world.tree().join("tests/outside")).unwrap();
    symlink("gone", world.tree().join("tests/dangling")).unwrap();
    symlink("..", world.tree().join("tests/up")).unwrap();
    let before = world.fingerprint();
    for path in ["tests/run.sh", "tests/t_add.sh"] {
        let text = fs::read_to_string(world.tree().join(path)).unwrap();
        world.write(path, "exit 0\n");
        let found = before.compare(&world.fingerprint());
        assert_eq!(found[0].to_string(), format!("{path} was changed"));
        world.write(path, &text);
    }
    assert_eq!(before.compare(&world.fingerprint()), []);
}

// rows: G-14, D-13
// cases: 121
#[test]
fn the_program_that_is_run_is_part_of_it() {
    // `tools` is the first element of the child's PATH, and relative.
    let world = World::new(json!({"command": ["bash", "tests/run.sh"]}));
    let program = |text: &str| {
        world.write("tools/bash", text);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(world.tree().join("tools/bash"), mode).unwrap();
        world.fingerprint()
    };
    let before = world.fingerprint();
    let shadowed = program("#!/bin/sh\nexit 0\n");
    assert_eq!(shadowed.program(), Some("tools/bash"));
    let found = before.compare(&shadowed);
    assert!(
        found[0]
            .to_string()
            .starts_with("tools/bash is run instead of /"),
        "{found:?}"
    );
    let changed = program("#!/bin/sh\nexit 1\n");
    assert_eq!(
        shadowed.compare(&changed)[0].to_string(),
        "tools/bash was changed"
    );
}

// rows: G-14, D-13
#[test]
fn the_settings_and_the_overlay_are_part_of_it() {
    let mut world = World::new(json!({"command": ["true"]}));
    let overlay = world.root().join("overlay");
    write(&overlay, "check.sh", "exit 1\n");
    let gate = json!({"command": ["sh", "check.sh"], "overlay": overlay});
    world.configure(gate.clone());
    let before = world.fingerprint();
    write(&overlay, "check.sh", "exit 0\n");
    let found = before.compare(&world.fingerprint());
    assert_eq!(found[0].to_string(), "gate.overlay: check.sh was changed");
    write(&overlay, "check.sh", "exit 1\n");

    for changed in [
        json!({"command": ["true"], "overlay": overlay}),
        json!({"command": ["sh", "check.sh"], "overlay": overlay, "min_tests": 1}),
        json!({"command": ["sh", "check.sh"], "overlay": overlay, "frozen": ["x"]}),
    ] {
        world.configure(changed);
        let found = before.compare(&world.fingerprint());
        assert!(
            found
                .iter()
                .any(|m| m.to_string() == "loop.json has another gate"),
            "{found:?}"
        );
    }
    // How long it may take does not say what it is.
    let mut slower = gate;
    slower["timeout_seconds"] = json!(5);
    world.configure(slower);
    assert_eq!(before.compare(&world.fingerprint()), []);
}

// rows: D-13
#[test]
fn an_overlay_that_the_agent_can_find_is_refused() {
    let mut world = World::new(json!({"command": ["true"]}));
    let tree = world.tree();
    let project = world.root().join("project");
    fs::create_dir_all(tree.join("inside")).unwrap();
    symlink(&project, world.root().join("link")).unwrap();
    for overlay in [
        json!("tests"),
        json!(project.join(".automaton")),
        json!(tree.join("inside")),
        json!(world.root().join("link/tests")),
        json!(world.root().join("missing")),
    ] {
        world.configure(json!({"command": ["true"], "overlay": overlay}));
        let taken = Fingerprint::of(&world.context(), &[]);
        assert!(
            matches!(taken, Err(GateError::Overlay { .. })),
            "{overlay}: {taken:?}"
        );
    }
    fs::create_dir_all(world.root().join("home/accept")).unwrap();
    world.configure(json!({"command": ["true"], "overlay": "~/accept"}));
    assert!(Fingerprint::of(&world.context(), &[]).is_ok());
}

// rows: G-14, G-15, G-17, G-18
#[test]
fn further_paths_are_frozen_and_the_record_of_it_is_checked() {
    let world = world();
    world.write("TASK.md", "Make it add.\n");
    let armed = freeze(&world.context(), &["TASK.md"], None).unwrap();
    assert_eq!(armed.fingerprint.files()["TASK.md"].kind, EntryKind::File);
    assert_eq!(armed.compare(&world.context()).unwrap(), []);
    let frozen = record(&world.setup, "t", &armed).unwrap();
    assert_eq!(recorded(&frozen).unwrap(), armed);

    world.write("TASK.md", "Do nothing.\n");
    let found = armed.compare(&world.context()).unwrap();
    assert_eq!(found[0].to_string(), "TASK.md was changed");

    // Whoever edits what was kept cannot edit the digest in the loop's record.
    let text = fs::read_to_string(&frozen.parts.path).unwrap();
    let digest = &armed.fingerprint.files()["TASK.md"].sha256;
    fs::write(
        &frozen.parts.path,
        text.replace(digest.as_str(), &"0".repeat(64)),
    )
    .unwrap();
    assert!(matches!(recorded(&frozen), Err(GateError::NotKept { .. })));
}

// rows: D-13
// cases: 155
#[test]
fn a_name_that_is_no_text_is_frozen_too() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new(json!({"command": ["true"], "frozen": ["odd"]}));
    let path = world
        .tree()
        .join("odd")
        .join(std::ffi::OsStr::from_bytes(b"\xff\n"));
    fs::create_dir(world.tree().join("odd")).unwrap();
    if fs::write(&path, "x").is_err() {
        // Some file systems take text only.
        return;
    }
    let before = world.fingerprint();
    assert_eq!(
        before.files().keys().collect::<Vec<_>>(),
        ["odd/\\xff\\x0a"]
    );
    fs::write(&path, "y").unwrap();
    let found = before.compare(&world.fingerprint());
    assert_eq!(found[0].to_string(), "odd/\\xff\\x0a was changed");
}

// rows: G-19
// cases: 120
#[test]
fn a_gate_that_cannot_be_read_any_more_is_not_what_it_was() {
    let mut world = World::new(json!({"command": ["true"]}));
    let overlay = world.root().join("overlay");
    write(&overlay, "check.sh", "exit 1\n");
    world.configure(json!({"command": ["sh", "check.sh"], "overlay": overlay}));
    let armed = world.freeze(None);
    fs::remove_dir_all(&overlay).unwrap();
    let found = armed.compare(&world.context()).unwrap();
    assert!(
        found[0]
            .to_string()
            .starts_with("the gate cannot be read any more"),
        "{found:?}"
    );
}

// rows: D-7, D-13, G-17
// cases: 117
#[test]
fn freezing_again_overwrites_nothing_and_loses_nothing() {
    let world = world();
    world.write("TASK.md", "Make it add.\n");
    let baseline = Baseline {
        tests: Some(3),
        names: None,
    };
    let armed = freeze(&world.context(), &["TASK.md"], Some(baseline)).unwrap();
    let first = record(&world.setup, "t", &armed).unwrap();
    world.write("settings.sh", "# better\n");
    let second = freeze_again(&world.context(), "t", &first).unwrap();
    assert_ne!(first.parts.path, second.parts.path);
    assert_eq!(
        recorded(&first).unwrap(),
        armed,
        "the loop may go on with it"
    );
    let again = recorded(&second).unwrap();
    assert_eq!(
        (&again.baseline, &again.extra),
        (&armed.baseline, &armed.extra)
    );
    assert_eq!(again.compare(&world.context()).unwrap(), []);

    fs::remove_file(&first.parts.path).unwrap();
    let refused = freeze_again(&world.context(), "t", &first).unwrap_err();
    assert!(matches!(refused, GateError::NotKept { .. }), "{refused}");
    assert!(refused.to_string().contains("loop set-task"), "{refused}");
}
