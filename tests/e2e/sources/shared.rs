//! Items that are worked on one after the other in one worktree (decision D-20).

use super::{ends, with_backlog};
use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const THREE: &str = "- [ ] **a**\n- [ ] **b**\n- [ ] **c**\n";
/// Each task writes a file of its own; `b` also changes, removes and links.
const OWN_FILE: &str = "read -r task <\"$1\"; echo \"$n\" >>\"$task.txt\"; \
    [ \"$task\" != b ] || { echo b >>a.txt; rm -f src/a; ln -sf a.txt link; }";

fn sharing(change: impl FnOnce(&mut Value)) -> World {
    let world = with_backlog(World::git(), THREE, |config| {
        config["brakes"]["on_trip"] = json!("park");
        config["blast_radius"] = json!({"use_worktree": true});
        change(config);
    });
    world.role("implement", OWN_FILE);
    world
}

fn worktree(world: &World) -> PathBuf {
    let state = world.state();
    let path = state["worktree"]["path"].as_str().unwrap();
    assert!(path.ends_with("/L/all"), "{path}");
    PathBuf::from(path)
}

/// Returns the lines of a patch that name files.
fn files_of(patch: &str) -> Vec<&str> {
    let lines = patch.lines();
    lines
        .filter_map(|line| line.strip_prefix("diff --git a/"))
        .collect()
}

// rows: X-03, S-31
// cases: 9
#[test]
fn what_is_put_aside_is_taken_out_and_the_next_item_builds_on_what_passed() {
    let world = sharing(|config| config["brakes"]["max_iterations"] = json!(2));
    world.says_at("verify", 2, verdict(false, 0.2, "h"));
    world.says_at("verify", 3, verdict(false, 0.3, "h"));
    ends(&world.tick(), "pass", "", Some("a"));
    let tree = worktree(&world);
    ends(&world.tick(), "fail", "verdict", Some("b"));
    assert!(
        tree.join("b.txt").exists(),
        "an attempt builds on the one before"
    );
    ends(&world.tick(), "parked", "max_iterations", Some("b"));

    assert_eq!(fs::read_to_string(tree.join("a.txt")).unwrap(), "1\n");
    assert_eq!(fs::read_to_string(tree.join("src/a")).unwrap(), "a\n");
    assert!(!tree.join("b.txt").exists());
    assert!(tree.join("link").symlink_metadata().is_err());
    let patch = world.output("tick3-set-aside.patch");
    assert_eq!(
        files_of(&patch),
        [
            "a.txt b/a.txt",
            "b.txt b/b.txt",
            "link b/link",
            "src/a b/src/a"
        ]
    );
    assert_eq!(world.output("tick3-set-aside/b.txt"), "2\n3\n");
    assert_eq!(world.output("tick3-set-aside/a.txt"), "1\nb\nb\n");

    ends(&world.tick(), "pass", "", Some("c"));
    let patch = world.output("tick4-changes.patch");
    assert_eq!(files_of(&patch), ["c.txt b/c.txt"]);
    assert_eq!(worktree(&world), tree, "they share it");

    world.run(["approve", "L", "b"]).rc(0);
    ends(&world.tick(), "pass", "", Some("b"));
    assert_eq!(fs::read_to_string(tree.join("c.txt")).unwrap(), "4\n");
    assert_eq!(fs::read_to_string(tree.join("b.txt")).unwrap(), "5\n");
}

// cases: 9
#[test]
fn work_that_has_passed_stays_while_a_person_has_to_approve_it() {
    let world = sharing(|config| config["approval_phases"] = json!(["implement"]));
    world.role(
        "implement",
        "read -r task <\"$1\"; echo \"$n\" >>\"$task.txt\"",
    );
    ends(&world.tick(), "parked", "approval_required", Some("a"));
    ends(&world.tick(), "parked", "approval_required", Some("b"));
    let tree = worktree(&world);
    for name in ["a.txt", "b.txt"] {
        assert!(tree.join(name).exists(), "{name}");
    }
    assert!(!world.in_loop("outputs/tick1-set-aside.patch").exists());
    world.run(["approve", "L", "a"]).rc(0);
    assert_eq!(world.phase("a"), "complete");
    assert_eq!(world.state()["parked"], json!({"b": "approval_required"}));
}

// rows: S-31
#[test]
fn what_another_item_has_changed_meanwhile_is_never_taken_out() {
    let world = sharing(|config| config["brakes"]["max_iterations"] = json!(2));
    world.role(
        "implement",
        "read -r task <\"$1\"; echo \"$n\" >>\"$task.txt\"",
    );
    world.says_at("verify", 1, verdict(false, 0.2, "h"));
    world.says_at("verify", 3, verdict(false, 0.3, "h"));
    ends(&world.tick(), "fail", "verdict", Some("a"));
    super::write_backlog(world.project(), "- [ ] **b**\n- [ ] **a**\n");
    ends(&world.tick(), "pass", "", Some("b"));
    ends(&world.tick(), "parked", "max_iterations", Some("a"));
    let tree = worktree(&world);
    assert_eq!(fs::read_to_string(tree.join("b.txt")).unwrap(), "2\n");
    assert_eq!(
        files_of(&world.output("tick3-set-aside.patch")),
        ["a.txt b/a.txt"]
    );
}
