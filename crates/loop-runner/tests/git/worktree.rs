//! Creating, reusing and healing worktrees, and refusing what must be refused.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use loop_runner::git::{
    BranchName, Configuration, Origin, Repository, Request, Stray, Workspace, WorktreeError,
    ensure, pick_branch,
};

use crate::sandbox::{BRANCH, GO, Sandbox, commit, ensure_at, git, open, try_git, write};

/// The entry's folder in the repository.
fn entry(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.main().join(".git/worktrees/fix")
}

// rows, U-35
#[test]
fn a_worktree_is_created_for_git_to_see() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "the user's edit\n");
    sandbox.write("untracked", "the user's file\n");
    sandbox.write("stashed", "x\n");
    sandbox.git(&["add", "stashed"]);
    let before = sandbox.users_things();

    let worktree = sandbox.ensure(None).unwrap();

    assert_eq!(worktree.origin, Origin::Created);
    assert_eq!(worktree.recorded.path, sandbox.dest());
    assert_eq!(worktree.recorded.branch, BRANCH);
    assert_eq!(
        worktree.recorded.base,
        sandbox.git(&["rev-parse", "HEAD"]).trim()
    );
    assert_eq!(worktree.warnings, [""; 0]);
    let list = sandbox.git(&["worktree", "list", "--porcelain"]);
    assert!(
        list.contains(&format!("worktree {}\n", sandbox.dest().display())),
        "{list}"
    );
    assert!(
        list.contains(&format!("branch refs/heads/{BRANCH}")),
        "{list}"
    );
    assert!(
        !list.contains("locked") && !list.contains("prunable"),
        "{list}"
    );
    assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
    assert_eq!(git(&sandbox.dest(), &["fsck", "--no-dangling"]), "");
    assert_eq!(
        fs::read_to_string(sandbox.dest().join("README.md")).unwrap(),
        "hello\n"
    );
    assert_eq!(sandbox.users_things(), before);
}

// rows: X-03, shapes 12
#[test]
fn what_is_recorded_has_the_shape_of_the_state() {
    let recorded = Sandbox::new().worktree();
    let json = serde_json::to_value(&recorded).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["path", "branch", "base", "admin"]);
    assert_eq!(json["base"].as_str().unwrap().len(), 40);
    assert_eq!(json["admin"].as_str().unwrap().len(), 64);
    assert_eq!(
        serde_json::from_value::<loop_runner::git::Recorded>(json).unwrap(),
        recorded
    );
}

// rows: X-03
#[test]
fn later_ticks_reuse_it_with_the_agents_work() {
    let sandbox = Sandbox::new();
    let first = sandbox.worktree();
    write(&sandbox.dest(), "work", "done\n");
    git(&sandbox.dest(), &["commit", "--allow-empty", "-m", "agent"]);
    sandbox.commit("the user goes on");

    let second = sandbox.ensure(Some(&first)).unwrap();

    assert_eq!(second.origin, Origin::Reused);
    assert_eq!(second.recorded, first);
    assert_eq!(
        fs::read_to_string(sandbox.dest().join("work")).unwrap(),
        "done\n"
    );
}

// cases: 82
#[test]
fn a_branch_that_is_checked_out_elsewhere_is_refused_with_the_place() {
    let sandbox = Sandbox::new();
    sandbox.git(&["switch", "--quiet", "-c", BRANCH]);
    let before = sandbox.users_things();

    let error = sandbox.ensure(None).unwrap_err();

    let WorktreeError::CheckedOut { branch, at } = &error else {
        panic!("{error}");
    };
    assert_eq!(branch, BRANCH);
    assert_eq!(at, &sandbox.main());
    assert!(error.hint().unwrap().contains("switch"));
    assert!(!sandbox.dest().exists());
    assert_eq!(sandbox.users_things(), before);
}

// cases: 83; rows: X-05
#[test]
fn a_repository_without_commits_is_refused_with_the_fix() {
    let sandbox = Sandbox::unborn();
    let error = sandbox.ensure(None).unwrap_err();
    assert!(matches!(error, WorktreeError::NoCommits { .. }), "{error}");
    let fix = error.hint().unwrap();
    assert!(
        fix.starts_with("git -C '") && fix.contains("commit --allow-empty"),
        "{fix}"
    );
    assert!(!sandbox.dest().exists());
    assert!(!sandbox.main().join(".git/worktrees").exists());
    assert_eq!(sandbox.repository().head().unwrap().commit, None);
    assert_eq!(
        sandbox.repository().head().unwrap().branch.as_deref(),
        Some("trunk")
    );
}

// rows: X-05
#[test]
fn outside_of_a_repository_there_is_none() {
    let dir = tempfile::TempDir::new().unwrap();
    assert!(
        Repository::discover(dir.path(), Configuration::RepositoryOnly)
            .unwrap()
            .is_none()
    );
}

