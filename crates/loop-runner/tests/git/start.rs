//! What an agent did since a task started, whatever it did to hide it.

use std::{fs, os::unix::fs::symlink, path::Path};

use loop_core::scope::Pattern;
use loop_runner::git::{Change, Changes, Recorded, Start, Workspace};
use proptest::prelude::*;

use crate::sandbox::{GO, Sandbox, commit, git, set_mode, write};

fn patterns(list: &[&str]) -> Vec<Pattern> {
    list.iter()
        .map(|text| Pattern::new(text).unwrap())
        .collect()
}

/// The patterns that the tests protect.
fn protected() -> Vec<Pattern> {
    patterns(&[".automaton", ".env", "secret/**/*.key"])
}

fn lines(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|Change { path, kind }| format!("{kind:?} {}", path.display()))
        .collect()
}

/// What was changed since a start that is written and read back, and those changes that are new.
fn since(workspace: &Workspace, start: &Start) -> (Changes, Vec<String>) {
    let start: Start = start.to_string().parse().unwrap();
    let (changes, own) = Changes::since_start(workspace, &start, &protected(), &GO)
        .unwrap()
        .unwrap();
    (changes, lines(&own))
}

fn patch(changes: &Changes) -> String {
    let mut out = Vec::new();
    changes.write_patch(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A repository with files that are ignored for every reason.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "target/\n*.log\n.env\n*.key\n");
    sandbox.write("src/.gitignore", "gen/\n");
    sandbox.write(".automaton/loops/l/loop.json", "{}\n");
    sandbox.write(".automaton/.gitignore", "/loops/*/outputs\n");
    sandbox.commit("second");
    sandbox
}

/// A worktree as its set-up leaves it.
fn furnished(sandbox: &Sandbox) -> Recorded {
    let recorded = sandbox.worktree();
    let dest = sandbox.dest();
    write(&dest, "a.log", "x");
    write(&dest, "target/x", "x");
    write(&dest, ".venv/.gitignore", "*\n");
    write(&dest, ".venv/x", "x");
    write(&dest, "vendored/lock", "made by the set-up\n");
    write(&dest, "src/lib.rs", "made by the set-up\n");
    recorded
}

