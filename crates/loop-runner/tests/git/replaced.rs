//! A worktree whose administration was replaced is noticed, and no program runs.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use loop_runner::git::{Changes, Reach, Workspace, WorktreeError};

use crate::sandbox::{GO, Sandbox, git, hash, set_mode, try_git, write};

/// The entry's folder in the repository.
fn entry(sandbox: &Sandbox) -> PathBuf {
    sandbox.main().join(".git/worktrees/fix")
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
        sandbox.workspace(&recorded);
        act(&sandbox);
        let repository = sandbox.repository();
        let replaced =
            Workspace::of_worktree(&repository, &recorded, Path::new("")).expect_err(name);
        assert_eq!(replaced.path, sandbox.dest());
        assert!(!replaced.what.is_empty());
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
    hash(&sandbox.workspace(&recorded));
    hash(&sandbox.in_place());
    let workspace = sandbox.workspace(&recorded);
    let changes = Changes::since_commit(&workspace, &recorded.base, Reach::Project, &GO).unwrap();
    changes.write_patch(&mut Vec::new()).unwrap();
    assert_eq!(changes.list().len(), 2);
    assert!(!sprung.exists());

    // The trap is a real one: git itself springs it.
    let (_ok, _text) = try_git(&sandbox.dest(), &["status"]);
    assert!(sprung.exists());
}
