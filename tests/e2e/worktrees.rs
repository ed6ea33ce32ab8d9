//! Work in a worktree: made, used again, refused with its reason.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn in_worktree(world: World) -> World {
    let world = world.with(|config| config["blast_radius"] = json!({"use_worktree": true}));
    world.says("verify", verdict(false, 0.2, "h"));
    world
}

/// Returns the paths of the worktrees that git knows beside the project.
fn worktrees(world: &World) -> Vec<PathBuf> {
    let listed = world.git_says(&["worktree", "list", "--porcelain"]);
    listed
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .map(PathBuf::from)
        .filter(|path| path != world.project())
        .collect()
}

// scenarios: 13
// rows: X-01, X-03, X-04, H-15
// cases: 99
#[test]
fn a_task_is_worked_on_in_one_worktree_and_the_users_tree_stays() {
    let world = in_worktree(World::git());
    let before = world.git_says(&["status", "--porcelain", "-uall", "--", ".", ":!.automaton"]);
    world.tick();
    world.says_at("verify", 2, verdict(false, 0.3, "h"));
    world.tick();
    let worktrees = worktrees(&world);
    let [worktree] = &worktrees[..] else {
        panic!("not one worktree: {worktrees:?}")
    };
    assert!(worktree.starts_with(world.home().join(".automaton/worktrees")));
    assert!(worktree.ends_with("L/t1"), "{worktree:?}");
    let branch = world.git_says(&[
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/heads/loop",
    ]);
    assert_eq!(branch, "loop/L/t1\n");
    for call in world.calls() {
        assert_eq!(&call.cwd, worktree);
    }
    for tick in [1, 2] {
        let prompt = world.output(&format!("tick{tick}-implement-prompt.md"));
        assert!(
            prompt.ends_with(&format!("cwd={}", worktree.display())),
            "{prompt}"
        );
    }
    assert_eq!(
        fs::read_to_string(worktree.join("work.txt")).unwrap(),
        "1\n2\n"
    );
    assert!(!world.project().join("work.txt").exists());
    let after = world.git_says(&["status", "--porcelain", "-uall", "--", ".", ":!.automaton"]);
    assert_eq!(after, before);
    // The user's edit and new files are theirs alone.
    assert_eq!(
        fs::read_to_string(worktree.join("README.md")).unwrap(),
        "first\n"
    );
    assert!(!worktree.join("scratch.txt").exists());
}

// rows: X-02
#[test]
fn without_a_worktree_the_project_is_worked_on() {
    let world = World::git().with_loop();
    world.says("verify", verdict(true, 1.0, ""));
    world.tick();
    assert_eq!(world.calls()[0].cwd, world.project());
    assert!(worktrees(&world).is_empty());
}

// rows: X-14
#[test]
fn the_runner_makes_the_worktree_not_the_agent() {
    let world = in_worktree(World::git());
    world.configure(|config| config["harness"]["command"] = json!(["true"]));
    world.program("true", "#!/bin/sh\n");
    assert_eq!(world.tick()["reason"], "empty");
    assert_eq!(worktrees(&world).len(), 1);
}

// scenarios: 13
// rows: X-05
// cases: 83, 102
#[test]
fn without_a_repository_or_a_commit_no_tick_works() {
    let no_commit = World::plain();
    no_commit.git_says(&["init", "--quiet", "--template=", "--initial-branch=main"]);
    let mut no_commit = no_commit;
    no_commit.user_changed_something();
    for (world, mend) in [
        (World::plain(), "git init"),
        (no_commit, "commit --allow-empty"),
    ] {
        let world = in_worktree(world);
        let told = world.run(["tick", "L", "--json"]).rc(1).json();
        assert_eq!(told["outcome"], "error");
        assert_eq!(told["reason"], "worktree_failed");
        assert!(told["why"].as_str().unwrap().contains(mend), "{told}");
        assert_eq!(told["next"]["needs"], "fix");
        assert_eq!(told["iteration"], 0);
        assert!(world.calls().is_empty());
    }
}

// scenarios: 13
// rows: X-13
#[test]
fn the_old_spelling_is_read_and_warned_of() {
    let world = World::git().with(|config| config["blast_radius"] = json!({"worktree": true}));
    world.says("verify", verdict(true, 1.0, ""));
    let run = world.run(["tick", "L"]).rc(0);
    assert!(run.err.contains("warning: loop.json:1:"), "{run:#?}");
    assert!(run.err.contains("use_worktree"), "{run:#?}");
    assert!(world.log().contains("WARNING"), "{}", world.log());
    assert_eq!(worktrees(&world).len(), 1);
}

