//! What a tree hash depends on, and what it does not depend on.

use std::{fs, os::unix::fs::symlink, path::Path, sync::atomic::AtomicBool};

use loop_runner::git::{Reach, Snapshot, SnapshotError, TreeHash, Workspace};
use proptest::prelude::*;

use crate::sandbox::{GO, Sandbox, commit, git, hash, open, set_mode, write};

type Act = fn(&Path);

/// Changes that the hash has to show, each on its own.
const VISIBLE: &[(&str, Act)] = &[
    ("edit", |d| write(d, "src/lib.rs", "fn b() {}\n")),
    ("edit of the same length and time", |d| {
        let path = d.join("README.md");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "jello\n").unwrap();
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }),
    ("new file", |d| write(d, "new", "x")),
    ("new file in a new folder", |d| write(d, "a/b/c", "x")),
    ("deleted", |d| fs::remove_file(d.join("README.md")).unwrap()),
    ("renamed", |d| {
        fs::rename(d.join("README.md"), d.join("readme")).unwrap();
    }),
    ("case-only rename", |d| {
        fs::rename(d.join("README.md"), d.join("Readme.md")).unwrap();
    }),
    ("executable bit on", |d| {
        set_mode(&d.join("README.md"), 0o755);
    }),
    ("executable bit off", |d| set_mode(&d.join("run.sh"), 0o644)),
    ("other link target", |d| {
        fs::remove_file(d.join("link")).unwrap();
        symlink("run.sh", d.join("link")).unwrap();
    }),
    ("link instead of a file", |d| {
        fs::remove_file(d.join("README.md")).unwrap();
        symlink("run.sh", d.join("README.md")).unwrap();
    }),
    ("file instead of a link", |d| {
        fs::remove_file(d.join("link")).unwrap();
        fs::write(d.join("link"), "README.md").unwrap();
    }),
    ("folder instead of a file", |d| {
        fs::remove_file(d.join("README.md")).unwrap();
        write(d, "README.md/x", "x");
    }),
    ("link instead of a folder", |d| {
        fs::rename(d.join("src"), d.parent().unwrap().join("moved")).unwrap();
        symlink("../moved", d.join("src")).unwrap();
    }),
    ("name with a space and an umlaut", |d| write(d, "ä b", "x")),
    ("empty file", |d| write(d, "empty", "")),
    ("nested repository", |d| {
        write(d, "nested/file", "x");
        git(&d.join("nested"), &["init", "--quiet"]);
    }),
    ("repository made of a tracked folder, hiding a file", |d| {
        git(&d.join("src"), &["init", "--quiet"]);
        write(d, "src/hidden", "x");
    }),
];

/// Changes that the hash must not show.
const INVISIBLE: &[(&str, Act)] = &[
    ("ignored file", |d| write(d, "a.log", "x")),
    ("ignored folder", |d| write(d, "target/debug/x", "x")),
    ("empty folder", |d| fs::create_dir(d.join("empty")).unwrap()),
    ("touched", |d| {
        let file = fs::File::options()
            .append(true)
            .open(d.join("README.md"))
            .unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH)
            .unwrap();
    }),
    ("the engine's own files", |d| {
        write(d, ".automaton/loops/x/.state.json", "{}");
        write(d, "STATE.md", "x");
        write(d, "STATE.prev.md", "x");
    }),
    ("an empty commit", |d| commit(d, "agent")),
    ("a branch", |d| {
        drop(git(d, &["switch", "--quiet", "-c", "agent"]));
    }),
    ("no index", |d| {
        let index = git(d, &["rev-parse", "--git-path", "index"]);
        fs::remove_file(d.join(index.trim())).unwrap();
    }),
    ("a damaged index", |d| {
        let index = git(d, &["rev-parse", "--git-path", "index"]);
        fs::write(d.join(index.trim()), "DIRC nonsense").unwrap();
    }),
    ("a pipe", |d| pipe(&d.join("pipe"))),
];

