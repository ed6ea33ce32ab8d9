//! What a crash leaves is completed, and what is not the engine's is kept.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use loop_runner::git::{Origin, WorktreeError};

use crate::sandbox::{BRANCH, Sandbox, commit, ensure_at, files, git, open, write};

/// Names the sandbox to a process of the test.
const ROOT: &str = "GIT_TEST_ROOT";

/// The entry's folder in the repository.
fn entry(sandbox: &Sandbox) -> PathBuf {
    sandbox.main().join(".git/worktrees/fix")
}

// cases: 80 (a)
#[test]
fn a_branch_without_a_worktree_is_attached() {
    let sandbox = Sandbox::new();
    sandbox.git(&["branch", BRANCH]);
    let worktree = sandbox.ensure(None).unwrap();
    assert_eq!(worktree.origin, Origin::Attached);
    assert_eq!(
        worktree.recorded.base,
        sandbox.git(&["rev-parse", "HEAD"]).trim()
    );
}

// cases: 80 (a); rows: X-08
#[test]
fn commits_of_an_earlier_run_count_as_the_loops() {
    let sandbox = Sandbox::new();
    let fork = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["switch", "--quiet", "-c", BRANCH]);
    sandbox.write("earlier", "work\n");
    sandbox.commit("an earlier run");
    sandbox.git(&["switch", "--quiet", "trunk"]);
    sandbox.commit("the user goes on");

    let worktree = sandbox.ensure(None).unwrap();

    assert_eq!(worktree.recorded.base, fork.trim());
    assert!(sandbox.dest().join("earlier").exists());
}

// cases: 80 (b)
#[test]
fn an_empty_folder_is_used() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.dest()).unwrap();
    assert_eq!(sandbox.ensure(None).unwrap().origin, Origin::Created);
}

// cases: 80 (c)
#[test]
fn a_folder_with_something_in_it_is_refused_and_kept() {
    let sandbox = Sandbox::new();
    write(&sandbox.dest(), "precious", "mine\n");
    let before = sandbox.users_things();

    let error = sandbox.ensure(None).unwrap_err();

    assert!(matches!(error, WorktreeError::Occupied { .. }), "{error}");
    assert!(error.to_string().contains("precious"), "{error}");
    assert_eq!(
        fs::read_to_string(sandbox.dest().join("precious")).unwrap(),
        "mine\n"
    );
    assert_eq!(sandbox.users_things(), before);
    assert!(!sandbox.git(&["branch", "--list", BRANCH]).contains(BRANCH));
}

// cases: 80 (c)
#[test]
fn a_file_or_a_link_in_the_way_is_refused() {
    let sandbox = Sandbox::new();
    write(
        &sandbox.root(),
        "home/worktrees/main-1/nightly/fix",
        "a file",
    );
    assert!(matches!(
        sandbox.ensure(None),
        Err(WorktreeError::Occupied { .. })
    ));
}

// cases: 80 (d)
#[test]
fn an_entry_whose_folder_is_gone_is_healed_and_no_other() {
    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    write(&sandbox.dest(), "work", "committed\n");
    commit(&sandbox.dest(), "agent");
    let other = sandbox.root().join("other");
    sandbox.git(&[
        "worktree",
        "add",
        "--quiet",
        other.to_str().unwrap(),
        "-b",
        "person",
    ]);
    // Gone for the moment only: a disk that is not mounted.
    fs::rename(&other, sandbox.root().join("unmounted")).unwrap();
    fs::remove_dir_all(sandbox.dest()).unwrap();

    for recorded in [Some(&recorded), None] {
        let worktree = sandbox.ensure(recorded).unwrap();
        assert_eq!(worktree.origin, Origin::Attached);
        assert_eq!(
            worktree.recorded.base,
            sandbox.git(&["rev-parse", "trunk"]).trim()
        );
        assert_eq!(
            fs::read_to_string(sandbox.dest().join("work")).unwrap(),
            "committed\n"
        );
        fs::remove_dir_all(sandbox.dest()).unwrap();
    }

    let list = sandbox.git(&["worktree", "list"]);
    assert!(list.contains("[person]"), "{list}");
}

// cases: 80
#[test]
fn an_entry_that_a_person_locked_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.worktree();
    sandbox.git(&[
        "worktree",
        "lock",
        "--reason",
        "on a stick",
        sandbox.dest().to_str().unwrap(),
    ]);
    fs::remove_dir_all(sandbox.dest()).unwrap();
    let error = sandbox.ensure(None).unwrap_err();
    assert!(error.to_string().contains("on a stick"), "{error}");
    assert!(entry(&sandbox).exists());
}

