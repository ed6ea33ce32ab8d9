//! What an agent changed, and the proof that it changed nothing else.

use crate::support::{World, verdict};
use serde_json::{Value, json};
use std::fs;

/// A loop in a worktree whose changes may land in `src` but for `src/gen`.
fn limited() -> World {
    let world = World::git().with(|config| {
        config["blast_radius"] = json!({
            "use_worktree": true,
            "file_scope": ["src"],
            "protect": ["src/gen"],
        });
    });
    world.says("verify", verdict(false, 0.2, "h"));
    world
}

/// Returns the paths of the violations that a tick tells of, with their kinds.
fn violations(told: &Value) -> Vec<String> {
    let all = told["violations"].as_array().unwrap();
    all.iter()
        .map(|one| {
            format!(
                "{} {}",
                one["path"].as_str().unwrap(),
                one["kind"].as_str().unwrap()
            )
        })
        .collect()
}

// scenarios: 12
// rows
#[test]
fn a_change_out_of_scope_is_named_and_left_where_it_is() {
    for commit in ["", "git add -A; git commit -qm work"] {
        let world = World::git().with(|config| {
            config["blast_radius"] = json!({"use_worktree": true, "file_scope": ["scripts/"]});
        });
        let script = "mkdir scripts scripts-old; echo x > scripts/ok; echo x > scripts-old/x";
        world.role(
            "implement",
            &format!("{COMMON}{script}; rm src/a; {commit}"),
        );
        let told = world.tick();
        assert_eq!(told["outcome"], "human_intervention", "{told:#}");
        assert_eq!(told["reason"], "file_scope");
        assert_eq!(violations(&told), ["scripts-old/x added", "src/a deleted"]);
        assert_eq!(world.count("verify"), 0, "it is not judged");
        let log = world.log();
        assert!(log.contains("scripts-old/x") && log.contains("src/a"));
        let worktree = world.calls()[0].cwd.clone();
        for kept in ["scripts/ok", "scripts-old/x"] {
            assert!(worktree.join(kept).exists(), "{kept} is still there");
        }
        assert_eq!(world.run(["tick", "L", "--exit-code"]).code, 9);
    }
    let world = World::git().with(|config| {
        config["blast_radius"] = json!({"use_worktree": true, "file_scope": ["scripts/"]});
    });
    world.role("implement", "mkdir scripts; echo x > 'scripts/ä b'");
    world.says("verify", verdict(true, 1.0, ""));
    assert_eq!(world.tick()["outcome"], "pass");
}

/// How a tick in which an agent made a move has to end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The work is judged; nothing is wrong with it.
    Judged,
    /// It stops, and this path is named in its reason.
    Stops(&'static str, &'static str),
}

use End::{Judged, Stops};

/// What every script can use: the shared folder of the repository, and a name.
const COMMON: &str = "git() { command git -c user.name=a -c user.email=a@example.org \"$@\"; }\n\
                      common=$(git rev-parse --git-common-dir)\n";

