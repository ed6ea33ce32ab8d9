//! `loop worktree`: what is listed, what is removed, and what never is.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A world whose loop has finished `t1` in a worktree, which is returned.
fn finished(script: &str) -> (World, PathBuf) {
    let world = World::git().with(|config| {
        config["blast_radius"] = json!({"use_worktree": true});
        config["phases"] = json!(["implement"]);
        config["approval_phases"] = json!([]);
    });
    world.role("implement", script);
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
    let path = row(&world)["path"].as_str().unwrap().into();
    (world, path)
}

/// Does work that is committed on the loop's branch.
const COMMITTED: &str =
    "echo a >new; git add new; git -c user.name=a -c user.email=a@b commit --quiet -m work";

fn rows(world: &World, args: &[&str]) -> Vec<Value> {
    let all = [&["worktree"], args, &["--json"]].concat();
    let mut told = world.run(all).rc(0).json();
    assert_eq!(told["v"], 1);
    told["worktrees"].take().as_array().unwrap().clone()
}

/// The one worktree that is listed.
#[track_caller]
fn row(world: &World) -> Value {
    let rows = rows(world, &["list"]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0].clone()
}

#[track_caller]
fn pruned(world: &World) -> Value {
    let rows = rows(world, &["prune", "--yes"]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0].clone()
}

fn is_registered(world: &World, path: &Path) -> bool {
    let listed = world.git_says(&["worktree", "list", "--porcelain"]);
    listed.contains(&format!("worktree {}\n", path.display()))
}

// cases: 94, 97
#[test]
fn worktrees_are_listed_with_what_they_hold() {
    let world = World::git();
    for (args, said) in [
        (&["list"][..], "no worktrees\n"),
        (&["prune"], "there is nothing to remove\n"),
        (&["prune", "--yes"], "no worktrees\n"),
    ] {
        let told = world.run([&["worktree"], args].concat()).rc(0);
        assert_eq!(told.out, said);
    }
    drop(world);

    let (world, path) = finished(COMMITTED);
    let listed = row(&world);
    assert_eq!(listed["loop"], "L");
    assert_eq!(listed["task"], "t1");
    assert_eq!(listed["branch"], "loop/L/t1");
    assert_eq!(listed["state"], "finished");
    assert_eq!(listed["unsaved"], 0);
    assert!(listed["bytes"].as_u64().unwrap() > 0);
    assert!(listed["changed_at"].is_string());
    fs::write(path.join("mine"), "x").unwrap();
    assert_eq!(row(&world)["unsaved"], 1);
    let told = world.run(["worktree", "list"]).rc(0).out;
    assert!(told.starts_with("L/t1  finished  "), "{told}");
    assert!(told.contains("unsaved work in 1 file  "), "{told}");
}

// cases: 94
#[test]
fn nothing_is_removed_without_a_word_or_by_an_agent() {
    let (world, path) = finished(COMMITTED);
    let told = world.run(["worktree", "prune"]).rc(0).out;
    assert!(told.starts_with("would remove  L/t1"), "{told}");
    assert!(told.contains("--yes"), "{told}");
    assert_eq!(rows(&world, &["prune"])[0]["action"], "would_remove");
    let mut command = world.command(["worktree", "prune", "--yes"]);
    command.env("AUTOMATON_ROLE", "implement");
    world.finish(command).rc(3);
    assert!(path.join("new").is_file());
}

// cases: 94, 97
#[test]
fn a_finished_worktree_goes_and_its_branch_stays() {
    let (world, path) = finished(COMMITTED);
    let outside = world.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "mine").unwrap();
    fs::create_dir(path.join("ignored")).unwrap();
    fs::write(path.join("ignored/.gitignore"), "*\n").unwrap();
    symlink(&outside, path.join("ignored/link")).unwrap();

    let gone = pruned(&world);
    assert_eq!(gone["action"], "removed", "{gone}");
    assert_eq!(gone["patch"], Value::Null);
    assert!(!path.exists());
    assert!(!is_registered(&world, &path));
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"mine");
    world.git_says(&["cat-file", "-e", "loop/L/t1:new"]);
    assert_eq!(world.git_says(&["fsck", "--no-progress"]), "");
    assert!(rows(&world, &["list"]).is_empty());
    assert!(!world.data("salvaged").exists());
}

