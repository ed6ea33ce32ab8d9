//! How long it takes to look at a large repository, beside the `git` program.
//!
//! Not with the harness of the other benchmarks: the two sides take turns, so that whatever else
//! the machine does slows both of them.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use loop_runner::git::{
    BranchName, Changes, Configuration, Outside, Reach, Recorded, Repository, Request, Start,
    TreeHash, Watched, Workspace, ensure,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const FOLDERS: usize = 600;
const FILES_EACH: usize = 100;
const SAMPLES: usize = 9;
static GO: AtomicBool = AtomicBool::new(false);

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let main = root.join("main");
    make(&main);
    let repository = Repository::discover(&main, Configuration::RepositoryOnly);
    let repository = repository.unwrap().unwrap();
    println!("{} files", FOLDERS * FILES_EACH);

    let recorded = creation(&root, &repository);
    let worktree = recorded.path.clone();
    git(&worktree, &["status", "--porcelain"]);
    // What changed less than two seconds ago is read again.
    std::thread::sleep(Duration::from_millis(2500));

    let of = |repository: &Repository| {
        Workspace::of_worktree(repository, &recorded, Path::new("")).unwrap()
    };
    let first = timed(|| TreeHash::of(&of(&repository), &GO).unwrap());
    println!(
        "{:<44} {:>8.1} ms",
        "tree hash, first of a process",
        millis(first)
    );
    let start = Start::since_commit(&of(&repository), &recorded.base, &[], &GO).unwrap();
    let watched = Watched {
        repository: &repository,
        place: Path::new(""),
        in_place: false,
        engines: &[],
    };
    let outside = Outside::take(&watched, &GO).unwrap();
    compare(&mut [
        ("git status", &mut || {
            git(&worktree, &["status", "--porcelain"]);
        }),
        ("tree hash", &mut || {
            drop(TreeHash::of(&of(&repository), &GO).unwrap());
        }),
        ("changes since the base", &mut || {
            let base = &recorded.base;
            drop(Changes::since_commit(&of(&repository), base, Reach::Repository, &GO).unwrap());
        }),
        ("scope check", &mut || {
            drop(Changes::since_start(&of(&repository), &start, &[], &GO).unwrap());
        }),
        ("fingerprint, before", &mut || {
            drop(Outside::take(&watched, &GO).unwrap());
        }),
        ("fingerprint, after", &mut || {
            assert_eq!(outside.changes(&watched, &GO).unwrap(), []);
        }),
    ]);
}

/// Makes worktrees in turns, and returns the last one of ours.
fn creation(root: &Path, repository: &Repository) -> Recorded {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    let mut last = None;
    for n in 0..3 {
        let place = root.join(format!("theirs{n}"));
        let branch = format!("theirs{n}");
        let args = [
            "worktree",
            "add",
            "--quiet",
            "-b",
            &branch,
            place.to_str().unwrap(),
        ];
        theirs.push(timed(|| git(&root.join("main"), &args)));
        let dest = root.join(format!("ours{n}"));
        ours.push(timed(|| last = Some(add(repository, &dest, n))));
    }
    let (theirs, ours) = (fastest(&theirs), fastest(&ours));
    report("git worktree add", theirs, theirs);
    report("worktree", ours, theirs);
    last.unwrap()
}

fn add(repository: &Repository, dest: &Path, n: usize) -> Recorded {
    let request = Request {
        repository,
        dest,
        branch: &BranchName::new("bench", Some(&n.to_string())),
        recorded: None,
        lock_wait: Duration::ZERO,
        stop: &GO,
    };
    ensure(&request).unwrap().recorded
}

/// Times all of them in turns; the first is what the others are compared with.
fn compare(sides: &mut [(&str, &mut dyn FnMut())]) {
    let mut times = vec![Vec::new(); sides.len()];
    for _ in 0..SAMPLES {
        for ((_, side), times) in sides.iter_mut().zip(&mut times) {
            times.push(timed(side));
        }
    }
    let unit = fastest(&times[0]);
    for ((name, _), times) in sides.iter().zip(&times) {
        report(name, fastest(times), unit);
    }
}

fn report(name: &str, time: Duration, unit: Duration) {
    let ratio = time.as_secs_f64() / unit.as_secs_f64();
    println!("{name:<44} {:>8.1} ms  {ratio:>5.2}", millis(time));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn fastest(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    let _done = work();
    started.elapsed()
}

/// Makes a repository with one commit of many small files.
fn make(main: &Path) {
    for folder in 0..FOLDERS {
        let path = main.join(format!("part{}/module{folder}", folder / 25));
        fs::create_dir_all(&path).unwrap();
        for file in 0..FILES_EACH {
            let text = format!("file {file} of {folder}\n").repeat(20);
            fs::write(path.join(format!("source_{file}.rs")), text).unwrap();
        }
    }
    fs::write(main.join(".gitignore"), "target/\n*.log\n").unwrap();
    git(
        main,
        &["init", "--quiet", "--template=", "--initial-branch=main"],
    );
    git(main, &["add", "."]);
    git(main, &["commit", "--quiet", "-m", "all"]);
    git(main, &["repack", "-q", "-a", "-d"]);
}

fn git(folder: &Path, args: &[&str]) {
    let path: PathBuf = std::env::var_os("PATH").unwrap().into();
    let done = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "a")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@example.org")))
        .stdout(Stdio::null())
        .status();
    assert!(done.unwrap().success(), "git {args:?}");
}
