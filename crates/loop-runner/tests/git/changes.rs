//! What counts as a change, checked against `git` and by applying the patch.

use std::{collections::BTreeSet, fs, os::unix::fs::symlink, path::Path};

use loop_runner::git::{
    Change, Changes, ChangesError, FileStat, LineStat, Reach, Recorded, Snapshot, Workspace,
    ignored_paths,
};
use proptest::prelude::*;

use crate::sandbox::{GO, Sandbox, commit, git, hash, open, set_mode, try_git, write};

fn since(sandbox: &Sandbox, recorded: &Recorded) -> Changes {
    let workspace = sandbox.workspace(recorded);
    Changes::since_commit(&workspace, &recorded.base, Reach::Repository, &GO).unwrap()
}

/// The changes as `kind path` lines.
fn lines(changes: &Changes) -> Vec<String> {
    changes
        .list()
        .into_iter()
        .map(|Change { path, kind }| format!("{kind:?} {}", path.display()))
        .collect()
}

fn patch(changes: &Changes) -> (String, Vec<FileStat>) {
    let mut out = Vec::new();
    let stats = changes.write_patch(&mut out).unwrap();
    (String::from_utf8(out).unwrap(), stats)
}

/// What one step of an agent does, and the changes that it has to show as.
type Case = (&'static str, fn(&Path), &'static [&'static str]);

type Act = fn(&Path);

const CASES: &[Case] = &[
    ("nothing", |_| {}, &[]),
    (
        "edit",
        |d| write(d, "README.md", "x\n"),
        &["Modified README.md"],
    ),
    ("new", |d| write(d, "a/b", "x"), &["Added a/b"]),
    (
        "deleted",
        |d| fs::remove_file(d.join("run.sh")).unwrap(),
        &["Deleted run.sh"],
    ),
    (
        "renamed, both ends",
        |d| drop(git(d, &["mv", "README.md", "x y"])),
        &["Deleted README.md", "Added x y"],
    ),
    (
        "case-only rename",
        |d| drop(git(d, &["mv", "README.md", "readme.md"])),
        &["Deleted README.md", "Added readme.md"],
    ),
    (
        "mode",
        |d| set_mode(&d.join("run.sh"), 0o644),
        &["Mode run.sh"],
    ),
    (
        "mode and content",
        |d| {
            write(d, "run.sh", "x");
            set_mode(&d.join("run.sh"), 0o644);
        },
        &["Modified run.sh"],
    ),
    (
        "type",
        |d| {
            fs::remove_file(d.join("README.md")).unwrap();
            symlink("run.sh", d.join("README.md")).unwrap();
        },
        &["Type README.md"],
    ),
    (
        "link",
        |d| {
            fs::remove_file(d.join("link")).unwrap();
            symlink("run.sh", d.join("link")).unwrap();
        },
        &["Modified link"],
    ),
    (
        "names",
        |d| write(d, "scripts/ä b\n\"c\"", "x"),
        &["Added scripts/ä b\n\"c\""],
    ),
    ("ignored", |d| write(d, "target/x", "x"), &[]),
    (
        "ignored, but forced into the index",
        |d| {
            write(d, "x.log", "x");
            git(d, &["add", "--force", "x.log"]);
        },
        &["Added x.log"],
    ),
    (
        "untracked by a new rule, then edited",
        |d| {
            git(d, &["rm", "--quiet", "--cached", "src/lib.rs"]);
            write(d, ".gitignore", "src/\n");
            write(d, "src/lib.rs", "x");
        },
        &["Modified .gitignore", "Modified src/lib.rs"],
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
        "committed",
        |d| {
            write(d, "README.md", "x");
            write(d, "new", "x");
            commit(d, "agent");
        },
        &["Modified README.md", "Added new"],
    ),
    (
        "base amended",
        |d| {
            write(d, "README.md", "x");
            git(
                d,
                &["commit", "--quiet", "--all", "--amend", "-m", "amended"],
            );
        },
        &["Modified README.md"],
    ),
    (
        "committed on another branch, history thrown away",
        |d| {
            git(d, &["switch", "--quiet", "--orphan", "other"]);
            write(d, "new", "x");
            commit(d, "agent");
        },
        &[
            "Deleted .gitignore",
            "Deleted README.md",
            "Deleted link",
            "Added new",
            "Deleted run.sh",
            "Deleted src/lib.rs",
        ],
    ),
    (
        "committed, then taken back on disk",
        |d| {
            write(d, "README.md", "x");
            write(d, "new", "x");
            commit(d, "agent");
            write(d, "README.md", "hello\n");
            fs::remove_file(d.join("new")).unwrap();
        },
        &["Committed README.md", "Committed new"],
    ),
    (
        "nested repository",
        |d| {
            write(d, "nested/a/b", "x");
            git(&d.join("nested"), &["init", "--quiet"]);
        },
        &["Added nested"],
    ),
    (
        "a repository made of a folder, to hide a file",
        |d| {
            git(&d.join("src"), &["init", "--quiet"]);
            write(d, "src/hidden", "x");
        },
        &["Added src/hidden"],
    ),
    (
        "a folder instead of a file",
        |d| {
            fs::remove_file(d.join("run.sh")).unwrap();
            write(d, "run.sh/x", "x");
        },
        &["Deleted run.sh", "Added run.sh/x"],
    ),
    (
        "a link instead of a folder",
        |d| {
            fs::rename(d.join("src"), d.join("target")).unwrap();
            symlink("target", d.join("src")).unwrap();
        },
        &["Added src", "Deleted src/lib.rs"],
    ),
    (
        "the engine's own files",
        |d| {
            write(d, ".automaton/loops/x/outputs/tick1-implement.txt", "x");
            write(d, "STATE.md", "x");
        },
        &[],
    ),
];

// rows; cases: 89, 95, 100
#[test]
fn each_kind_of_change_is_seen() {
    for (name, act, expected) in CASES {
        let sandbox = Sandbox::new();
        let recorded = sandbox.worktree();
        act(&sandbox.dest());
        assert_eq!(lines(&since(&sandbox, &recorded)), *expected, "{name}");
    }
}

// rows: X-08; cases: 99
#[test]
fn in_place_an_earlier_edit_of_the_users_never_counts() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "the user's\n");
    sandbox.write("untracked", "the user's\n");
    sandbox.write("gone", "the user's\n");
    let before = Snapshot::take(&sandbox.in_place(), Reach::Repository, &GO);
    let before = before.unwrap().unwrap();
    let changes = || {
        Changes::since_snapshot(&sandbox.in_place(), &before, &GO)
            .unwrap()
            .unwrap()
    };
    assert!(changes().is_empty());

    sandbox.write("new", "agent\n");
    sandbox.write("untracked", "agent\n");
    fs::remove_file(sandbox.main().join("gone")).unwrap();
    sandbox.write("src/lib.rs", "agent\n");

    let expected = [
        "Deleted gone",
        "Added new",
        "Modified src/lib.rs",
        "Modified untracked",
    ];
    assert_eq!(lines(&changes()), expected);
    let (text, _) = patch(&changes());
    assert!(text.contains("-fn a() {}\n+agent\n"), "{text}");
    assert!(
        text.contains("+++ b/new\n@@ -0,0 +1 @@\n+agent\n"),
        "{text}"
    );
    assert!(
        text.contains("Files a/untracked and b/untracked differ"),
        "{text}"
    );

    // A commit changes nothing about that, and a new rule hides nothing.
    sandbox.write(".gitignore", "untracked\n");
    sandbox.commit("agent");
    assert_eq!(
        lines(&changes()),
        [&["Modified .gitignore"][..], &expected].concat()
    );
}