// cases: 84
#[test]
fn a_detached_head_is_the_base() {
    let sandbox = Sandbox::new();
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.commit("second");
    sandbox.git(&["checkout", "--quiet", "--detach", first.trim()]);
    let head = sandbox.repository().head().unwrap();
    assert_eq!(
        (head.branch, head.commit.as_deref()),
        (None, Some(first.trim()))
    );
    assert_eq!(sandbox.ensure(None).unwrap().recorded.base, first.trim());
}

// cases: 84
#[test]
fn a_shallow_clone_will_do() {
    let sandbox = Sandbox::new();
    sandbox.commit("second");
    let url = format!("file://{}", sandbox.main().display());
    git(
        &sandbox.root(),
        &["clone", "--quiet", "--depth=1", &url, "shallow"],
    );
    let clone = open(&sandbox.root().join("shallow"));
    let worktree = ensure_at(&clone, &sandbox.dest(), None).unwrap();
    assert_eq!(git(&worktree.recorded.path, &["status", "--porcelain"]), "");
    // A branch with work of its own makes the engine look for a common ancestor.
    commit(&sandbox.dest(), "agent");
    git(
        &sandbox.root().join("shallow"),
        &["worktree", "remove", sandbox.dest().to_str().unwrap()],
    );
    let again = ensure_at(&clone, &sandbox.dest(), None).unwrap();
    assert_eq!(again.recorded.base, worktree.recorded.base);
}

// cases: 87
#[test]
fn a_bare_layout_works_from_its_root_and_from_a_peer() {
    let sandbox = Sandbox::new();
    let layout = sandbox.root().join("layout");
    fs::create_dir(&layout).unwrap();
    git(
        &layout,
        &[
            "clone",
            "--quiet",
            "--bare",
            sandbox.main().to_str().unwrap(),
            ".bare",
        ],
    );
    fs::write(layout.join(".git"), "gitdir: ./.bare\n").unwrap();
    git(
        &layout,
        &["worktree", "add", "--quiet", "peer", "-b", "peer"],
    );
    let config = fs::read(layout.join(".bare/config")).unwrap();

    for (from, bare) in [(layout.clone(), true), (layout.join("peer"), false)] {
        let repository = open(&from);
        assert_eq!(repository.top_level().is_none(), bare);
        assert_eq!(
            repository.common_dir().canonicalize().unwrap(),
            layout.join(".bare")
        );
        let worktree = ensure_at(&repository, &sandbox.dest(), None).unwrap();
        Workspace::of_worktree(&repository, &worktree.recorded, Path::new("")).unwrap();
        assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
        git(
            &layout,
            &["worktree", "remove", sandbox.dest().to_str().unwrap()],
        );
    }
    assert_eq!(fs::read(layout.join(".bare/config")).unwrap(), config);
}

// cases: 87
#[test]
fn the_shared_configuration_stays_also_where_relative_links_are_wanted() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "worktree.useRelativePaths", "true"]);
    let before = sandbox.users_things();
    sandbox.worktree();
    assert_eq!(sandbox.users_things(), before);
    assert_eq!(git(&sandbox.dest(), &["status", "--porcelain"]), "");
}

// cases: 92
#[test]
fn a_lock_is_waited_for_and_never_deleted() {
    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    let lock = entry(&sandbox).join("index.lock");
    fs::write(&lock, "").unwrap();

    let worktree = sandbox.ensure(Some(&recorded)).unwrap();

    assert!(
        worktree.warnings[0].contains("index.lock"),
        "{:?}",
        worktree.warnings
    );
    assert!(lock.exists());

    let release = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        fs::remove_file(lock).unwrap();
    });
    let worktree = ensure(&Request {
        repository: &sandbox.repository(),
        dest: &sandbox.dest(),
        branch: &BranchName::new("nightly", Some("fix")),
        recorded: Some(&recorded),
        lock_wait: std::time::Duration::from_secs(20),
        stop: &GO,
    });
    release.join().unwrap();
    assert_eq!(worktree.unwrap().warnings, [""; 0]);
}

// cases: 97; rows: D-2
#[test]
fn a_place_in_the_repository_has_to_be_ignored() {
    let sandbox = Sandbox::new();
    let dest = sandbox.main().join("worktrees/main-1/nightly/fix");
    let refused = ensure_at(&sandbox.repository(), &dest, None).unwrap_err();
    assert!(
        matches!(refused, WorktreeError::InsideRepository { .. }),
        "{refused}"
    );
    assert!(!sandbox.main().join("worktrees").exists());

    sandbox.write("worktrees/.gitignore", "*\n");
    let before = sandbox.users_things();
    let hash = sandbox.hash();
    ensure_at(&sandbox.repository(), &dest, None).unwrap();
    assert_eq!(sandbox.users_things(), before);
    assert_eq!(sandbox.hash(), hash);

    let inside = sandbox.main().join(".git/loop");
    assert!(ensure_at(&sandbox.repository(), &inside, None).is_err());
}