// rows: D-19; cases: 89, 100
#[test]
fn the_hash_shows_every_change_of_what_counts() {
    for (name, act) in VISIBLE {
        let sandbox = Sandbox::new();
        let before = sandbox.hash();
        act(&sandbox.main());
        let after = sandbox.hash();
        assert_ne!(before, after, "{name}");
        // Committing does not change a state.
        if !name.contains("nested repository") && !name.contains("hiding") {
            sandbox.commit("agent");
            assert_eq!(after, sandbox.hash(), "{name}, committed");
        }
    }
}

// rows: D-19
#[test]
fn the_hash_shows_nothing_else() {
    for (name, act) in INVISIBLE {
        let sandbox = Sandbox::new();
        let before = sandbox.hash();
        act(&sandbox.main());
        assert_eq!(before, sandbox.hash(), "{name}");
    }
}

// rows: D-19; cases: 100
#[test]
fn a_worktree_has_the_hash_of_its_base() {
    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    assert_eq!(hash(&sandbox.workspace(&recorded)), sandbox.hash());
    write(&sandbox.dest(), "README.md", "agent\n");
    assert_ne!(hash(&sandbox.workspace(&recorded)), sandbox.hash());
    sandbox.write("README.md", "agent\n");
    assert_eq!(hash(&sandbox.workspace(&recorded)), sandbox.hash());
}

// rows: D-19; cases: 89
#[test]
fn the_index_cannot_hide_a_change() {
    let lies: &[&[&str]] = &[
        &[
            "update-index",
            "--assume-unchanged",
            "README.md",
            "src/lib.rs",
        ],
        &["update-index", "--skip-worktree", "README.md", "src/lib.rs"],
        &["rm", "--quiet", "--cached", "README.md", "src/lib.rs"],
        &["add", "--intent-to-add", "."],
    ];
    for lie in lies {
        for act in [
            (|d| write(d, "README.md", "other\n")) as Act,
            |d| write(d, "src/lib.rs", "other\n"),
            |d| write(d, "src/new.rs", "new\n"),
            |d| fs::remove_file(d.join("src/lib.rs")).unwrap(),
        ] {
            let sandbox = Sandbox::new();
            let before = sandbox.hash();
            sandbox.git(lie);
            assert_eq!(before, sandbox.hash(), "{lie:?}");
            act(&sandbox.main());
            assert_ne!(before, sandbox.hash(), "{lie:?}");
        }
    }
}

/// A walk that believes these flags leaves the whole folder out.
// rows: D-19; cases: 89
#[test]
fn a_folder_called_skipped_is_looked_into() {
    for files in [&["src/lib.rs"][..], &["src/lib.rs", "src/main.rs"]] {
        for cone in ["true", "false"] {
            let sandbox = Sandbox::new();
            files.iter().for_each(|file| sandbox.write(file, "x"));
            sandbox.commit("files");
            sandbox.git(&["config", "core.sparseCheckout", "true"]);
            sandbox.git(&["config", "core.sparseCheckoutCone", cone]);
            sandbox.git(&[&["update-index", "--skip-worktree"], files].concat());
            let before = sandbox.hash();
            sandbox.write("src/deeper/new.rs", "new\n");
            assert_ne!(before, sandbox.hash(), "{files:?}");
        }
    }
}

// rows: D-19; cases: 96
#[test]
fn a_tracked_file_counts_though_it_is_ignored() {
    let sandbox = Sandbox::new();
    sandbox.write("kept.log", "x");
    sandbox.git(&["add", "--force", "kept.log"]);
    sandbox.commit("kept");
    let before = sandbox.hash();
    sandbox.write("kept.log", "y");
    assert_ne!(before, sandbox.hash());
}

