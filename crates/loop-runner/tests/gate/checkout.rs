//! What a clean checkout holds, and what it does not.

use crate::world::{FILES, World, write};
use loop_runner::gate::{Checkout, GateError, clean_up};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn files(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                let path = entry.path();
                found.insert(
                    path.strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found
}

fn names(extra: &[&str], missing: &[&str]) -> BTreeSet<String> {
    let all = FILES
        .iter()
        .map(|(path, _)| *path)
        .chain(extra.iter().copied());
    all.filter(|path| !missing.contains(path))
        .map(str::to_owned)
        .collect()
}

// rows: D-13
// cases: 89, 123
#[test]
fn it_holds_what_the_attempt_consists_of_and_nothing_that_was_left_behind() {
    let world = World::new(json!({"command": ["true"]}));
    world.write("lib/new.sh", "new\n");
    world.write("lib/calc.sh", "changed\n");
    fs::remove_file(world.tree().join("README.md")).unwrap();
    world.write("build/calc.o", "left behind\n");
    world.write(".env", "KEY=1\n");
    world.write("ä b", "x\n");
    symlink("/etc/passwd", world.tree().join("out")).unwrap();
    symlink("../t/build/calc.o", world.tree().join("back")).unwrap();
    symlink("lib/new.sh", world.tree().join("in")).unwrap();
    fs::set_permissions(
        world.tree().join("bin/calc"),
        fs::Permissions::from_mode(0o4755),
    )
    .unwrap();

    let checkout = Checkout::of_result(&world.context()).unwrap();
    let project = checkout.project();
    assert_eq!(
        files(project),
        names(&["lib/new.sh", "ä b", "in"], &["README.md"])
    );
    assert_eq!(
        fs::read_to_string(project.join("lib/calc.sh")).unwrap(),
        "changed\n"
    );
    assert_eq!(
        fs::read_link(project.join("in")).unwrap(),
        Path::new("lib/new.sh")
    );
    let mode = fs::metadata(project.join("bin/calc"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert!(
        !project.starts_with(world.tree()) && !project.starts_with(world.root().join("project"))
    );

    let base = Checkout::of_base(&world.context()).unwrap();
    assert_eq!(files(base.project()), names(&[], &[]));
    assert_eq!(world.checkouts().len(), 2);
    drop((base, checkout));
    assert_eq!(world.checkouts().len(), 0);
}

// rows: D-13, D-21
// cases: 88
#[test]
fn frozen_files_lie_over_whatever_the_agent_put_in_their_place() {
    let world =
        World::new(json!({"command": ["sh", "tests/run.sh"], "frozen": ["tests", "gone.tx[t]"]}));
    let armed = world.freeze(None);
    let outside = world.root().join("outside");
    write(&outside, "run.sh", "precious\n");
    let tests = world.tree().join("tests");
    let plants: [fn(&Path, &Path); 3] = [
        |tests, outside| {
            fs::remove_dir_all(tests).unwrap();
            symlink(outside, tests).unwrap();
        },
        |tests, outside| {
            fs::remove_file(tests.join("run.sh")).unwrap();
            symlink(outside.join("run.sh"), tests.join("run.sh")).unwrap();
        },
        |tests, _| {
            fs::write(tests.join("extra.sh"), "x").unwrap();
            fs::write(tests.parent().unwrap().join("gone.txt"), "x").unwrap();
            fs::remove_file(tests.join("run.sh")).unwrap();
            fs::create_dir_all(tests.join("run.sh/deep")).unwrap();
        },
    ];
    for (number, plant) in plants.into_iter().enumerate() {
        world.reset();
        plant(&tests, &outside);
        let mut checkout = Checkout::of_result(&world.context()).unwrap();
        checkout.lay(&world.context(), &armed.fingerprint).unwrap();
        assert_eq!(files(checkout.project()), names(&[], &[]), "{number}");
        let script = fs::read_to_string(checkout.project().join("tests/run.sh")).unwrap();
        let (_, frozen) = FILES
            .iter()
            .find(|(path, _)| *path == "tests/run.sh")
            .unwrap();
        assert_eq!(script, *frozen, "{number}");
        assert_eq!(
            fs::read_to_string(outside.join("run.sh")).unwrap(),
            "precious\n"
        );
        assert_eq!(checkout.changed(&world.context()).unwrap(), []);
    }
}

// rows: D-13
#[test]
fn a_frozen_file_that_is_not_kept_as_it_was_is_told() {
    let world = World::new(json!({"command": ["sh", "tests/run.sh"]}));
    let armed = world.freeze(None);
    let digest = &armed.fingerprint.files()["tests/run.sh"].sha256;
    let kept = world.setup.dir.root().join("gate").join(digest);
    for content in [Some("exit 0\n"), None] {
        match content {
            Some(content) => fs::write(&kept, content).unwrap(),
            None => fs::remove_file(&kept).unwrap(),
        }
        let mut checkout = Checkout::of_result(&world.context()).unwrap();
        let laid = checkout.lay(&world.context(), &armed.fingerprint);
        assert!(matches!(laid, Err(GateError::NotKept { .. })), "{laid:?}");
    }
}

// rows: D-13
#[test]
fn the_overlay_is_there_for_the_run_only_and_has_to_be_the_frozen_one() {
    let mut world = World::new(json!({"command": ["true"]}));
    let overlay = world.root().join("overlay");
    write(
        &overlay,
        "accept/check.sh",
        "cat accept/secret; test -e tests/run.sh; exit 1\n",
    );
    write(&overlay, "accept/secret", "42\n");
    write(&overlay, "accept/__pycache__/a.pyc", "1\n");
    world.configure(json!({"command": ["sh", "accept/check.sh"], "overlay": overlay}));
    let armed = world.freeze(None);
    write(&overlay, "accept/__pycache__/a.pyc", "2\n");
    let ran = world.ran(&armed);
    assert_eq!(ran.output, "42\n");
    assert_eq!(ran.report.level.number(), 3);
    assert!(!world.tree().join("accept").exists());
    assert_eq!(world.checkouts().len(), 0);

    let mut checkout = Checkout::of_result(&world.context()).unwrap();
    write(&overlay, "accept/more", "x\n");
    let laid = checkout.lay_overlay(&world.context(), &armed.fingerprint);
    assert!(matches!(laid, Err(GateError::Tampered(_))), "{laid:?}");
}

// rows: D-13, D-23
#[test]
fn it_has_an_environment_of_its_own() {
    let world = World::new(json!({
        "command": ["sh", "-c", "echo \"$TMPDIR\"; pwd; ls -A \"$TMPDIR\"; exit 1"], "where": "clean",
    }));
    let ran = world.ran(&world.freeze(None));
    let lines: Vec<_> = ran.output.lines().map(Path::new).collect();
    assert_eq!(lines.len(), 2, "{}", ran.output);
    assert_eq!(lines[0].parent(), lines[1].parent());
    assert!(!lines[0].exists() && !lines[1].exists());
    assert_eq!(world.ran(&world.freeze(None)).report.output.len(), 64);
}

// rows: D-13
#[test]
fn what_a_killed_engine_left_is_removed_at_the_next_start() {
    let world = World::new(json!({"command": ["true"]}));
    let used = Checkout::of_result(&world.context()).unwrap();
    let left = Checkout::of_result(&world.context()).unwrap();
    let left_at = left.project().to_owned();
    // As after a kill: the lock is free, and nobody has removed the folder.
    let copy = left_at.parent().unwrap().with_file_name(".gate-dead");
    fs::create_dir_all(copy.join("tree/read-only")).unwrap();
    fs::write(copy.join("tree/read-only/file"), "x").unwrap();
    fs::write(copy.join("lock"), "").unwrap();
    fs::set_permissions(
        copy.join("tree/read-only"),
        fs::Permissions::from_mode(0o500),
    )
    .unwrap();
    clean_up(&world.setup).unwrap();
    assert!(!copy.exists());
    assert!(used.project().exists() && left_at.exists());
}

// rows: D-13
// cases: 88
#[test]
fn a_gate_that_makes_its_checkout_read_only_leaves_nothing_behind() {
    let world = World::new(json!({
        "command": ["sh", "-c", "mkdir -p a/b; : > a/b/c; chmod 500 a/b a; exit 1"], "where": "clean",
    }));
    world.ran(&world.freeze(None));
    assert_eq!(world.checkouts().len(), 0);
}

// rows: D-13
// cases: 89, 123
#[test]
fn links_that_lead_out_are_told() {
    let world = World::new(json!({"command": ["sh", "-c", "cat data; exit 0"], "where": "clean"}));
    world.write("build/data", "left behind\n");
    symlink(world.tree().join("build/data"), world.tree().join("data")).unwrap();
    let ran = world.ran(&world.freeze(None));
    assert!(!ran.output.contains("left behind"), "{}", ran.output);
    let flag = "links that lead out of the project are left out: data";
    assert!(ran.report.flags.iter().any(|told| told == flag), "{ran:?}");
}

// rows: D-13
// cases: 88
#[test]
fn a_file_that_is_too_long_is_not_copied_at_all() {
    let world = World::new(json!({"command": ["true"]}));
    let file = fs::File::create(world.tree().join("long")).unwrap();
    file.set_len(100 << 30).unwrap();
    let made = Checkout::of_result(&world.context());
    assert!(matches!(made, Err(GateError::TooMuch { .. })), "{made:?}");
    assert_eq!(world.checkouts().len(), 0);
}

// rows: D-13
#[test]
fn what_is_set_up_finds_no_overlay_and_judges_nothing() {
    let mut world = World::new(json!({"command": ["true"]}));
    let overlay = world.root().join("overlay");
    write(
        &overlay,
        "accept/check.sh",
        "ls; cat made tests/t_*; exit 1\n",
    );
    world.configure(json!({
        "command": ["sh", "accept/check.sh"], "overlay": overlay, "frozen": ["tests"],
        "setup": ["sh", "-c", "ls > made; echo planted | tee tests/t_add.sh > tests/t_new.sh; \
                  mkdir -p tests/node_modules accept; echo lib > tests/node_modules/t_lib; echo x > accept/check.sh"],
    }));
    let ran = world.ran(&world.freeze(None));
    let listed: Vec<_> = ran.output.split_whitespace().collect();
    assert_eq!(
        listed.iter().filter(|word| **word == "accept").count(),
        1,
        "{}",
        ran.output
    );
    assert!(
        !ran.output.contains("planted") && ran.output.contains("two and three"),
        "{}",
        ran.output
    );
    assert_eq!(ran.changed, []);
}