// cases: 90; rows: X-03
#[test]
fn a_branch_in_the_way_leads_to_another_name() {
    for (blocker, usual) in [
        ("loop", false),
        ("loop/nightly", false),
        ("loop/nightly/fix/deeper", false),
        ("loop/nightly/fix2", true),
        ("loop/other", true),
        ("loopy", true),
    ] {
        let sandbox = Sandbox::new();
        sandbox.git(&["branch", blocker]);
        sandbox.git(&["pack-refs", "--all"]);
        let picked = pick_branch(&sandbox.repository(), "nightly", Some("fix")).unwrap();
        assert_eq!(picked.name.as_str() == BRANCH, usual, "{blocker}");
        assert_eq!(picked.warning.is_none(), usual, "{blocker}");
        if let Some(warning) = &picked.warning {
            assert!(warning.contains(&format!("'{blocker}'")), "{warning}");
        }
        let (valid, text) = try_git(
            &sandbox.main(),
            &["check-ref-format", "--branch", picked.name.as_str()],
        );
        assert!(valid, "{text}");
        let worktree = ensure(&Request {
            repository: &sandbox.repository(),
            dest: &sandbox.dest(),
            branch: &picked.name,
            recorded: None,
            lock_wait: std::time::Duration::ZERO,
            stop: &GO,
        });
        assert_eq!(worktree.unwrap().recorded.branch, picked.name.as_str());
    }
}

#[test]
fn an_interrupt_takes_back_what_was_begun() {
    let sandbox = Sandbox::new();
    let stop = AtomicBool::new(true);
    let repository = sandbox.repository();
    let request = Request {
        repository: &repository,
        dest: &sandbox.dest(),
        branch: &BranchName::new("nightly", Some("fix")),
        recorded: None,
        lock_wait: std::time::Duration::ZERO,
        stop: &stop,
    };
    assert!(matches!(ensure(&request), Err(WorktreeError::Interrupted)));
    assert!(!sandbox.dest().exists());
    assert!(!sandbox.git(&["worktree", "list"]).contains("fix"));
    stop.store(false, Ordering::Relaxed);
    assert_eq!(ensure(&request).unwrap().origin, Origin::Attached);
}

/// Loops of one project start at the same time.
// cases: 80; rows: X-03
#[test]
fn worktrees_are_created_at_the_same_time() {
    let sandbox = Sandbox::new();
    let before = sandbox.users_things();
    let made: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|n| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    ensure(&Request {
                        repository: &sandbox.repository(),
                        dest: &sandbox.root().join(format!("home/loop{n}/all")),
                        branch: &BranchName::new(&format!("loop{n}"), None),
                        recorded: None,
                        lock_wait: std::time::Duration::ZERO,
                        stop: &GO,
                    })
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    for worktree in made {
        let recorded = worktree.unwrap().recorded;
        sandbox.workspace(&recorded);
        assert_eq!(git(&recorded.path, &["status", "--porcelain"]), "");
    }
    assert_eq!(sandbox.users_things(), before);
}

// rows: D-20; cases: 87
#[test]
fn a_worktree_off_its_branch_is_used_and_told_of() {
    for (options, branch) in [
        (&["-b", "other"][..], Some("other")),
        (&["--detach"], None),
        (&["--orphan", "new"], Some("new")),
    ] {
        let sandbox = Sandbox::new();
        let recorded = sandbox.worktree();
        let stray = || Stray::of(&sandbox.repository(), &recorded).unwrap();
        assert_eq!(stray(), None);
        let checkout = [&["checkout", "--quiet"], options].concat();
        git(&sandbox.dest(), &checkout);
        let expected = match branch {
            Some(branch) => Stray::Branch(branch.to_owned()),
            None => Stray::Detached(recorded.base.clone()),
        };
        assert_eq!(stray().as_ref(), Some(&expected));

        let head = entry(&sandbox).join("HEAD");
        let before = fs::read(&head).unwrap();
        let reused = sandbox.ensure(Some(&recorded)).unwrap();
        assert_eq!(reused.origin, Origin::Reused);
        let [warning] = &reused.warnings[..] else {
            panic!("{options:?}: {:?}", reused.warnings)
        };
        assert!(warning.contains(&expected.to_string()), "{warning}");
        assert_eq!(fs::read(&head).unwrap(), before);
    }

    let sandbox = Sandbox::new();
    let recorded = sandbox.worktree();
    fs::write(entry(&sandbox).join("HEAD"), "nonsense").unwrap();
    Stray::of(&sandbox.repository(), &recorded).unwrap_err();
}
