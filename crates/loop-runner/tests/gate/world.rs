//! A project whose task is to make `add` add, and a gate for it.

use loop_core::answer::WorktreeRecord;
use loop_core::config::Gate;
use loop_core::gate::Baseline;
use loop_runner::clock::SystemClock;
use loop_runner::gate::{Armed, Fingerprint, GateContext, GateError, Ran, freeze, run};
use loop_runner::git::{BranchName, Request, ensure};
use loop_runner::holder::Wish;
use loop_runner::home::Home;
use loop_runner::project::Project;
use loop_runner::setup::{Setup, Surroundings};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

/// Nobody asks to stop.
pub(crate) static GO: AtomicBool = AtomicBool::new(false);

/// The files of the project before the work.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("lib/calc.sh", "add() { echo 0; }\n"),
    (
        "bin/calc",
        ". \"$(dirname \"$0\")/../lib/calc.sh\"\nadd \"$1\" \"$2\"\n",
    ),
    ("settings.sh", "FILTER=\nTOLERANT=\nRUN=.\n"),
    (".gitignore", "/build/\n.env\n.cache/\nreport.tap\n"),
    ("README.md", "Adds numbers.\n"),
    (
        "tests/t_add.sh",
        "check 'two and three' \"$(add 2 3)\" 5\ncheck 'nothing' \"$(add 0 0)\" 0\n",
    ),
    ("tests/t_more.sh", "check 'large' \"$(add 40 2)\" 42\n"),
    ("tests/run.sh", SUITE),
    ("prepare.sh", "[ -f build.sh ] && . ./build.sh\n:\n"),
];

/// A small test runner with the weak points that real ones have: it reads
/// settings, keeps results, and runs the product in its own process.
const SUITE: &str = r#"# Runs all tests, and tells of them in TAP.
# Compiled code is looked for as Python does it.
compiled=${PYTHONPYCACHEPREFIX:-tests/__pycache__}/run
[ -f "$compiled" ] && . "$compiled"
[ -f .cache/passed ] && { cp .cache/passed report.tap; exit 0; }
. ./settings.sh
[ -f .env ] && . ./.env
[ -f local.sh ] && . ./local.sh
[ -f ../.env ] && . ../.env
[ -f tests/setup.sh ] && . ./tests/setup.sh
. ./lib/calc.sh
: > report.tap
number=0
failed=0
say() {
    echo "$1"
    echo "$1" >> report.tap
}
check() {
    [ -z "$FILTER" ] || case $1 in *"$FILTER"*) ;; *) return ;; esac
    number=$((number + 1))
    if [ "$2" = "$3" ] || [ -n "$TOLERANT" ]; then
        say "ok $number - $1"
    else
        say "not ok $number - $1"
        failed=1
    fi
}
for file in tests/t_*.sh; do $RUN "./$file"; done
say "1..$number"
exit $failed
"#;

/// The recipe of level 3: values that the agent has not seen, compared in a
/// process that runs none of its code, and nothing to look up meanwhile.
pub(crate) const ACCEPT: &str = r#"main() {
    rm -rf accept
    number=0
    failed=0
    one() {
        number=$((number + 1))
        got=$(sh bin/calc "$1" "$2" 2>/dev/null </dev/null)
        if [ "$got" = "$3" ]; then
            echo "ok $number - $1 and $2"
        else
            echo "not ok $number - $1 and $2"
            failed=1
        fi
    }
    one 17 25 42
    one 1000 1 1001
    one -3 3 0
    echo "1..$number"
    exit $failed
}
main; exit
"#;

/// The work, done.
pub(crate) const DONE: &str = "add() { echo $(($1 + $2)); }\n";

/// A project, a loop `L`, and a worktree of its task.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) setup: Setup,
    pub(crate) worktree: WorktreeRecord,
}

impl World {
    /// Makes one with these settings of the gate.
    pub(crate) fn new(gate: Value) -> Self {
        Self::with_files(gate, FILES)
    }