// cases: 80
#[test]
fn a_worktree_that_was_not_recorded_in_time_is_adopted() {
    let sandbox = Sandbox::new();
    let first = sandbox.worktree();
    write(&sandbox.dest(), "work", "kept\n");

    let second = sandbox.ensure(None).unwrap();

    assert_eq!(second.origin, Origin::Adopted);
    assert_eq!(second.recorded, first);
    assert!(sandbox.dest().join("work").exists());
}

// cases: 80
#[test]
fn a_half_made_worktree_is_made_anew() {
    let sandbox = Sandbox::new();
    let complete = files(&sandbox.worktree().path);
    // What a kill leaves while files are written: the mark, no index, a cut-off file.
    fs::write(entry(&sandbox).join("locked"), "initializing\n").unwrap();
    fs::remove_file(entry(&sandbox).join("index")).unwrap();
    fs::remove_file(sandbox.dest().join("run.sh")).unwrap();
    fs::write(sandbox.dest().join("README.md"), "hel").unwrap();

    let worktree = sandbox.ensure(None).unwrap();

    assert_eq!(worktree.origin, Origin::Attached);
    assert_eq!(files(&sandbox.dest()), complete);
    assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
    assert_eq!(
        fs::read_dir(sandbox.main().join(".git/worktrees"))
            .unwrap()
            .count(),
        1
    );
}

// cases: 80
#[test]
fn a_half_made_worktree_with_a_persons_file_is_refused_and_kept() {
    let sandbox = Sandbox::new();
    sandbox.worktree();
    fs::write(entry(&sandbox).join("locked"), "initializing\n").unwrap();
    write(&sandbox.dest(), "src/note", "mine\n");

    let error = sandbox.ensure(None).unwrap_err();

    assert!(error.to_string().contains("src/note"), "{error}");
    assert!(sandbox.dest().join("src/note").exists());
}

/// Every state in which a kill while registering can leave the few files.
// cases: 80
#[test]
fn a_kill_while_registering_is_healed() {
    for step in 0..6 {
        let sandbox = Sandbox::new();
        sandbox.git(&["branch", BRANCH]);
        let entry = entry(&sandbox);
        fs::create_dir_all(&entry).unwrap();
        fs::create_dir_all(sandbox.dest()).unwrap();
        let dot_git = sandbox.dest().join(".git");
        let gitdir = format!("{}\n", dot_git.display());
        let link = format!("gitdir: {}\n", entry.display());
        let files = [
            (entry.join("locked"), "initializing\n"),
            (entry.join("gitdir"), ""),
            (entry.join("gitdir"), gitdir.as_str()),
            (entry.join("commondir"), "../..\n"),
            (dot_git.clone(), ""),
            (dot_git, link.as_str()),
        ];
        for (path, content) in &files[..step] {
            fs::write(path, content).unwrap();
        }
        let worktree = sandbox.ensure(None);
        let worktree = worktree.unwrap_or_else(|error| panic!("after step {step}: {error}"));
        assert_eq!(git(&worktree.recorded.path, &["status", "--porcelain"]), "");
        sandbox.workspace(&worktree.recorded);
    }
}

/// The process that [`a_kill_at_any_moment_is_healed`] starts and kills.
#[test]
#[ignore = "started by another test"]
fn creates_and_is_killed() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let root = PathBuf::from(root);
    ensure_at(&open(&root.join("main")), &root.join("dest"), None).unwrap();
}

// cases: 80
#[test]
fn a_kill_at_any_moment_is_healed() {
    let sandbox = Sandbox::new();
    for n in 0..100 {
        sandbox.write(&format!("many/{n}"), "content\n");
    }
    sandbox.commit("many files");
    let before = sandbox.users_things();
    let dest = sandbox.root().join("dest");
    for n in 0..=6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "healing::creates_and_is_killed", "--ignored"])
            .env(ROOT, sandbox.root())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        if n < 6 {
            thread::sleep(Duration::from_millis(5 * n));
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            // The last one is left alone, to see that there is something to kill.
            assert!(child.wait().unwrap().success());
            assert!(dest.exists());
        }

        let recorded = ensure_at(&sandbox.repository(), &dest, None)
            .unwrap()
            .recorded;

        sandbox.workspace(&recorded);
        assert_eq!(git(&dest, &["status", "--porcelain"]), "");
        assert_eq!(sandbox.users_things(), before);
        sandbox.git(&["worktree", "remove", dest.to_str().unwrap()]);
        sandbox.git(&["branch", "--quiet", "-D", BRANCH]);
    }
}

// cases: 80, 92
#[test]
fn the_lock_of_a_branch_that_was_never_made_is_removed() {
    let sandbox = Sandbox::new();
    let lock = sandbox
        .main()
        .join(format!(".git/refs/heads/{BRANCH}.lock"));
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    assert_eq!(sandbox.ensure(None).unwrap().origin, Origin::Created);
    assert!(!lock.exists());
}