// rows: X-08
#[test]
fn a_state_is_written_and_read_back() {
    let sandbox = Sandbox::new();
    sandbox.write("ä b\n", "x");
    let before = Snapshot::take(&sandbox.in_place(), Reach::Project, &GO);
    let before = before.unwrap().unwrap();
    let read: Snapshot = before.to_string().parse().unwrap();
    assert_eq!(read, before);
    assert_eq!(read.tree_hash(), before.tree_hash());
    let text = before.to_string();
    for bad in [
        "",
        "snapshot 2 project\n",
        &text[..text.len() - 1],
        &text.replace("f b", "f z"),
    ] {
        assert!(bad.parse::<Snapshot>().is_err(), "{bad}");
    }
}

// rows: X-12
#[test]
fn outside_of_a_repository_there_is_no_commit_to_compare_with() {
    let dir = tempfile::TempDir::new().unwrap();
    let workspace = Workspace::plain(dir.path());
    let zeros = "0".repeat(40);
    let error = Changes::since_commit(&workspace, &zeros, Reach::Project, &GO).unwrap_err();
    assert!(matches!(error, ChangesError::NoRepository));

    write(dir.path(), "a", "x");
    let before = Snapshot::take(&workspace, Reach::Project, &GO)
        .unwrap()
        .unwrap();
    write(dir.path(), "a", "y");
    let changes = Changes::since_snapshot(&workspace, &before, &GO)
        .unwrap()
        .unwrap();
    assert_eq!(lines(&changes), ["Modified a"]);
}

#[test]
fn a_base_that_is_not_there_is_an_error() {
    let sandbox = Sandbox::new();
    for base in ["0".repeat(40), "not hex".to_owned(), "1".repeat(40)] {
        let result = Changes::since_commit(&sandbox.in_place(), &base, Reach::Project, &GO);
        assert!(matches!(result, Err(ChangesError::Base { .. })), "{base}");
    }
}

