//! What an agent does beside its place of work.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command, sync::atomic::AtomicBool};

use loop_runner::outside::Outside;
use serde_json::json;

use crate::{
    sandbox::{GO, Sandbox, commit, git, set_mode, write},
    scope_check::{record, setup},
};

/// A checkout with an edit of the user's, something staged, a stash, a branch and a tag.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("packages/a/src/x", "x\n");
    sandbox.write(".gitattributes", "*.crlf text\n");
    sandbox.write("a.crlf", "a\n");
    sandbox.commit("second");
    sandbox.git(&["branch", "topic"]);
    sandbox.git(&["tag", "v1"]);
    sandbox.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    sandbox.write("README.md", "put away\n");
    sandbox.git(&["stash", "push", "--quiet"]);
    sandbox.write("README.md", "put away too\n");
    sandbox.git(&["stash", "push", "--quiet"]);
    sandbox.write("README.md", "the user's edit\n");
    sandbox.write("staged", "x\n");
    sandbox.git(&["add", "staged"]);
    sandbox.write("scratch", "the user's\n");
    // Nobody has looked since, so the index remembers none of these times.
    write(&sandbox.main(), "a.crlf", "a\r\n");
    sandbox.write(".git/info/exclude", "excluded\n");
    sandbox.write(".git/hooks/pre-push", "#!/bin/sh\n");
    let add = ["worktree", "add", "--quiet", "--detach"];
    sandbox.git(&[&add[..], &["../feature"]].concat());
    sandbox.git(&[&add[..], &["../gone"]].concat());
    fs::remove_dir_all(sandbox.root().join("gone")).unwrap();
    for module in ["libs/a", "libs/a/modules/b"] {
        sandbox.write(&format!(".git/modules/{module}/HEAD"), "x\n");
        sandbox.write(&format!(".git/modules/{module}/config"), "[core]\n");
    }
    sandbox
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// What is done, in the user's checkout and the worktree, and what is told of it.
type Case = (&'static str, fn(&Path, &Path), &'static [&'static str]);

const CASES: &[Case] = &[
    ("nothing", |_, _| {}, &[]),
    (
        "work in the worktree",
        |_, w| {
            write(w, "README.md", "x");
            write(w, "new", "x");
            commit(w, "agent");
        },
        &[],
    ),
    (
        "a look at the checkout",
        |m, _| {
            git(m, &["status"]);
        },
        &[],
    ),
    (
        "a touched file",
        |m, _| {
            fs::write(m.join("src/lib.rs"), "fn a() {}\n").unwrap();
            write(m, "a.crlf", "a\n");
        },
        &[],
    ),
    (
        "an edited file",
        |m, _| write(m, "src/lib.rs", "x"),
        &["src/lib.rs was changed"],
    ),
    (
        "an edited file of the same length and time",
        |m, _| {
            let path = m.join("src/lib.rs");
            let time = path.metadata().unwrap().modified().unwrap();
            fs::write(&path, "fn b() {}\n").unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        },
        &["src/lib.rs was changed"],
    ),
    (
        "a deleted file",
        |m, _| fs::remove_file(m.join("src/lib.rs")).unwrap(),
        &["src/lib.rs was deleted"],
    ),
    (
        "a file that is a pipe now",
        |m, _| {
            fs::remove_file(m.join("src/lib.rs")).unwrap();
            fifo(&m.join("src/lib.rs"));
        },
        &["src/lib.rs was deleted"],
    ),
    (
        "a file that is a link now",
        |m, _| {
            fs::remove_file(m.join("src/lib.rs")).unwrap();
            symlink("../run.sh", m.join("src/lib.rs")).unwrap();
        },
        &["src/lib.rs was changed"],
    ),
    (
        "a folder that is a link now",
        |m, w| {
            fs::rename(m.join("src"), w.join("../src")).unwrap();
            symlink(w.join("../src"), m.join("src")).unwrap();
        },
        &["src was added"],
    ),
    (
        "another mode",
        |m, _| set_mode(&m.join("run.sh"), 0o644),
        &["run.sh was changed"],
    ),
    (
        "a new file",
        |m, _| write(m, "ä b", "x"),
        &["ä b was added"],
    ),
    (
        "a new file behind a new rule",
        |m, _| {
            write(m, "docs/.gitignore", "*\n");
            write(m, "docs/x", "x");
        },
        &["docs/.gitignore was added", "docs/x was added"],
    ),
    (
        "a new file behind an edited rule",
        |m, _| {
            write(m, ".git/info/exclude", "*\n");
            write(m, "x", "x");
        },
        &["info/exclude of the repository was changed", "x was added"],
    ),
    (
        "ignored files",
        |m, _| {
            write(m, "target/x", "x");
            write(m, "excluded", "x");
        },
        &[],
    ),
    (
        "what the user had edited",
        |m, _| {
            write(m, "README.md", "x");
            write(m, "scratch", "x");
            write(m, "packages/a/.automaton/loops/x/loop.json", "x");
            write(m, ".automaton/x", "x");
            write(m, "STATE.md", "x");
        },
        &[],
    ),
    (
        "what was edited before, staged",
        |m, _| drop(git(m, &["add", "README.md"])),
        &[],
    ),
    (
        "no longer staged",
        |m, _| drop(git(m, &["rm", "--quiet", "--cached", "staged"])),
        &["what is staged of staged was changed"],
    ),
    (
        "committed",
        |m, _| drop(git(m, &["commit", "--quiet", "-m", "x"])),
        &["the branch trunk was moved from * to *"],
    ),
    (
        "branches",
        |m, _| {
            git(m, &["branch", "--delete", "--force", "topic"]);
            git(m, &["branch", "new"]);
        },
        &[
            "the branch new was made at *",
            "the branch topic was deleted; it was at *",
        ],
    ),
    (
        "branches that are packed now",
        |m, _| drop(git(m, &["pack-refs", "--all"])),
        &[],
    ),
    (
        "objects that are packed now",
        |m, _| drop(git(m, &["gc", "--quiet"])),
        &[],
    ),
    (
        "a moved branch that had been packed",
        |m, _| {
            git(m, &["pack-refs", "--all"]);
            git(m, &["branch", "--force", "topic", "HEAD~1"]);
        },
        &["the branch topic was moved from * to *"],
    ),
    (
        "tags",
        |m, _| {
            git(m, &["tag", "--delete", "v1"]);
            git(m, &["tag", "v2"]);
        },
        &["the tag v1 was deleted; it was at *"],
    ),
    (
        "branches of loops and remotes",
        |m, _| {
            git(m, &["branch", "loop/other/task"]);
            git(m, &["branch", "loop-other-task-1234"]);
            git(m, &["update-ref", "refs/remotes/origin/trunk", "HEAD~1"]);
            fs::write(m.join(".git/FETCH_HEAD"), "x").unwrap();
            fs::write(m.join(".git/ORIG_HEAD"), "x").unwrap();
        },
        &[],
    ),
    (
        "the stash popped, under the user's edit",
        |m, _| {
            git(m, &["checkout", "--quiet", "README.md"]);
            git(m, &["stash", "pop", "--quiet"]);
        },
        &["the stash was changed"],
    ),
    (
        "an older stash dropped",
        |m, _| drop(git(m, &["stash", "drop", "--quiet", "stash@{1}"])),
        &["the stash was changed"],
    ),
    (
        "HEAD",
        |m, _| drop(git(m, &["symbolic-ref", "HEAD", "refs/heads/topic"])),
        &["HEAD of the repository was changed"],
    ),
    (
        "the configuration",
        |m, _| drop(git(m, &["config", "core.fsmonitor", "touch /tmp/x"])),
        &["config of the repository was changed"],
    ),
    (
        "the configuration of worktrees",
        |m, _| write(m, ".git/config.worktree", "[core]\n"),
        &["config.worktree of the repository was added"],
    ),
    (
        "hooks",
        |m, _| {
            write(m, ".git/hooks/pre-commit", "x");
            set_mode(&m.join(".git/hooks/pre-push"), 0o755);
        },
        &[
            "hooks/pre-commit of the repository was added",
            "hooks/pre-push of the repository was changed",
        ],
    ),
    (
        "a hook that is a pipe, and one that is a link",
        |m, _| {
            fifo(&m.join(".git/hooks/pre-commit"));
            fs::remove_file(m.join(".git/hooks/pre-push")).unwrap();
            symlink("/dev/zero", m.join(".git/hooks/pre-push")).unwrap();
        },
        &[
            "hooks/pre-commit of the repository was added",
            "hooks/pre-push of the repository was changed",
        ],
    ),
    (
        "attributes",
        |m, _| write(m, ".git/info/attributes", "* filter=x\n"),
        &["info/attributes of the repository was added"],
    ),
    (
        "borrowed objects",
        |m, _| write(m, ".git/objects/info/alternates", "/tmp\n"),
        &["objects/info/alternates of the repository was added"],
    ),
    (
        "a commit in another worktree",
        |m, _| {
            write(&m.join("../feature"), "README.md", "x");
            commit(&m.join("../feature"), "x");
        },
        &["worktrees/feature/HEAD of the repository was changed"],
    ),
    (
        "files of another worktree, which are not looked at",
        |m, _| {
            write(&m.join("../feature"), "README.md", "x");
            write(&m.join("../feature"), "new", "x");
            git(&m.join("../feature"), &["add", "."]);
        },
        &[],
    ),
    (
        "another worktree taken away",
        |m, _| {
            write(&m.join("../feature"), "new", "x");
            git(m, &["worktree", "remove", "--force", "../feature"]);
        },
        &[
            "worktrees/feature/HEAD of the repository was removed",
            "worktrees/feature/gitdir of the repository was removed",
        ],
    ),
    (
        "another worktree made the loops'",
        |m, w| {
            let place = w.join("../mine/.git");
            write(m, ".git/worktrees/feature/gitdir", place.to_str().unwrap());
        },
        &[
            "worktrees/feature/HEAD of the repository was removed",
            "worktrees/feature/gitdir of the repository was removed",
        ],
    ),
    (
        "what is left of a worktree that is gone, tidied up",
        |m, _| drop(git(m, &["worktree", "prune"])),
        &[],
    ),
    (
        "an entry that another loop is just making",
        |m, _| {
            write(m, ".git/worktrees/making/gitdir", "");
            write(m, ".git/worktrees/cut/gitdir", m.to_str().unwrap());
        },
        &[],
    ),
    (
        "another loop's worktree",
        |m, w| {
            let place = w.join("../other").display().to_string();
            git(m, &["worktree", "add", "--quiet", "--detach", &place]);
        },
        &[],
    ),
    (
        "a hook and the configuration of submodules",
        |m, _| {
            write(m, ".git/modules/libs/a/hooks/post-checkout", "x");
            write(m, ".git/modules/libs/a/modules/b/config", "x");
            write(m, ".git/modules/libs/a/index", "x");
        },
        &[
            "modules/libs/a/hooks/post-checkout of the repository was added",
            "modules/libs/a/modules/b/config of the repository was changed",
        ],
    ),
    (
        "a replaced object",
        |m, _| drop(git(m, &["replace", "HEAD", "HEAD~1"])),
        &["the reference refs/replace/* was made at *"],
    ),
];

/// Puts a star for every id, which the tests do not know.
fn without_ids(what: &str) -> String {
    let is_id = |word: &str| word.len() >= 12 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let words = what.split(' ').map(|word| match word.rsplit_once('/') {
        Some((start, id)) if is_id(id) => format!("{start}/*"),
        _ if is_id(word) => "*".to_owned(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn told(outside: &Outside, setup: &loop_runner::setup::Setup) -> Vec<String> {
    let changes = outside.changes(setup, &GO).unwrap();
    let mut told: Vec<_> = changes
        .iter()
        .map(|change| without_ids(&change.what))
        .collect();
    told.sort();
    told
}

// rows: X-04
// cases: 88, 89
#[test]
fn whatever_is_done_beside_the_worktree_is_told() {
    for (name, act, expected) in CASES {
        let sandbox = sandbox();
        let setup = setup(&sandbox, "", json!({}));
        let worktree = record(&sandbox.worktree());
        let outside = Outside::take(&setup, Some(&worktree), &GO)
            .unwrap()
            .unwrap();
        assert!(told(&outside, &setup).is_empty(), "{name}");
        act(&sandbox.main(), &sandbox.dest());
        assert_eq!(told(&outside, &setup), *expected, "{name}");
    }
}

// rows: X-04
// cases: 88, 102
#[test]
fn in_place_the_project_is_the_work_and_the_rest_is_not() {
    let act = |main: &Path| {
        write(main, "packages/a/src/x", "agent\n");
        write(main, "packages/a/new", "agent\n");
        git(main, &["add", "packages/a"]);
        write(main, "src/lib.rs", "agent\n");
        write(main, "packages/b", "agent\n");
        write(main, ".git/hooks/pre-commit", "x");
    };
    for (place, expected) in [
        (
            "packages/a",
            &[
                "hooks/pre-commit of the repository was added",
                "packages/b was added",
                "src/lib.rs was changed",
            ][..],
        ),
        ("", &["hooks/pre-commit of the repository was added"]),
    ] {
        let sandbox = sandbox();
        let setup = setup(&sandbox, place, json!({}));
        let outside = Outside::take(&setup, None, &GO).unwrap().unwrap();
        act(&sandbox.main());
        assert_eq!(told(&outside, &setup), *expected, "{place}");
    }
}

// cases: 88
#[test]
fn a_home_in_the_checkout_is_the_engines() {
    let sandbox = sandbox();
    let mut setup = setup(&sandbox, "", json!({}));
    setup.home = loop_runner::home::Home::new(sandbox.main().join("fw"));
    write(&sandbox.main(), "fw/worktrees/x", "x");
    let worktree = record(&sandbox.worktree());
    let outside = Outside::take(&setup, Some(&worktree), &GO)
        .unwrap()
        .unwrap();
    write(&sandbox.main(), "fw/worktrees/l/all/x", "x");
    write(&sandbox.main(), "fw/prompts/x.md", "x");
    assert_eq!(told(&outside, &setup), ["fw/prompts/x.md was added"]);
}

// cases: 88
#[test]
fn many_changes_are_told_in_short() {
    let sandbox = sandbox();
    let setup = setup(&sandbox, "", json!({}));
    let worktree = record(&sandbox.worktree());
    let outside = Outside::take(&setup, Some(&worktree), &GO)
        .unwrap()
        .unwrap();
    for n in 0..70 {
        write(&sandbox.main(), &format!("new{n}"), "x");
    }
    let changes = outside.changes(&setup, &GO).unwrap();
    assert_eq!(changes.len(), 51);
    assert_eq!(changes[50].what, "and 20 more");
}

// cases: 88
#[test]
fn a_linked_checkout_has_a_head_and_an_index_of_its_own() {
    let sandbox = sandbox();
    sandbox.git(&[
        "worktree",
        "add",
        "--quiet",
        "--detach",
        "../linked",
        "HEAD",
    ]);
    let linked = sandbox.root().join("linked");
    let mut setup = setup(&sandbox, "", json!({}));
    setup.repository = Some(crate::sandbox::open(&linked));
    let outside = Outside::take(&setup, Some(&record(&sandbox.worktree())), &GO);
    let outside = outside.unwrap().unwrap();
    // The user goes on in the other checkout.
    write(&sandbox.main(), "src/lib.rs", "x");
    git(&sandbox.main(), &["add", "src/lib.rs"]);
    assert!(told(&outside, &setup).is_empty());
    write(&linked, "src/lib.rs", "x");
    git(&linked, &["switch", "--quiet", "--create", "other"]);
    assert_eq!(
        told(&outside, &setup),
        [
            "src/lib.rs was changed",
            "the branch other was made at *",
            "worktrees/linked/HEAD of the repository was changed"
        ]
    );
}

// cases: 88, 102
#[test]
fn without_a_repository_there_is_nothing_to_compare_and_a_stop_is_heard() {
    let sandbox = sandbox();
    let mut setup = setup(&sandbox, "", json!({}));
    let stopped = Outside::take(&setup, None, &AtomicBool::new(true));
    assert!(stopped.is_err());
    setup.repository = None;
    assert!(Outside::take(&setup, None, &GO).unwrap().is_none());
}