// cases: 84
#[test]
fn the_base_is_the_current_commit_wherever_head_is() {
    let mut world = World::git();
    world.git_says(&["checkout", "--quiet", "--detach"]);
    world.user_changed_something();
    let world = in_worktree(world);
    world.tick();
    assert_eq!(worktrees(&world).len(), 1);
    assert_eq!(
        world.git_says(&["rev-parse", "loop/L/t1"]),
        world.git_says(&["rev-parse", "HEAD"])
    );
}

// cases: 80
#[test]
fn what_a_crash_left_of_a_worktree_is_used_again_and_what_is_foreign_refused() {
    // The branch is there and the worktree is not.
    let world = in_worktree(World::git());
    world.git_says(&["branch", "loop/L/t1"]);
    assert_eq!(world.tick()["outcome"], "fail");

    // The folder is gone, its registration is not.
    let world = in_worktree(World::git());
    world.tick();
    let path = worktrees(&world).remove(0);
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(world.tick()["tick"], 2);
    assert!(path.join("src/a").is_file());

    // Somebody else's files are in its place.
    let world = in_worktree(World::git());
    world.tick();
    let path = worktrees(&world).remove(0);
    world.task("t2", "B");
    world.run(["set-task", "L", "t2"]).rc(0);
    let place = path.with_file_name("t2");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("precious"), "mine").unwrap();
    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    assert_eq!(told["reason"], "worktree_failed", "{told}");
    assert_eq!(fs::read_to_string(place.join("precious")).unwrap(), "mine");
    assert_eq!(world.count("implement"), 1);
}

// cases: 82
#[test]
fn a_branch_that_is_checked_out_by_the_user_is_left_alone() {
    let mut world = World::git();
    world.git_says(&["checkout", "--quiet", "-b", "loop/L/t1"]);
    world.user_changed_something();
    let world = in_worktree(world);
    let told = world.run(["tick", "L", "--json"]).rc(1).json();
    assert_eq!(told["reason"], "worktree_failed", "{told}");
    let why = told["why"].as_str().unwrap();
    assert!(why.contains("'loop/L/t1' is checked out at"), "{told}");
    assert!(world.calls().is_empty());
    assert!(worktrees(&world).is_empty());
}

// rows: D-02
// cases: 87
#[test]
fn exported_git_variables_change_nothing() {
    let world = in_worktree(World::git());
    let mut command = world.command(["tick", "L", "--json"]);
    command
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index");
    assert_eq!(world.finish(command).rc(0).json()["outcome"], "fail");
    assert_eq!(worktrees(&world).len(), 1);
}

// rows: D-02, X-03
// cases: 102
#[test]
fn a_project_below_the_top_of_its_repository_is_worked_on_in_its_place() {
    let world = in_worktree(World::git());
    let below = world.project().join("src");
    fs::create_dir_all(below.join(".automaton/loops")).unwrap();
    fs::rename(world.data("loops/L"), below.join(".automaton/loops/L")).unwrap();
    fs::rename(world.data("tasks"), below.join(".automaton/tasks")).unwrap();
    let mut command = world.command(["tick", "L", "--json"]);
    command.current_dir(&below);
    world.finish(command).rc(0);
    let worktree = worktrees(&world).remove(0);
    assert_eq!(world.calls()[0].cwd, worktree.join("src"));
}

// rows: X-16
// cases: 89
#[test]
fn a_replaced_git_file_is_found_and_nothing_is_read_through_it() {
    let world = in_worktree(World::git());
    world.role(
        "implement",
        "echo >>work.txt; rm .git; git init --quiet --template= .; \
         git config core.fsmonitor \"touch '$REC/pwned'\"",
    );
    let told = world.tick();
    assert_eq!(told["outcome"], "human_intervention", "{told}");
    assert_eq!(told["reason"], "worktree_replaced");
    assert_eq!(world.count("verify"), 0);
    assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 5);
    assert!(!world.rec("pwned").exists());
}

