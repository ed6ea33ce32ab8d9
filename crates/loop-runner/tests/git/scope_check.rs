//! Changes against the limits of a loop's configuration.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use loop_core::answer::WorktreeRecord;
use loop_runner::{
    clock::SystemClock,
    git::Recorded,
    home::Home,
    project::Project,
    scope_check::{ScopeError, check_patterns, scope_check, take_start},
    setup::{Setup, Surroundings},
};
use serde_json::{Value, json};

use crate::sandbox::{GO, Sandbox, git, open, set_mode, write};

/// Reads a loop of a project at `place` in the repository.
pub(crate) fn setup(sandbox: &Sandbox, place: &str, blast_radius: Value) -> Setup {
    let folder = sandbox.main().join(place);
    let config = json!({"name": "l", "roles": {}, "blast_radius": blast_radius});
    write(&folder, ".automaton/loops/l/loop.json", &config.to_string());
    let home = Home::new(sandbox.root().join("home"));
    let around = Surroundings {
        project: Project::at(&folder, &home).unwrap(),
        home,
        clock: Arc::new(SystemClock::new()),
        environment: Vec::new(),
    };
    let mut setup = Setup::read(&around, "l").unwrap();
    // Whoever runs the tests has a configuration too.
    setup.repository = Some(open(&sandbox.main()));
    setup
}

pub(crate) fn record(recorded: &Recorded) -> WorktreeRecord {
    WorktreeRecord {
        path: recorded.path.to_str().unwrap().to_owned(),
        branch: recorded.branch.clone(),
        base: recorded.base.clone(),
        admin: recorded.admin.clone(),
    }
}

/// Where the project is, what its limits are, what an agent does there, and what is found.
type Case = (
    &'static str,
    fn() -> Value,
    fn(&Path),
    &'static [[&'static str; 3]],
);

const CASES: &[Case] = &[
    ("", || json!({}), |d| write(d, "anywhere/a", "x"), &[]),
    (
        "",
        || json!({"file_scope": ["src/"]}),
        |d| {
            write(d, "src/a", "x");
            write(d, "src-old/a", "x");
            drop(git(d, &["mv", "src/lib.rs", "moved.rs"]));
            set_mode(&d.join("run.sh"), 0o644);
        },
        &[
            ["moved.rs", "added", "file_scope"],
            ["run.sh", "mode", "file_scope"],
            ["src-old/a", "added", "file_scope"],
        ],
    ),
    (
        "",
        || json!({"file_scope": ["**"], "protect": ["*.sh", ".env"]}),
        |d| {
            write(d, ".gitignore", "*\n");
            write(d, ".env", "x");
            fs::remove_file(d.join("run.sh")).unwrap();
        },
        &[
            [".env", "added", "protected"],
            ["run.sh", "deleted", "protected"],
        ],
    ),
    (
        "packages/a",
        || json!({"file_scope": ["src"]}),
        |d| {
            write(d, "packages/a/src/a", "x");
            write(d, "packages/a/b", "x");
            write(d, "src/a", "x");
        },
        &[
            ["b", "added", "file_scope"],
            ["../../src/a", "added", "file_scope"],
        ],
    ),
    (
        "packages/a",
        || json!({"protect": ["src"]}),
        |d| {
            write(d, "packages/a/src/a", "x");
            write(d, "src/a", "x");
        },
        &[["src/a", "added", "protected"]],
    ),
];

// rows
// cases: 89, 102, 121
#[test]
fn changes_beyond_the_limits_are_violations() {
    for in_worktree in [true, false] {
        for (place, limits, act, expected) in CASES {
            let sandbox = Sandbox::new();
            let setup = setup(&sandbox, place, limits());
            let worktree = in_worktree.then(|| record(&sandbox.worktree()));
            let top = worktree
                .as_ref()
                .map_or_else(|| sandbox.main(), |worktree| PathBuf::from(&worktree.path));
            let start = take_start(&setup, worktree.as_ref(), &GO).unwrap();
            act(&top);
            let checked = scope_check(&setup, worktree.as_ref(), &start, &[], 7, &GO).unwrap();
            let found: Vec<_> = checked
                .violations
                .iter()
                .map(|violation| serde_json::to_value(violation).unwrap())
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|[path, kind, rule]| json!({"path": path, "kind": kind, "rule": rule}))
                .collect();
            assert_eq!(found, expected, "{place} {} {in_worktree}", limits());
            assert_eq!(checked.violation_count, expected.len());
        }
    }
}

