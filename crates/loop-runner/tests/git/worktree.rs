//! Creating, reusing and healing worktrees, and refusing what must be refused.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use loop_runner::git::{
    BranchName, Configuration, Origin, Repository, Request, Workspace, WorktreeError, ensure,
    pick_branch, verify_administration,
};

use crate::sandbox::{GO, Sandbox, commit, ensure_at, files, git, open, set_mode, try_git, write};

const BRANCH: &str = "loop/nightly/fix";

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
    let complete = files(&sandbox.dest_filled());
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
        verify_administration(&sandbox.repository(), &worktree.recorded).unwrap();
    }
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
        assert_eq!(repository.is_bare(), bare);
        assert_eq!(
            repository.common_dir().canonicalize().unwrap(),
            layout.join(".bare")
        );
        let worktree = ensure_at(&repository, &sandbox.dest(), None).unwrap();
        verify_administration(&repository, &worktree.recorded).unwrap();
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

// rows: X-16
#[test]
fn a_replaced_administration_is_noticed_whatever_was_replaced() {
    type Act = fn(&Sandbox);
    let acts: &[(&str, Act)] = &[
        ("the .git file names another repository", |s| {
            git(&s.root(), &["init", "--quiet", "evil"]);
            let evil = format!("gitdir: {}\n", s.root().join("evil/.git").display());
            fs::write(s.dest().join(".git"), evil).unwrap();
        }),
        ("the .git file is a repository", |s| {
            fs::remove_file(s.dest().join(".git")).unwrap();
            git(&s.dest(), &["init", "--quiet"]);
        }),
        ("the .git file is a link", |s| {
            fs::rename(s.dest().join(".git"), s.root().join("moved")).unwrap();
            symlink(s.root().join("moved"), s.dest().join(".git")).unwrap();
        }),
        ("the .git file is gone", |s| {
            fs::remove_file(s.dest().join(".git")).unwrap();
        }),
        ("the .git file is a pipe", |s| {
            fs::remove_file(s.dest().join(".git")).unwrap();
            let made = std::process::Command::new("mkfifo")
                .arg(s.dest().join(".git"))
                .status();
            assert!(made.unwrap().success());
        }),
        ("gitdir", |s| {
            fs::write(entry(s).join("gitdir"), "/elsewhere/.git\n").unwrap();
        }),
        ("commondir", |s| {
            fs::write(entry(s).join("commondir"), "/elsewhere\n").unwrap();
        }),
        ("config.worktree", |s| {
            fs::write(
                entry(s).join("config.worktree"),
                "[core]\n\tfsmonitor = true\n",
            )
            .unwrap();
        }),
        ("config", |s| {
            fs::write(entry(s).join("config"), "").unwrap();
        }),
        ("the entry is gone", |s| {
            fs::remove_dir_all(entry(s)).unwrap();
        }),
        ("the entry is a link", |s| {
            fs::rename(entry(s), s.root().join("moved")).unwrap();
            symlink(s.root().join("moved"), entry(s)).unwrap();
        }),
    ];
    for (name, act) in acts {
        let sandbox = Sandbox::new();
        let recorded = sandbox.worktree();
        verify_administration(&sandbox.repository(), &recorded).unwrap();
        act(&sandbox);
        let repository = sandbox.repository();
        let replaced = verify_administration(&repository, &recorded).expect_err(name);
        assert_eq!(replaced.path, sandbox.dest());
        assert!(!replaced.what.is_empty());
        assert!(
            Workspace::of_worktree(&repository, &recorded, Path::new("")).is_err(),
            "{name}"
        );
        let error = sandbox.ensure(Some(&recorded)).expect_err(name);
        assert!(
            matches!(error, WorktreeError::Replaced(_)),
            "{name}: {error}"
        );
    }
}

// rows: X-16
#[test]
fn no_filter_and_no_monitor_ever_runs() {
    let sandbox = Sandbox::new();
    let trap = sandbox.root().join("trap.sh");
    let sprung = sandbox.root().join("sprung");
    write(
        &sandbox.root(),
        "trap.sh",
        &format!("#!/bin/sh\ntouch '{}'\ncat\n", sprung.display()),
    );
    set_mode(&trap, 0o755);
    let trap = trap.to_str().unwrap();
    sandbox.write(".gitattributes", "*.md filter=trap diff=trap\n");
    sandbox.commit("attributes");
    // In the user's own configuration, where an agent can write too.
    for key in [
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
    ] {
        sandbox.git(&["config", key, trap]);
    }
    sandbox.git(&["config", "core.fsmonitor", trap]);
    sandbox.git(&["config", "core.hooksPath", sandbox.root().to_str().unwrap()]);
    sandbox.git(&["config", "diff.trap.textconv", trap]);
    assert!(!sprung.exists());

    let recorded = sandbox.worktree();
    write(&sandbox.dest(), "README.md", "changed\n");
    write(&sandbox.dest(), "new.md", "new\n");
    crate::sandbox::hash(&sandbox.workspace(&recorded));
    crate::sandbox::hash(&sandbox.in_place());
    assert!(!sprung.exists());

    // The trap is a real one: git itself springs it.
    let (_ok, _text) = try_git(&sandbox.dest(), &["status"]);
    assert!(sprung.exists());
}

impl Sandbox {
    /// Creates the worktree and returns its folder.
    fn dest_filled(&self) -> std::path::PathBuf {
        self.worktree().path
    }
}
