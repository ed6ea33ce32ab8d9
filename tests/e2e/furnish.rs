//! A new worktree is made usable, and a tick is foretold without being made.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn furnished(blast_radius: Value) -> World {
    let world = World::git();
    fs::write(world.project().join(".gitignore"), ".env\n").unwrap();
    world.git_says(&["add", ".gitignore"]);
    world.git_says(&["commit", "--quiet", "-m", "ignore", "--", ".gitignore"]);
    fs::write(world.project().join(".env"), "KEY=1\n").unwrap();
    let mut world = world.with(|config| config["blast_radius"] = blast_radius);
    world.user_changed_something();
    world.says("verify", verdict(false, 0.2, "h"));
    world
}

fn cwd(world: &World) -> PathBuf {
    world.calls()[0].cwd.clone()
}

// cases: 96, 97
#[test]
fn a_new_worktree_gets_its_copies_and_its_set_up_once() {
    let world = furnished(json!({
        "use_worktree": true,
        "copy": [".env", "not-there"],
        "setup": ["sh", "-c", "cat .env && echo \"role=[$AUTOMATON_ROLE]\" && echo x >> made"],
    }));
    world.tick();
    let log = world.log();
    assert!(log.contains("nothing matches not-there"), "{log}");
    assert!(!log.contains(".env is not ignored"), "{log}");
    assert_eq!(
        fs::read_to_string(cwd(&world).join(".env")).unwrap(),
        "KEY=1\n"
    );
    assert_eq!(world.output("tick1-setup-stdout.log"), "KEY=1\nrole=[]\n");
    world.tick();
    assert_eq!(fs::read_to_string(cwd(&world).join("made")).unwrap(), "x\n");
    assert!(!world.in_loop("outputs/tick2-setup-stdout.log").exists());
}

// rows: B-19
// cases: 39
#[test]
fn a_set_up_that_fails_is_the_environments_fault_and_runs_again() {
    let world = furnished(json!({
        "use_worktree": true,
        "setup": ["sh", "-c", "test -e \"$AUTOMATON_PROJECT/ready\""],
    }));
    let first = world.tick();
    assert_eq!(first["outcome"], "environment");
    assert_eq!(first["reason"], "setup_failed");
    assert_eq!(first["iteration"], 0, "nothing was spent");
    assert_eq!(world.count("implement"), 0);
    fs::write(world.project().join("ready"), "").unwrap();
    assert_eq!(world.tick()["outcome"], "fail");
    assert_eq!(world.count("implement"), 1);
    fs::remove_file(world.project().join("ready")).unwrap();
}

#[test]
fn two_tasks_share_one_worktree_where_they_build_on_each_other() {
    let world = furnished(json!({"use_worktree": true, "worktree_for": "loop"}));
    world.says("verify", verdict(true, 1.0, ""));
    world.configure(|config| {
        config["phases"] = json!(["implement"]);
        config["approval_phases"] = json!([]);
    });
    world.tick();
    assert!(cwd(&world).ends_with("L/all"), "{:?}", cwd(&world));
    world.task("t2", "more");
    world.run(["set-task", "L", "t2"]).rc(0);
    assert_eq!(world.tick()["task"], "t2");
    let places: Vec<_> = world.calls().into_iter().map(|call| call.cwd).collect();
    assert!(
        places.iter().all(|place| *place == cwd(&world)),
        "{places:?}"
    );
    let branches = world.git_says(&[
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/heads/loop",
    ]);
    assert_eq!(branches, "loop/L/all\n");
}

// rows: C-18
#[test]
fn a_dry_run_shows_what_would_be_sent_and_changes_nothing() {
    let world = furnished(json!({"use_worktree": true}));
    let before = world.state();
    let run = world.run(["tick", "L", "--dry-run"]).rc(0);
    for shown in [
        "t1",
        "brief=BRIEF",
        "brakes.max_iterations",
        "cost: no cap",
        "L/t1",
    ] {
        assert!(run.out.contains(shown), "{shown} in {}", run.out);
    }
    assert_eq!(world.state(), before);
    assert_eq!(world.calls().len(), 0);
    assert!(!world.home().join(".automaton/worktrees").exists());
    assert!(!world.in_loop("outputs").exists());
    world.run(["pause", "L"]).rc(0);
    let run = world.run(["tick", "L", "--dry-run"]).rc(0);
    assert!(
        run.out.contains("do nothing: the loop is paused"),
        "{}",
        run.out
    );
}
