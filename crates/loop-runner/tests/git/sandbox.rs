//! A repository in a folder of its own, and the questions that the tests ask `git` about it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
    time::Duration,
};

use loop_runner::git::{
    BranchName, Configuration, Recorded, Repository, Request, TreeHash, Workspace, Worktree,
    WorktreeError, ensure,
};
use tempfile::TempDir;

/// The branch that the tests work on.
pub(crate) const BRANCH: &str = "loop/nightly/fix";

/// Nobody asks to stop.
pub(crate) static GO: AtomicBool = AtomicBool::new(false);

/// A temporary folder with a repository `main` and room for worktrees beside it.
pub(crate) struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    /// Makes a repository without commits.
    pub(crate) fn unborn() -> Self {
        let sandbox = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir(sandbox.main()).unwrap();
        sandbox.git(&["init", "--quiet", "--template=", "--initial-branch=trunk"]);
        sandbox
    }

    /// Makes a repository with one commit of a few files.
    pub(crate) fn new() -> Self {
        let sandbox = Self::unborn();
        sandbox.write("README.md", "hello\n");
        sandbox.write("src/lib.rs", "fn a() {}\n");
        sandbox.write("run.sh", "#!/bin/sh\n");
        sandbox.write(".gitignore", "target/\n*.log\n");
        set_mode(&sandbox.main().join("run.sh"), 0o755);
        std::os::unix::fs::symlink("README.md", sandbox.main().join("link")).unwrap();
        sandbox.commit("first");
        sandbox
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn main(&self) -> PathBuf {
        self.root().join("main")
    }

    pub(crate) fn dest(&self) -> PathBuf {
        self.root().join("home/worktrees/main-1/nightly/fix")
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        write(&self.main(), path, content);
    }

    pub(crate) fn commit(&self, message: &str) {
        commit(&self.main(), message);
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.main(), args)
    }

    pub(crate) fn repository(&self) -> Repository {
        open(&self.main())
    }

    pub(crate) fn in_place(&self) -> Workspace {
        Workspace::in_place(&self.repository(), &self.main())
    }

    pub(crate) fn hash(&self) -> TreeHash {
        hash(&self.in_place())
    }

    pub(crate) fn ensure(&self, recorded: Option<&Recorded>) -> Result<Worktree, WorktreeError> {
        ensure_at(&self.repository(), &self.dest(), recorded)
    }

    pub(crate) fn worktree(&self) -> Recorded {
        self.ensure(None).unwrap().recorded
    }

    pub(crate) fn workspace(&self, recorded: &Recorded) -> Workspace {
        Workspace::of_worktree(&self.repository(), recorded, Path::new("")).unwrap()
    }

    /// Everything of the user's that no operation may touch, as text.
    pub(crate) fn users_things(&self) -> String {
        let mut out = String::new();
        for args in [
            &[
                "status",
                "--porcelain=v2",
                "--branch",
                "--untracked-files=all",
            ][..],
            &["stash", "list"],
            &["symbolic-ref", "-q", "HEAD"],
            &["reflog", "HEAD"],
            &["ls-files", "--stage", "--debug"],
        ] {
            let (_, text) = try_git(&self.main(), args);
            out.push_str(&text);
        }
        let refs = self.git(&["for-each-ref"]);
        out.extend(
            refs.lines()
                .filter(|line| !line.contains("refs/heads/loop")),
        );
        let git_dir = self.main().join(".git");
        for file in ["config", "HEAD", "index"] {
            out.push_str(&format!("{:?}", fs::read(git_dir.join(file)).ok()));
        }
        out.push_str(&format!("{:?}", files(&git_dir.join("hooks"))));
        out.push_str(&format!("{:?}", files(&git_dir.join("info"))));
        out
    }
}

/// Asks for a worktree on the branch `loop/nightly/fix`.
pub(crate) fn ensure_at(
    repository: &Repository,
    dest: &Path,
    recorded: Option<&Recorded>,
) -> Result<Worktree, WorktreeError> {
    ensure(&Request {
        repository,
        dest,
        branch: &BranchName::new("nightly", Some("fix")),
        recorded,
        lock_wait: Duration::from_millis(50),
        stop: &GO,
    })
}

pub(crate) fn open(path: &Path) -> Repository {
    Repository::discover(path, Configuration::RepositoryOnly)
        .unwrap()
        .unwrap()
}

pub(crate) fn hash(workspace: &Workspace) -> TreeHash {
    TreeHash::of(workspace, &GO).unwrap().unwrap()
}

pub(crate) fn write(dir: &Path, path: &str, content: &str) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn commit(dir: &Path, message: &str) {
    git(dir, &["add", "--all"]);
    git(dir, &["commit", "--quiet", "--allow-empty", "-m", message]);
}

/// Runs `git`, which has to succeed, and returns what it printed.
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let (ok, text) = try_git(dir, args);
    assert!(ok, "git {args:?} in {}: {text}", dir.display());
    text
}

/// Runs `git` and returns whether it succeeded and what it printed.
pub(crate) fn try_git(dir: &Path, args: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// The files directly in a folder, which may be missing, with their contents.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}