/// Moves, and whether each touches what is the user's.
#[rustfmt::skip]
const MOVES: [(&str, End, bool); 39] = [
    ("echo x > src/b", Judged, false),
    ("mv src/a src/A", Judged, false),
    ("echo x > src/b; git add -A; git commit -qm mine", Judged, false),
    ("echo '*' > src/.gitignore; echo x > src/hidden", Judged, false),
    ("echo more >> \"$AUTOMATON_PROJECT/scratch.txt\"; echo x > src/b", Judged, true),
    ("git update-ref refs/remotes/origin/main HEAD; echo x > src/b", Judged, true),
    ("git branch loop/other; echo x > src/b", Judged, false),
    ("git tag v2; echo x > src/b", Judged, true),
    ("cd \"$AUTOMATON_PROJECT\"; git add README.md scratch.txt; cd - >&2; echo x > src/b", Judged, true),
    ("cd \"$AUTOMATON_PROJECT\"; echo x > .README.md.swp; echo x > 'README.md~'; cd - >&2; echo x > src/b", Judged, true),
    ("mv src/a moved", Stops("file_scope", "moved"), false),
    ("mv README.md src/README.md", Stops("file_scope", "README.md"), false),
    ("mv README.md readme.md", Stops("file_scope", "readme.md"), false),
    ("rm README.md", Stops("file_scope", "README.md"), false),
    ("chmod +x README.md", Stops("file_scope", "README.md (mode"), false),
    ("rm README.md; ln -s src/a README.md", Stops("file_scope", "README.md (type"), false),
    ("echo x > new", Stops("file_scope", "new"), false),
    ("git init -q inner; echo x > inner/x", Stops("file_scope", "inner"), false),
    ("echo x >> README.md; git commit -qam x", Stops("file_scope", "README.md"), false),
    ("echo x >> README.md; git commit -q --amend -am x", Stops("file_scope", "README.md"), false),
    ("echo x >> README.md; git commit -qam x; git checkout -q HEAD~1 -- README.md", Stops("file_scope", "README.md (committed"), false),
    ("git update-index --assume-unchanged README.md; echo x >> README.md", Stops("file_scope", "README.md"), false),
    ("git update-index --skip-worktree README.md; echo x >> README.md", Stops("file_scope", "README.md"), false),
    ("echo x > .gitignore; echo x > x", Stops("file_scope", ".gitignore"), false),
    ("mkdir -p src/gen; echo x > src/gen/x", Stops("protected", "src/gen/x"), false),
    ("mkdir -p .automaton/loops/L; echo x > .automaton/loops/L/loop.json", Stops("protected", ".automaton/loops/L/loop.json"), false),
    ("rm .git; git init -q --template= .; git config filter.x.clean 'touch $REC/pwned'; echo '* filter=x' > .gitattributes", Stops("worktree_replaced", ".git"), false),
    ("git config core.fsmonitor 'touch $REC/pwned'; echo x > src/b", Stops("outside_changed", "config"), true),
    ("echo x > \"$AUTOMATON_PROJECT/src/a\"", Stops("outside_changed", "src/a"), true),
    ("ln -s \"$AUTOMATON_PROJECT/src\" src/link; echo x > src/link/a", Stops("outside_changed", "src/a"), true),
    ("mkdir -p $common/hooks; echo 'touch $REC/pwned' > $common/hooks/pre-commit", Stops("outside_changed", "hooks"), true),
    ("mkdir -p $common/info; echo hidden >> $common/info/exclude; echo x > hidden", Stops("outside_changed", "exclude"), true),
    ("cd \"$AUTOMATON_PROJECT\"; git stash -q", Stops("outside_changed", "stash"), true),
    ("git worktree add -q --detach \"$AUTOMATON_PROJECT/../feature\"; echo x > src/b", Stops("outside_changed", "worktrees/feature/HEAD of the repository was added"), true),
    ("git stash drop -q", Stops("outside_changed", "stash"), true),
 ("echo '{}' > \"$AUTOMATON_PROJECT/.automaton/loops/L/loop.json\"; echo x > src/b", Stops("outside_changed", "loop.json was changed"), false),
    ("echo pass > \"$AUTOMATON_PROJECT/.automaton/loops/L/ver.md\"; echo x > src/b", Stops("outside_changed", "ver.md was changed"), false),
    ("echo easy > \"$AUTOMATON_PROJECT/.automaton/tasks/t1/SPEC.md\"; echo x > src/b", Stops("outside_changed", "SPEC.md was added"), false),
    ("git commit -q --allow-empty -m x; git update-ref refs/heads/main HEAD", Stops("outside_changed", "main"), true),
];

// rows
// cases: 88, 89, 95, 96, 100
#[test]
fn every_hostile_move_has_its_end() {
    for (script, end, touches_the_user) in MOVES {
        let mut world = limited();
        world.role("implement", &format!("{COMMON}{script}"));
        let told = world.tick();
        match end {
            Judged => {
                assert_eq!(told["outcome"], "fail", "{script}\n{told:#}");
                assert_eq!(world.count("verify"), 1, "{script}");
                assert_eq!(violations(&told), [""; 0], "{script}");
            }
            Stops(reason, named) => {
                assert_eq!(told["outcome"], "human_intervention", "{script}\n{told:#}");
                assert_eq!(told["reason"], reason, "{script}\n{told:#}");
                assert_eq!(world.count("verify"), 0, "{script}");
                let why = told["why"].as_str().unwrap();
                assert!(why.contains(named), "{script}: {why}");
            }
        }
        assert!(!world.rec("pwned").exists(), "{script}: it ran a program");
        if touches_the_user {
            world.user_changed_something();
        }
    }
}

// rows: X-08
// cases: 88, 89
#[test]
fn a_base_whose_objects_were_overwritten_is_no_base() {
    let mut world = limited();
    world.role(
        "implement",
        &format!(
            "{COMMON}old=$(git rev-parse 'HEAD^{{tree}}'); echo pwned > README.md; git add -A\n\
             new=$(git write-tree)\n\
             path() {{ rest=${{1#??}}; echo \"$common/objects/${{1%$rest}}/$rest\"; }}\n\
             chmod u+w \"$(path $old)\"; cat \"$(path $new)\" > \"$(path $old)\""
        ),
    );
    for _ in 0..2 {
        let told = world.run(["tick", "L", "--json"]).rc(1).json();
        assert_eq!(told["outcome"], "error", "{told:#}");
    }
    assert_eq!(world.count("implement"), 1, "nothing more is spent");
    assert_eq!(world.count("verify"), 0);
    world.user_changed_something();
}