type Case = (&'static str, fn(&Path), &'static [&'static str]);

/// What an agent does below the top of a tree, and what has to be seen of it.
const CASES: &[Case] = &[
    ("nothing", |_| {}, &[]),
    (
        "edit, deletion, mode, link",
        |d| {
            write(d, "README.md", "x\n");
            fs::remove_file(d.join("link")).unwrap();
            set_mode(&d.join("run.sh"), 0o644);
            symlink("/etc/passwd", d.join("out")).unwrap();
        },
        &[
            "Modified README.md",
            "Deleted link",
            "Added out",
            "Mode run.sh",
        ],
    ),
    (
        "renamed, both ends, with another case",
        |d| drop(git(d, &["mv", "README.md", "readme.md"])),
        &["Deleted README.md", "Added readme.md"],
    ),
    (
        "ignored as before",
        |d| {
            write(d, "b.log", "x");
            write(d, "target/y", "x");
            write(d, "src/gen/y", "x");
            write(d, ".venv/y", "x");
        },
        &[],
    ),
    (
        "hidden by an edited rule",
        |d| {
            write(d, ".gitignore", "target/\n*.log\n.env\n*.key\nhidden\n");
            write(d, "hidden", "x");
        },
        &["Modified .gitignore", "Added hidden"],
    ),
    (
        "hidden by a rule that hides itself",
        |d| {
            write(d, "docs/.gitignore", "*\n");
            write(d, "docs/hidden", "x");
        },
        &["Added docs/.gitignore", "Added docs/hidden"],
    ),
    (
        "hidden by rules that git shows nobody",
        |d| {
            let dir = git(d, &["rev-parse", "--git-common-dir"]);
            write(&d.join(dir.trim()), "info/exclude", "*\n");
            write(d, "hidden", "x");
        },
        &["Added hidden"],
    ),
    (
        "hidden by a configured file of rules",
        |d| {
            fs::write(d.join("../rules"), "*\n").unwrap();
            let rules = d.join("../rules");
            git(d, &["config", "core.excludesFile", rules.to_str().unwrap()]);
            write(d, "hidden", "x");
        },
        &["Added hidden"],
    ),
    (
        "no longer ignored",
        |d| {
            write(d, ".gitignore", "target/\n.env\n*.key\n");
            write(d, "b.log", "x");
        },
        &["Modified .gitignore", "Added a.log", "Added b.log"],
    ),
    (
        "a rule replaced by a pipe",
        |d| {
            fs::remove_file(d.join(".gitignore")).unwrap();
            let made = std::process::Command::new("mkfifo")
                .arg(d.join(".gitignore"))
                .status();
            assert!(made.unwrap().success());
        },
        &["Deleted .gitignore"],
    ),
    (
        "hidden by the index",
        |d| {
            git(d, &["update-index", "--assume-unchanged", "README.md"]);
            git(d, &["update-index", "--skip-worktree", "run.sh"]);
            write(d, "README.md", "x");
            write(d, "run.sh", "x");
        },
        &["Modified README.md", "Modified run.sh"],
    ),
    (
        "hidden in what the index calls a repository",
        |d| {
            let head = git(d, &["rev-parse", "HEAD"]);
            let entry = format!("160000,{},sub", head.trim());
            git(d, &["update-index", "--add", "--cacheinfo", &entry]);
            write(d, "sub/hidden", "x");
        },
        &["Added sub/hidden"],
    ),
    (
        "committed, and taken back on disk",
        |d| {
            write(d, "README.md", "x");
            git(d, &["commit", "--quiet", "-m", "agent", "README.md"]);
            write(d, "README.md", "hello\n");
        },
        &["Committed README.md"],
    ),
    (
        "the last commit amended",
        |d| {
            write(d, "README.md", "x");
            git(d, &["commit", "--quiet", "--amend", "-m", "x", "README.md"]);
        },
        &["Modified README.md"],
    ),
    (
        "protected though ignored",
        |d| {
            write(d, ".git-info", "x");
            write(d, "secret/a/b.key", "x");
            write(d, "secret/a/b.log", "x");
            write(d, ".env", "x");
        },
        &["Added .env", "Added .git-info", "Added secret/a/b.key"],
    ),
];

// rows
// cases: 89, 95, 96, 100
#[test]
fn nothing_hides_in_a_worktree() {
    for (name, act, expected) in CASES {
        let sandbox = sandbox();
        let recorded = furnished(&sandbox);
        let workspace = || sandbox.workspace(&recorded);
        let start = Start::since_commit(&workspace(), &recorded.base, &protected(), &GO).unwrap();
        act(&sandbox.dest());
        let (_, own) = since(&workspace(), &start);
        assert_eq!(own, *expected, "{name}");
    }
}

// rows
// cases: 89, 99, 100
#[test]
fn nothing_hides_in_the_users_checkout() {
    for (name, act, expected) in CASES {
        let sandbox = sandbox();
        let main = sandbox.main();
        write(&main, "a.log", "x");
        write(&main, ".venv/.gitignore", "*\n");
        write(&main, ".venv/x", "x");
        write(&main, "src/lib.rs", "an edit of the user's\n");
        let start = Start::since_now(&sandbox.in_place(), &protected(), &GO);
        let start = start.unwrap().unwrap();
        act(&main);
        let (_, own) = since(&sandbox.in_place(), &start);
        assert_eq!(own, *expected, "{name}");
    }
}

// rows: X-08
// cases: 95
#[test]
fn what_a_set_up_made_is_in_the_patch_and_no_change_of_the_agents() {
    let sandbox = sandbox();
    let recorded = furnished(&sandbox);
    let workspace = || sandbox.workspace(&recorded);
    let start = Start::since_commit(&workspace(), &recorded.base, &protected(), &GO).unwrap();
    let (changes, own) = since(&workspace(), &start);
    assert!(own.is_empty(), "{own:?}");
    assert_eq!(
        lines(&changes.list()),
        ["Modified src/lib.rs", "Added vendored/lock"]
    );
    assert!(patch(&changes).contains("+made by the set-up\n"));

    write(&sandbox.dest(), "vendored/lock", "agent\n");
    assert_eq!(since(&workspace(), &start).1, ["Added vendored/lock"]);
}

// rows: X-11
// cases: 89, 96
#[test]
fn the_engines_folder_counts_where_only_an_agent_can_have_changed_it() {
    let act = |dir: &Path| {
        write(dir, ".automaton/loops/l/loop.json", "x");
        write(dir, ".automaton/loops/l/outputs/tick1", "x");
    };
    let sandbox = sandbox();
    let recorded = furnished(&sandbox);
    let workspace = || sandbox.workspace(&recorded);
    let start = Start::since_commit(&workspace(), &recorded.base, &protected(), &GO).unwrap();
    act(&sandbox.dest());
    assert_eq!(
        since(&workspace(), &start).1,
        [
            "Modified .automaton/loops/l/loop.json",
            "Added .automaton/loops/l/outputs/tick1"
        ]
    );

    let start = Start::since_now(&sandbox.in_place(), &protected(), &GO);
    let start = start.unwrap().unwrap();
    act(&sandbox.main());
    assert!(since(&sandbox.in_place(), &start).1.is_empty());
}

// rows: X-08
// cases: 95, 99
#[test]
fn a_patch_shows_what_came_after_an_uncommitted_edit() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "hello\nthe user's\n");
    sandbox.write("new", "the user's\n");
    let start = Start::since_now(&sandbox.in_place(), &[], &GO);
    let start = start.unwrap().unwrap();
    sandbox.write("README.md", "hello\nthe user's\nthe agent's\n");
    fs::remove_file(sandbox.main().join("new")).unwrap();
    let (changes, own) = since(&sandbox.in_place(), &start);
    assert_eq!(own, ["Modified README.md", "Deleted new"]);
    let patch = patch(&changes);
    assert!(patch.contains(" the user's\n+the agent's\n"), "{patch}");
    assert!(patch.contains("-the user's\n"), "{patch}");
    assert!(!patch.contains("+the user's\n"), "{patch}");
}