// cases: 102
#[test]
fn a_project_in_a_folder_can_be_looked_at_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("packages/a/x", "x");
    sandbox.commit("packages");
    let recorded = sandbox.worktree();
    write(&sandbox.dest(), "packages/a/x", "y");
    write(&sandbox.dest(), "packages/a/STATE.md", "y");
    write(&sandbox.dest(), "README.md", "y");
    let workspace =
        Workspace::of_worktree(&sandbox.repository(), &recorded, Path::new("packages/a")).unwrap();
    for (reach, expected) in [
        (Reach::Project, &["Modified packages/a/x"][..]),
        (
            Reach::Repository,
            &["Modified README.md", "Modified packages/a/x"],
        ),
    ] {
        let changes = Changes::since_commit(&workspace, &recorded.base, reach, &GO).unwrap();
        assert_eq!(lines(&changes), expected);
    }
}

// rows: X-08
#[test]
fn conversions_are_no_changes_and_hide_none() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".gitattributes",
        "*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n",
    );
    sandbox.write("a.txt", "one\r\ntwo\r\n");
    sandbox.write("a.id", "$Id$\n");
    fs::write(sandbox.main().join("a.u16"), b"x\0\n\0").unwrap();
    sandbox.commit("attributes");
    let recorded = sandbox.worktree();
    let text = fs::read(sandbox.dest().join("a.txt")).unwrap();
    assert_eq!(text, b"one\r\ntwo\r\n");
    assert_eq!(lines(&since(&sandbox, &recorded)), [""; 0]);

    write(&sandbox.dest(), "a.txt", "one\r\n2\r\n");
    let changes = since(&sandbox, &recorded);
    assert_eq!(lines(&changes), ["Modified a.txt"]);
    let (text, _) = patch(&changes);
    assert!(
        text.ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        "{text}"
    );

    // New attributes do not turn an edit into a conversion.
    write(
        &sandbox.dest(),
        ".gitattributes",
        "* text=auto\n*.md ident\n",
    );
    write(&sandbox.dest(), "README.md", "hello\r\n");
    let expected = [
        "Modified .gitattributes",
        "Modified README.md",
        "Modified a.txt",
    ];
    assert_eq!(lines(&since(&sandbox, &recorded)), expected);
}

// rows: X-08
#[test]
fn a_submodule_that_was_not_fetched_is_no_change() {
    let sandbox = Sandbox::new();
    let library = sandbox.root().join("library");
    fs::create_dir(&library).unwrap();
    git(&library, &["init", "--quiet"]);
    commit(&library, "library");
    let allow = "protocol.file.allow=always";
    let url = library.to_str().unwrap();
    sandbox.git(&["-c", allow, "submodule", "--quiet", "add", url, "lib"]);
    sandbox.commit("submodule");
    let recorded = sandbox.worktree();
    assert_eq!(lines(&since(&sandbox, &recorded)), [""; 0]);

    git(
        &sandbox.dest(),
        &["-c", allow, "submodule", "--quiet", "update", "--init"],
    );
    assert_eq!(lines(&since(&sandbox, &recorded)), [""; 0]);
    commit(&sandbox.dest().join("lib"), "agent");
    assert_eq!(lines(&since(&sandbox, &recorded)), ["Modified lib"]);
}

// rows: X-08; cases: 95
#[test]
fn the_patch_has_the_numbers_and_notes() {
    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    let dest = sandbox.dest();
    write(&dest, "src/lib.rs", "fn a() {}\nfn b() {}");
    write(&dest, "new file", "one\ntwo\n");
    fs::write(dest.join("image"), b"\x89PNG\0").unwrap();
    set_mode(&dest.join("run.sh"), 0o644);
    fs::remove_file(dest.join("README.md")).unwrap();

    let (text, stats) = patch(&since(&sandbox, &recorded));

    let expected = "\
diff --git a/README.md b/README.md
deleted file mode 100644
--- a/README.md
+++ /dev/null
@@ -1 +0,0 @@
-hello
diff --git a/image b/image
new file mode 100644
Binary files /dev/null and b/image differ
diff --git a/new file b/new file
new file mode 100644
--- /dev/null
+++ b/new file\t
@@ -0,0 +1,2 @@
+one
+two
diff --git a/run.sh b/run.sh
old mode 100755
new mode 100644
diff --git a/src/lib.rs b/src/lib.rs
--- a/src/lib.rs
+++ b/src/lib.rs
@@ -1 +1,2 @@
 fn a() {}
+fn b() {}
\\ No newline at end of file
";
    assert_eq!(text, expected);
    let numbers = |added, removed| Some(LineStat { added, removed });
    let expected = [
        ("README.md", numbers(0, 1)),
        ("image", None),
        ("new file", numbers(2, 0)),
        ("run.sh", numbers(0, 0)),
        ("src/lib.rs", numbers(1, 0)),
    ]
    .map(|(path, lines)| FileStat {
        path: path.into(),
        lines,
    });
    assert_eq!(stats, expected);
}