// cases: 94
#[test]
fn unsaved_work_is_saved_before() {
    let (world, path) = finished("echo changed >README.md");
    fs::write(path.join("mine"), "a line\n").unwrap();
    fs::create_dir(path.join("bin")).unwrap();
    fs::write(path.join("bin/tool"), b"\0binary").unwrap();
    let gone = pruned(&world);
    assert_eq!(gone["action"], "removed", "{gone}");
    assert!(!path.exists());

    let patch = gone["patch"].as_str().unwrap();
    assert!(Path::new(patch).starts_with(world.data("salvaged")));
    let text = fs::read_to_string(patch).unwrap();
    assert!(
        text.contains("+changed\n") && text.contains("+a line\n"),
        "{text}"
    );
    let files = Path::new(gone["files"].as_str().unwrap());
    assert_eq!(fs::read(files.join("bin/tool")).unwrap(), b"\0binary");
    let status = world.git_says(&[
        "status",
        "--porcelain",
        "-uall",
        "--",
        ".automaton/salvaged",
    ]);
    assert_eq!(status, "");
}

// cases: 94
#[test]
fn what_is_needed_or_cannot_be_saved_stays() {
    type Spoil = fn(&World, &Path);
    let cases: [(&str, Spoil, &str); 4] = [
        (
            "git checkout --quiet --detach; echo a >new; git add new; git -c user.name=a -c user.email=a@b commit --quiet -m work",
            |_, _| {},
            "which no branch has",
        ),
        (
            "git init --quiet --template= nested; echo a >nested/x; echo a >new",
            |_, _| {},
            "a repository of its own",
        ),
        (
            COMMITTED,
            |world, path| {
                world.git_says(&["worktree", "lock", path.to_str().unwrap()]);
            },
            "locked",
        ),
        (
            COMMITTED,
            |_, path| fs::write(path.join(".git"), "gitdir: /tmp\n").unwrap(),
            "was replaced",
        ),
    ];
    for (script, spoil, why) in cases {
        let (world, path) = finished(script);
        spoil(&world, &path);
        let told = world
            .run(["worktree", "prune", "--yes", "--json"])
            .rc(1)
            .json();
        let kept = &told["worktrees"][0];
        assert_eq!(kept["action"], "kept", "{kept}");
        assert!(kept["why"].as_str().unwrap().contains(why), "{kept}");
        assert!(path.join("new").is_file());
        assert!(is_registered(&world, &path));
    }
}

// cases: 94
#[test]
fn a_worktree_in_use_stays() {
    let world = World::git().with(|config| config["blast_radius"] = json!({"use_worktree": true}));
    world.says("verify", verdict(false, 0.2, "h"));
    world.tick();
    assert_eq!(row(&world)["state"], "in_use");
    let kept = pruned(&world);
    assert_eq!(kept["action"], "kept");
    assert_eq!(kept["why"], "it is in use");
    assert!(Path::new(kept["path"].as_str().unwrap()).is_dir());

    // A record that cannot be read may say that it is in use.
    fs::write(world.in_loop("events.jsonl"), "x\n{}\n").unwrap();
    fs::remove_file(world.in_loop(".state.json")).unwrap();
    assert_eq!(pruned(&world)["state"], "unknown");
    assert_eq!(pruned(&world)["action"], "kept");
}

// cases: 94, 97
#[test]
fn the_worktree_of_a_loop_that_is_gone_is_an_orphan() {
    let (world, path) = finished(COMMITTED);
    fs::remove_dir_all(world.in_loop("")).unwrap();
    assert_eq!(row(&world)["state"], "orphan");
    // A folder that git does not know is nobody's to remove.
    let stray = path.with_file_name("stray");
    fs::create_dir(&stray).unwrap();
    fs::write(stray.join("mine"), "x").unwrap();
    let told = world
        .run(["worktree", "prune", "--yes", "--json"])
        .rc(1)
        .json();
    let actions: Vec<_> = told["worktrees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["task"].as_str().unwrap(),
                row["action"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(actions, [("stray", "kept"), ("t1", "removed")]);
    assert!(!path.exists() && stray.join("mine").is_file());
}