// rows: X-08
// cases: 100
#[test]
fn to_commit_what_was_found_is_no_edit() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "the user's\n");
    let start = Start::since_now(&sandbox.in_place(), &[], &GO);
    let start = start.unwrap().unwrap();
    commit(&sandbox.main(), "agent");
    assert!(since(&sandbox.in_place(), &start).1.is_empty());
}

// cases: 89
#[test]
fn no_link_leads_a_protected_pattern_elsewhere() {
    let sandbox = Sandbox::new();
    let outside = sandbox.root().join("outside");
    write(&outside, "a.key", "x");
    let take = || Start::since_now(&sandbox.in_place(), &protected(), &GO);
    let start = take().unwrap().unwrap();
    symlink(&outside, sandbox.main().join("secret")).unwrap();
    assert_eq!(since(&sandbox.in_place(), &start).1, ["Added secret"]);
}

// rows: X-12
// cases: 102
#[test]
fn outside_of_a_repository_every_file_counts() {
    let dir = tempfile::TempDir::new().unwrap();
    write(dir.path(), "a", "x\n");
    let workspace = Workspace::plain(dir.path());
    let start = Start::since_now(&workspace, &protected(), &GO)
        .unwrap()
        .unwrap();
    write(dir.path(), "a", "x\ny\n");
    write(dir.path(), ".gitignore", "*\n");
    let (changes, own) = since(&workspace, &start);
    assert_eq!(own, ["Added .gitignore", "Modified a"]);
    assert!(patch(&changes).contains(" x\n+y\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A start that was cut or damaged is none.
    #[test]
    fn a_damaged_start_is_noticed(cut in 0..400_usize) {
        let dir = tempfile::TempDir::new().unwrap();
        write(dir.path(), "ä b", "x\n");
        write(dir.path(), ".env", "x\n");
        let workspace = Workspace::plain(dir.path());
        let start = Start::since_now(&workspace, &protected(), &GO).unwrap().unwrap();
        let text = start.to_string();
        prop_assert_eq!(&text.parse::<Start>().unwrap(), &start);
        prop_assume!(cut < text.len());
        prop_assert!(text[..cut].parse::<Start>().is_err());
    }
}

// cases: 89
#[test]
fn a_text_that_is_no_start_is_told_by_its_line() {
    for (text, line) in [
        ("", 1),
        ("start 2\nend\n", 1),
        ("start 1\nend\n", 2),
        ("start 1\nbase 1\nfiles snapshot 1 project\nend\nend\n", 3),
        ("start 1\nrules zz 00\nend\n", 2),
        ("start 1\nguarded f 12\nend\n", 2),
        ("start 1\nother 1\nend\n", 2),
        ("start 1\nbase 1\n", 3),
    ] {
        let error = text.parse::<Start>().unwrap_err();
        assert_eq!(error.line, line, "{text:?}");
    }
}