/// Also not when it comes between the comparison and the patch.
// rows: D-20; cases: 89
#[test]
fn what_is_no_text_is_one_line_and_is_not_read() {
    let acts: &[(&str, Act)] = &[
        ("a sparse file", |path| {
            fs::File::create(path).unwrap().set_len(1 << 41).unwrap();
        }),
        ("a pipe", |path| {
            fs::remove_file(path).unwrap();
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }),
        ("a link", |path| {
            fs::remove_file(path).unwrap();
            symlink("/dev/zero", path).unwrap();
        }),
    ];
    for (name, act) in acts {
        let sandbox = Sandbox::new();
        let recorded = sandbox.worktree();
        let path = sandbox.dest().join("README.md");
        fs::write(&path, "other\n").unwrap();
        let changes = since(&sandbox, &recorded);
        act(&path);
        let (text, stats) = patch(&changes);
        assert!(
            text.ends_with("Binary files a/README.md and b/README.md differ\n"),
            "{name}: {text}"
        );
        assert_eq!(stats[0].lines, None);
    }

    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    for name in ["README.md", "new"] {
        let file = fs::File::create(sandbox.dest().join(name)).unwrap();
        file.set_len(1 << 41).unwrap();
    }
    let changes = since(&sandbox, &recorded);
    assert_eq!(lines(&changes), ["Modified README.md", "Added new"]);
    assert_eq!(patch(&changes).0.matches("Binary files").count(), 2);
}

// rows: X-08; cases: 89
#[test]
fn ignored_files_can_be_listed() {
    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    let dest = sandbox.dest();
    write(&dest, "target/debug/x", "x");
    write(&dest, "src/a.log", "x");
    write(&dest, "new", "x");
    let paths = ignored_paths(&sandbox.workspace(&recorded), Reach::Project, &GO).unwrap();
    assert_eq!(paths, ["src/a.log", "target"].map(std::path::PathBuf::from));
}

/// One step of a random agent.
fn step() -> impl Strategy<Value = (String, Option<String>, bool)> {
    (
        prop::sample::select(vec![
            "README.md",
            "src/lib.rs",
            "run.sh",
            "src/new.rs",
            "a b",
            "ä",
            "d/e",
            "\"q\"\t",
        ])
        .prop_map(str::to_owned),
        prop::option::weighted(
            0.8,
            prop::collection::vec("[a-c]{0,2}", 0..12).prop_map(|lines| lines.join("\n")),
        ),
        any::<bool>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The same paths as git finds, and a patch from which git makes the same files.
    // rows; cases: 95
    #[test]
    fn git_agrees(steps in prop::collection::vec(step(), 0..6), committed in any::<bool>()) {
        let sandbox = Sandbox::new();
        let recorded = sandbox.worktree();
        let dest = sandbox.dest();
        for (path, content, executable) in &steps {
            match content {
                Some(content) => {
                    write(&dest, path, content);
                    set_mode(&dest.join(path), if *executable { 0o755 } else { 0o644 });
                }
                None => drop(fs::remove_file(dest.join(path))),
            }
        }
        if committed {
            commit(&dest, "agent");
        }
        let changes = since(&sandbox, &recorded);
        let (text, stats) = patch(&changes);
        let after = hash(&sandbox.workspace(&recorded));

        git(&dest, &["add", "--all"]);
        let diff = |format| git(&dest, &["diff", "--cached", "--no-renames", "-z", format, &recorded.base]);
        let names: BTreeSet<String> = diff("--name-only").split_terminator('\0').map(str::to_owned).collect();
        let ours: BTreeSet<String> = changes.list().into_iter().map(|c| c.path.to_str().unwrap().to_owned()).collect();
        prop_assert_eq!(ours, names);
        let numbers: String = stats
            .iter()
            .map(|stat| {
                let lines = stat.lines.unwrap();
                format!("{}\t{}\t{}\0", lines.added, lines.removed, stat.path.display())
            })
            .collect();
        prop_assert_eq!(numbers, diff("--numstat"));

        sandbox.git(&["worktree", "add", "--quiet", "--detach", "../copy", &recorded.base]);
        let copy = sandbox.root().join("copy");
        fs::write(sandbox.root().join("patch"), &text).unwrap();
        if !text.is_empty() {
            let (applied, message) = try_git(&copy, &["apply", "../patch"]);
            prop_assert!(applied, "{}\n{}", message, text);
        }
        prop_assert_eq!(hash(&Workspace::in_place(&open(&copy), &copy)), after);
    }
}