// rows: X-08
// cases: 95
#[test]
fn the_patch_is_kept_with_the_outputs() {
    let sandbox = Sandbox::new();
    let setup = setup(&sandbox, "", json!({}));
    let worktree = record(&sandbox.worktree());
    let start = take_start(&setup, Some(&worktree), &GO).unwrap();
    let check = || scope_check(&setup, Some(&worktree), &start, &[], 7, &GO).unwrap();
    let patch = check().patch;
    assert_eq!(patch, setup.dir.outputs().join("tick7-changes.patch"));
    assert_eq!(fs::read(&patch).unwrap(), b"");

    write(&sandbox.dest(), "new", "the agent's\n");
    // What stands in the patch's place is not written through.
    let victim = sandbox.root().join("victim");
    fs::write(&victim, "mine").unwrap();
    fs::remove_file(&patch).unwrap();
    std::os::unix::fs::symlink(&victim, &patch).unwrap();
    assert_eq!(check().changes.len(), 1);
    let text = fs::read_to_string(&patch).unwrap();
    assert!(text.contains("+the agent's\n"), "{text}");
    assert_eq!(fs::read(&victim).unwrap(), b"mine");

    write(&sandbox.dest(), "long", &"a line\n".repeat(1_000_000));
    check();
    let text = fs::read_to_string(&patch).unwrap();
    assert!(text.len() <= (4 << 20) + 100, "{}", text.len());
    assert!(text.ends_with("[the rest of the patch is left out]\n"));
}

// rows: X-08
// decisions: D-20
#[test]
fn tasks_that_share_a_worktree_do_not_answer_for_each_other() {
    let sandbox = Sandbox::new();
    let limits = json!({"file_scope": ["src"], "worktree_for": "loop", "use_worktree": true});
    let setup = setup(&sandbox, "", limits);
    let worktree = record(&sandbox.worktree());
    write(&sandbox.dest(), "earlier", "another task's\n");
    let start = take_start(&setup, Some(&worktree), &GO).unwrap();
    write(&sandbox.dest(), "src/a", "x\n");
    let checked = scope_check(&setup, Some(&worktree), &start, &[], 1, &GO).unwrap();
    assert_eq!(checked.violations, []);
    let patch = fs::read_to_string(checked.patch).unwrap();
    assert!(!patch.contains("another task's"), "{patch}");
}

// rows: X-10
#[test]
fn a_pattern_that_means_nothing_is_told() {
    let sandbox = Sandbox::new();
    assert!(check_patterns(&setup(&sandbox, "", json!({"protect": ["a*"]}))).is_ok());
    let wrong = setup(&sandbox, "", json!({"protect": ["a", "b["]}));
    let error = check_patterns(&wrong).unwrap_err();
    assert!(error.to_string().contains("\"b[\""), "{error}");
}

// rows: X-16
#[test]
fn a_replaced_worktree_is_not_compared() {
    let sandbox = Sandbox::new();
    let setup = setup(&sandbox, "", json!({}));
    let worktree = record(&sandbox.worktree());
    let start = take_start(&setup, Some(&worktree), &GO).unwrap();
    fs::write(sandbox.dest().join(".git"), "gitdir: /tmp\n").unwrap();
    let checked = scope_check(&setup, Some(&worktree), &start, &[], 1, &GO);
    assert!(matches!(checked, Err(ScopeError::Replaced(_))));
}

// rows: X-07
#[test]
fn a_stop_is_heard() {
    let sandbox = Sandbox::new();
    let setup = setup(&sandbox, "", json!({}));
    let start = take_start(&setup, None, &GO).unwrap();
    let stopped = scope_check(&setup, None, &start, &[], 1, &AtomicBool::new(true)).unwrap_err();
    assert!(stopped.is_interrupted(), "{stopped}");
}
