//! A user's repository with something of everything in it, and the check that
//! the engine left all of it alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Files of the user; `README.md` has an edit that is not staged, `staged.txt`
/// is new in the index, `scratch.txt` is not tracked, and there is a stash.
const FILES: [(&str, &str); 4] = [
    ("README.md", "the user's edit\n"),
    ("src/a", "a\n"),
    ("staged.txt", "staged\n"),
    ("scratch.txt", "scratch\n"),
];

/// Copies the user's repository to `project`.
pub(super) fn copy_to(project: &Path) {
    static TEMPLATE: OnceLock<TempDir> = OnceLock::new();
    copy(TEMPLATE.get_or_init(make).path(), project);
}

/// Returns the command `git` in `folder`, free of the configuration of whoever
/// runs the tests.
pub(super) fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder).env_clear().envs(environment());
    git.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    git
}

/// What keeps git to the test's own world.
pub(super) fn environment() -> [(&'static str, &'static str); 8] {
    [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_AUTHOR_NAME", "ada"),
        ("GIT_AUTHOR_EMAIL", "ada@example.org"),
        ("GIT_COMMITTER_NAME", "ada"),
        ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ]
}

fn make() -> TempDir {
    let dir = TempDir::new().unwrap();
    let run = |args: &[&str]| {
        let done = git(dir.path()).args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {done:?}");
    };
    run(&["init", "--quiet", "--template=", "--initial-branch=main"]);
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("README.md"), "first\n").unwrap();
    fs::write(dir.path().join("src/a"), "a\n").unwrap();
    run(&["add", "README.md", "src/a"]);
    run(&["commit", "--quiet", "-m", "first"]);
    fs::write(dir.path().join("README.md"), "put away\n").unwrap();
    run(&["stash", "push", "--quiet"]);
    for (name, text) in FILES {
        fs::write(dir.path().join(name), text).unwrap();
    }
    run(&["add", "staged.txt"]);
    dir
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// What belongs to the user: files, index, branches, stash, configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Belongings {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Belongings {
    /// Reads what belongs to the user in `project`.
    pub(super) fn of(project: &Path) -> Self {
        let mut files = BTreeMap::new();
        for (name, _) in FILES {
            if let Ok(bytes) = fs::read(project.join(name)) {
                files.insert(PathBuf::from(name), bytes);
            }
        }
        if project.join(".git").is_dir() {
            read(project, Path::new(".git"), &mut files);
        }
        Self { files }
    }
}

/// Reads the repository but for what a loop may add: objects, its branches and
/// its worktrees.
fn read(project: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    const ADDED: [&str; 4] = [
        ".git/objects",
        ".git/worktrees",
        ".git/refs/heads/loop",
        ".git/logs/refs/heads/loop",
    ];
    if ADDED.iter().any(|added| folder == Path::new(added)) {
        return;
    }
    for entry in fs::read_dir(project.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            read(project, &path, files);
        } else {
            files.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}