// rows: D-20
// cases: 87
#[test]
fn the_work_of_an_agent_that_left_its_branch_can_be_taken() {
    for switch in [
        "checkout --quiet -b loop/other",
        "checkout --quiet --detach",
    ] {
        let mut world = in_worktree(World::git());
        world.role("implement", &format!("git {switch}; echo >new.txt"));
        world.says("verify", verdict(true, 1.0, ""));
        let told = world.run(["tick", "L"]).rc(0);
        assert_eq!(
            told.err.matches("instead of loop/L/t1").count(),
            1,
            "{told:#?}"
        );
        assert!(world.log().contains("instead of loop/L/t1"));
        let (_, command) = told.out.split_once("take it: ").unwrap();
        let taken = std::process::Command::new("sh")
            .args(["-c", command])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .output()
            .unwrap();
        assert!(taken.status.success(), "{command}: {taken:?}");
        assert!(world.project().join("new.txt").exists(), "{command}");
        world.user_changed_something();
    }
}

// rows: D-19, D-20
// cases: 89
#[test]
fn what_an_agent_leaves_to_be_read_for_ever_is_not_read() {
    let world = in_worktree(World::git());
    world.role(
        "implement",
        "command -p truncate -s 2T big src/a; command -p mkfifo pipe .gitignore src/.gitignore",
    );
    let told = world.tick();
    assert_eq!(told["reason"], "verdict", "{told}");
    assert_eq!(world.progress()["attempts"][0]["changed"], true);
    // Which files count cannot be told while the rules cannot be read.
    let refused = world.run(["diff", "L"]).rc(1);
    assert!(refused.error().contains(".gitignore"), "{refused:#?}");

    let worktree = &worktrees(&world)[0];
    for rules in [".gitignore", "src/.gitignore"] {
        fs::remove_file(worktree.join(rules)).unwrap();
    }
    let stat = world.run(["diff", "L", "--stat"]).rc(0).out;
    assert_eq!(stat.matches("binary").count(), 2, "{stat}");
}

// rows: D-20
// cases: 95
#[test]
fn diff_shows_what_was_changed_new_files_included() {
    let world = in_worktree(World::git());
    world.role("implement", "echo b >src/a; { echo new; printf '\\033[31mred\\n'; } >new.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm x; echo >late");
    world.tick();
    let patch = world.run(["diff", "L"]).rc(0).out;
    for said in [
        "--- a/src/a",
        "+++ b/src/a",
        "-a",
        "+b",
        "+++ b/new.txt",
        "+new",
        "b/late",
    ] {
        assert!(
            patch.lines().any(|line| line.contains(said)),
            "{said}: {patch}"
        );
    }
    assert!(!patch.contains("README.md"), "{patch}");
    assert!(patch.contains("+\u{1b}[31mred"), "not as it is: {patch}");
    let stat = world.run(["diff", "L", "--stat"]).rc(0).out;
    assert_eq!(stat.lines().count(), 3, "{stat}");
}

// rows: D-20
// cases: 58
#[test]
fn a_name_with_a_line_break_makes_no_line_of_the_summary() {
    let world = in_worktree(World::git());
    world.role("implement", "echo x >\"$(printf 'a\\n  +9 -0  b')\"");
    world.tick();
    let stat = world.run(["diff", "L", "--stat"]).rc(0).out;
    assert_eq!(stat.lines().count(), 1, "{stat}");
    assert!(stat.contains(r#""a\n  +9 -0  b""#), "{stat}");
}

// cases: 100
#[test]
fn an_agent_that_commits_makes_progress() {
    let world = in_worktree(World::git());
    world.configure(|config| config["brakes"]["no_progress_window"] = 2.into());
    world.role(
        "implement",
        "echo \"$n\" >>work.txt; git add -A && git -c user.name=a -c user.email=a@b commit -qm x",
    );
    for n in 1..=3 {
        world.says_at("verify", n, verdict(false, f64::from(n) / 10.0, "h"));
        assert_eq!(world.tick()["reason"], "verdict");
    }
    let attempts = world.progress()["attempts"].take();
    assert_eq!(
        attempts,
        json!([{"changed": true}, {"changed": true}, {"changed": true}])
    );
    assert_ne!(Value::Null, world.progress()["worktree"]["base"]);
}

// cases: 94
#[test]
fn nothing_in_a_worktree_is_ever_removed() {
    let mut world = in_worktree(World::git());
    world.user_changed_something();
    world.tick();
    let worktree = worktrees(&world).remove(0);
    world.run(["pause", "L"]).rc(0);
    fs::write(worktree.join("mine.txt"), "a person's").unwrap();
    world.run(["resume", "L"]).rc(0);
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
    world.task("t2", "another");
    world.run(["set-task", "L", "t2"]).rc(0);
    world.tick();
    let kept = fs::read_to_string(worktree.join("mine.txt")).unwrap();
    assert_eq!(kept, "a person's");
    assert!(worktree.join("work.txt").exists());
}