// cases: 102
#[test]
fn a_project_in_a_folder_has_the_hash_of_that_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("packages/a/x", "x");
    sandbox.write("packages/ab/x", "x");
    sandbox.write("packages/[a]/x", "x");
    sandbox.commit("packages");
    let project = sandbox.main().join("packages/a");
    let workspace = || Workspace::in_place(&open(&project), &project);
    let before = hash(&workspace());
    assert_eq!(workspace().project(), project);

    for outside in [
        "README.md",
        "packages/ab/x",
        "packages/ab/new",
        "packages/[a]/x",
    ] {
        sandbox.write(outside, "changed");
    }
    sandbox.write("packages/a/.automaton/x", "x");
    sandbox.write("packages/a/STATE.md", "x");
    assert_eq!(before, hash(&workspace()));

    // Another project's or the repository's file of that name is a file like any other.
    sandbox.write("packages/a/sub/STATE.md", "x");
    let changed = hash(&workspace());
    assert_ne!(before, changed);
    sandbox.write("packages/a/new", "x");
    assert_ne!(changed, hash(&workspace()));

    let all = Snapshot::take(&workspace(), Reach::Repository, &GO)
        .unwrap()
        .unwrap();
    let part = Snapshot::take(&workspace(), Reach::Project, &GO)
        .unwrap()
        .unwrap();
    assert!(all.len() > part.len() && !part.is_empty());
}

/// As when a person's home is a repository that ignores everything.
// rows: D-19; cases: 102
#[test]
fn a_project_that_the_repository_around_it_ignores_is_a_plain_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("target/project/x", "x");
    let project = sandbox.main().join("target/project");
    let workspace = || Workspace::in_place(&open(&project), &project);
    let before = hash(&workspace());
    sandbox.write("target/project/x", "y");
    let after = hash(&workspace());
    assert_ne!(before, after);

    sandbox.git(&["add", "--force", "target/project/x"]);
    assert_ne!(workspace().root(), project);
    sandbox.write("target/project/x", "z");
    assert_ne!(after, hash(&workspace()));
}

// rows: D-19
#[test]
fn outside_of_a_repository_everything_counts() {
    let dir = tempfile::TempDir::new().unwrap();
    let workspace = Workspace::plain(dir.path());
    write(dir.path(), "a/b", "x");
    write(dir.path(), ".gitignore", "*\n");
    let before = hash(&workspace);
    write(dir.path(), ".automaton/x", "x");
    write(dir.path(), "STATE.md", "x");
    assert_eq!(before, hash(&workspace));
    write(dir.path(), "a/c", "x");
    assert_ne!(before, hash(&workspace));
    fs::remove_file(dir.path().join("a/c")).unwrap();
    assert_eq!(before, hash(&workspace));
}

/// A sparse file takes no room, so an agent can make one of any length.
// rows: D-19
#[test]
fn with_a_file_too_long_to_read_the_state_is_unknown() {
    let sandbox = Sandbox::new();
    let long = |path: &Path| fs::File::create(path).unwrap().set_len(1 << 41).unwrap();
    for (name, in_nested) in [("long", false), ("nested/long", true)] {
        write(&sandbox.main(), name, "");
        if in_nested {
            git(&sandbox.main().join("nested"), &["init", "--quiet"]);
        }
        long(&sandbox.main().join(name));
        for workspace in [sandbox.in_place(), Workspace::plain(&sandbox.main())] {
            assert_eq!(TreeHash::of(&workspace, &GO).unwrap(), None, "{name}");
        }
        fs::remove_file(sandbox.main().join(name)).unwrap();
    }
    // Nobody asked for what is ignored.
    long(&sandbox.main().join("long.log"));
    sandbox.hash();
}

/// What git reads to list files can be made to be waited for, or to have no end.
// rows: D-19; cases: 89
#[test]
fn no_file_that_a_listing_reads_is_waited_for() {
    let names = [
        "wt/.gitignore",
        "wt/src/.gitignore",
        "wt/src/.git",
        "wt/.gitattributes",
        "entry/index",
        "entry/HEAD",
    ];
    let makers: [Act; 2] = [pipe, |path| {
        fs::File::create(path).unwrap().set_len(1 << 41).unwrap();
    }];
    for name in names {
        for make in makers {
            let sandbox = Sandbox::new();
            let recorded = sandbox.worktree();
            let (place, below) = name.split_once('/').unwrap();
            let path = match place {
                "wt" => sandbox.dest().join(below),
                _ => sandbox.main().join(".git/worktrees/fix").join(below),
            };
            let _none = fs::remove_file(&path);
            make(&path);
            let (send, receive) = std::sync::mpsc::channel();
            let repository = sandbox.repository();
            std::thread::spawn(move || {
                let workspace = Workspace::of_worktree(&repository, &recorded, Path::new(""));
                let hash = workspace.map(|workspace| TreeHash::of(&workspace, &GO));
                send.send(format!("{hash:?}")).unwrap();
            });
            let answer = receive.recv_timeout(std::time::Duration::from_secs(20));
            assert!(answer.is_ok(), "{name} is waited for");
        }
    }
}

fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn an_interrupt_is_honored() {
    let sandbox = Sandbox::new();
    let stop = AtomicBool::new(true);
    for workspace in [sandbox.in_place(), Workspace::plain(&sandbox.main())] {
        let result = TreeHash::of(&workspace, &stop);
        assert!(
            matches!(result, Err(SnapshotError::Interrupted)),
            "{result:?}"
        );
    }
}

#[test]
fn a_hash_is_read_back_and_nothing_else_is() {
    let hash = Sandbox::new().hash();
    assert_eq!(hash.as_str().parse::<TreeHash>().unwrap(), hash);
    let json = serde_json::to_string(&hash).unwrap();
    assert_eq!(serde_json::from_str::<TreeHash>(&json).unwrap(), hash);
    for bad in ["", "abc", &"g".repeat(64), &"A".repeat(64), &"0".repeat(65)] {
        assert!(bad.parse::<TreeHash>().is_err(), "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Equal files, equal hash; different files, different hash.
    // rows: D-19
    #[test]
    fn the_hash_is_a_function_of_the_files(
        a in prop::collection::btree_map("[ab]{1,2}", "[xy]{0,2}", 0..4),
        b in prop::collection::btree_map("[ab]{1,2}", "[xy]{0,2}", 0..4),
    ) {
        let hash_of = |files: &std::collections::BTreeMap<String, String>| {
            let dir = tempfile::TempDir::new().unwrap();
            for (name, content) in files {
                write(dir.path(), name, content);
            }
            hash(&Workspace::plain(dir.path()))
        };
        prop_assert_eq!(hash_of(&a) == hash_of(&b), a == b);
    }
}

/// Changes a file's content, and puts its length and time back.
fn change_unseen(path: &Path, content: &str) {
    let meta = path.metadata().unwrap();
    assert_eq!(meta.len(), content.len() as u64);
    fs::write(path, content).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(meta.modified().unwrap()).unwrap();
}

// rows: D-19
// cases: 89
#[test]
fn a_file_that_was_read_before_is_read_again_when_it_changed() {
    let sandbox = Sandbox::new();
    sandbox.write("other.rs", "fn c() {}\n");
    let repository = sandbox.repository();
    let now = || hash(&Workspace::in_place(&repository, &sandbox.main()));
    // What is younger than two seconds is not remembered.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let lib = sandbox.main().join("src/lib.rs");
    let mut seen = vec![now()];
    assert_eq!(now(), seen[0]);
    let acts: [&dyn Fn(); 5] = [
        &|| change_unseen(&lib, "fn b() {}\n"),
        &|| {
            // The same length and time under another number.
            let time = lib.metadata().unwrap().modified().unwrap();
            let other = sandbox.main().join("other.rs");
            fs::File::options()
                .write(true)
                .open(&other)
                .unwrap()
                .set_modified(time)
                .unwrap();
            fs::rename(&other, &lib).unwrap();
        },
        &|| set_mode(&lib, 0o755),
        &|| {
            fs::remove_file(&lib).unwrap();
            symlink("../run.sh", &lib).unwrap();
        },
        &|| fs::remove_file(&lib).unwrap(),
    ];
    for (at, act) in acts.into_iter().enumerate() {
        act();
        let hash_now = now();
        assert!(!seen.contains(&hash_now), "{at}");
        assert_eq!(
            hash_now,
            sandbox.hash(),
            "{at}: as one that remembers nothing"
        );
        seen.push(hash_now);
    }
}