// rows: X-07
// cases: 88, 95
#[test]
fn what_an_agents_code_does_while_the_gate_runs_counts_too() {
    for (product, reason, named) in [
        ("echo x > README.md", "file_scope", "README.md"),
        ("echo x > new", "file_scope", "new"),
        (
            "mkdir -p src/gen; echo x > src/gen/x",
            "protected",
            "src/gen/x",
        ),
        ("git branch evil", "outside_changed", "evil"),
        (
            "echo x > \"$AUTOMATON_PROJECT/src/a\"",
            "outside_changed",
            "src/a",
        ),
    ] {
        let mut world = limited();
        world.configure(|config| {
            config["gate"] = json!({"command": ["sh", "-c", "sh src/product"]});
        });
        // What the gate does before any work is nobody's change.
        world.role(
            "implement",
            &format!("echo 'test \"$AUTOMATON_ROLE\" = gate && {{ {product}; }}' > src/product"),
        );
        let told = world.tick();
        assert_eq!(told["reason"], reason, "{product}\n{told:#}");
        let why = told["why"].as_str().unwrap();
        assert!(
            why.contains("the gate ran") && why.contains(named),
            "{product}: {why}"
        );
        assert_eq!(world.count("verify"), 0, "{product}");
        if reason == "outside_changed" {
            world.user_changed_something();
        }
    }
}

// rows: X-07
// cases: 95
#[test]
fn the_judge_gets_what_changed_with_new_files_in_it() {
    let world = limited();
    world.role("implement", "echo two > src/new; echo b > src/a");
    world.role("verify", "cat \"$AUTOMATON_DIFF\" > $REC/diff");
    world.tick();
    let diff = fs::read_to_string(world.rec("diff")).unwrap();
    assert!(
        diff.contains("+++ b/src/new\n@@ -0,0 +1 @@\n+two"),
        "{diff}"
    );
    assert!(diff.contains("-a\n+b"), "{diff}");
    assert_eq!(diff, world.output("tick1-changes.patch"));
}

// cases: 88
#[test]
fn whoever_changed_something_outside_themselves_says_so_and_the_work_is_judged() {
    let mut world = limited();
    world.role(
        "implement",
        "echo x > src/b; echo x > \"$AUTOMATON_PROJECT/src/a\"",
    );
    let told = world.tick();
    assert_eq!(told["reason"], "outside_changed", "{told:#}");
    assert!(told["do"].as_str().unwrap().contains("if this was you"));
    assert_eq!(world.count("verify"), 0);
    world.user_changed_something();
    world.run(["approve", "L"]).rc(0);
    let told = world.tick();
    assert_eq!(told["reason"], "verdict", "{told:#}");
    assert_eq!(world.count("implement"), 1, "nothing is done twice");

    // Whoever only wants to be told says so.
    world.configure(|config| config["blast_radius"]["watch"] = "warn".into());
    world.role(
        "implement",
        "echo y > src/b; echo y > \"$AUTOMATON_PROJECT/later\"",
    );
    let told = world.run(["tick", "L", "--json"]).rc(0);
    assert_eq!(told.json()["reason"], "verdict");
    assert_eq!((world.count("implement"), world.count("verify")), (2, 2));
    assert!(told.err.contains("later was added"), "{told:#?}");
    world.user_changed_something();
}

// rows
// cases: 99
#[test]
fn in_the_project_itself_a_persons_earlier_edits_never_count() {
    let world = World::git().with(|config| {
        config["blast_radius"] = json!({"file_scope": ["src"]});
    });
    world.says("verify", verdict(false, 0.1, "h"));
    world.role("implement", "echo \"$n\" > src/made");
    let told = world.tick();
    assert_eq!(told["reason"], "verdict", "{told:#}");
    let patch = world.output("tick1-changes.patch");
    assert!(patch.contains("src/made"), "{patch}");
    for user in ["README.md", "scratch.txt", "staged.txt", ".automaton"] {
        assert!(!patch.contains(user), "{user} in {patch}");
    }
    world.role("implement", "echo x > elsewhere");
    let told = world.tick();
    assert_eq!(told["reason"], "file_scope", "{told:#}");
    assert_eq!(violations(&told), ["elsewhere added"]);
}

// rows: X-12
#[test]
fn a_scope_that_cannot_be_checked_is_refused() {
    let world = World::plain().with(|config| {
        config["blast_radius"] = json!({"file_scope": ["src"]});
    });
    let refused = world.run(["tick", "L"]).rc(2);
    assert!(refused.err.contains("need a git repository"), "{refused:?}");
    assert_eq!(world.calls().len(), 0);
}

// cases: 124
#[test]
fn new_files_of_a_judge_are_nobodys_violation_and_its_edits_void_its_verdict() {
    let world = limited();
    world.role("implement", "echo \"$n\" > src/b");
    world.role("verify", "echo notes > notes.txt");
    world.tick();
    assert!(world.log().contains("the judge left new files: notes.txt"));
    assert_eq!(world.tick()["reason"], "verdict", "its file does not count");
    world.role("verify", "echo notes >> src/b");
    let told = world.tick();
    assert_eq!(told["outcome"], "verify_error", "{told:#}");
    assert_eq!(told["reason"], "void");
}