    pub(crate) fn with_files(gate: Value, files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("project");
        for (path, text) in files {
            write(&project, path, text);
        }
        git(&project, &["init", "-q", "--template=", "-b", "trunk"]);
        git(&project, &["add", "--all"]);
        git(&project, &["commit", "-q", "-m", "first"]);
        let config = json!({"name": "L", "roles": {}, "gate": gate});
        write(
            &project,
            ".automaton/loops/L/loop.json",
            &config.to_string(),
        );
        fs::create_dir_all(root.join("home/.automaton")).unwrap();
        let setup = read(&root);
        let worktree = make_worktree(&setup, &root);
        Self {
            dir,
            setup,
            worktree,
        }
    }

    /// Reads the configuration again, as the next tick does.
    pub(crate) fn configure(&mut self, gate: Value) {
        let config = json!({"name": "L", "roles": {}, "gate": gate});
        let project = self.root().join("project");
        write(
            &project,
            ".automaton/loops/L/loop.json",
            &config.to_string(),
        );
        self.setup = read(&self.root());
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// The agent's tree.
    pub(crate) fn tree(&self) -> PathBuf {
        PathBuf::from(&self.worktree.path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.tree(), path, text);
    }

    pub(crate) fn git(&self, args: &[&str]) {
        git(&self.tree(), args);
    }

    /// Takes everything back that was done in the tree.
    pub(crate) fn reset(&self) {
        let tree = self.tree();
        for folder in ["tests", "lib"] {
            let path = tree.join(folder);
            if path.is_symlink() {
                fs::remove_file(path).unwrap();
            }
        }
        // There is one only if a test has put it there.
        let _above = fs::remove_file(tree.with_file_name(".env"));
        self.git(&["reset", "-q", "--hard", &self.worktree.base]);
        self.git(&["clean", "-ffxdq"]);
    }

    pub(crate) fn gate(&self) -> &Gate {
        self.setup.config.gate().unwrap()
    }

    pub(crate) fn context(&self) -> GateContext<'_> {
        GateContext {
            setup: &self.setup,
            gate: self.gate(),
            tick: Some(1),
            worktree: Some(&self.worktree),
            base: None,
            stop: &GO,
        }
    }

    pub(crate) fn freeze(&self, baseline: Option<Baseline>) -> Armed {
        freeze(&self.context(), &[], baseline).unwrap()
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.context(), &[]).unwrap()
    }

    pub(crate) fn run(&self, armed: &Armed) -> Result<Ran, GateError> {
        run(&self.context(), armed, "tick1-gate", &mut || Wish::GoOn)
    }

    pub(crate) fn ran(&self, armed: &Armed) -> Ran {
        self.run(armed).unwrap()
    }

    /// The clean checkouts that are there.
    pub(crate) fn checkouts(&self) -> Vec<PathBuf> {
        let worktrees = self.root().join("home/.automaton/worktrees");
        let below = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().path())
        };
        let loops = below(worktrees).flat_map(|project| below(project.join("L")));
        loops
            .filter(|path| {
                path.file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .starts_with(".gate-")
            })
            .collect()
    }
}

fn read(root: &Path) -> Setup {
    let home = Home::new(root.join("home/.automaton"));
    let path = format!("tools:{}", std::env::var("PATH").unwrap());
    let around = Surroundings {
        project: Project::at(&root.join("project"), &home).unwrap(),
        home,
        clock: Arc::new(SystemClock::new()),
        environment: [
            ("PATH", path.as_str()),
            ("HOME", root.join("home").to_str().unwrap()),
            ("LANG", "C.UTF-8"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec(),
    };
    Setup::read(&around, "L").unwrap()
}

fn make_worktree(setup: &Setup, root: &Path) -> WorktreeRecord {
    // Where the engine would make it does not matter, but what is beside it does.
    let dest = root.join("home/.automaton/worktrees/project-0/L/t");
    let made = ensure(&Request {
        repository: setup.repository.as_ref().unwrap(),
        dest: &dest,
        branch: &BranchName::new("L", Some("t")),
        recorded: None,
        lock_wait: Duration::from_millis(50),
        stop: &GO,
    })
    .unwrap();
    assert!(made.recorded.path.starts_with(root));
    WorktreeRecord {
        path: made.recorded.path.to_str().unwrap().to_owned(),
        branch: made.recorded.branch,
        base: made.recorded.base,
        admin: made.recorded.admin,
    }
}

pub(crate) fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@example.org")))
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {done:?}");
}
