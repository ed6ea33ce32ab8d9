//! The world of one test.

use super::config::PROMPTS;
use super::repository::{self, Belongings};
use super::{Call, PATIENCE, Run, Running, default_loop, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use tempfile::TempDir;

/// What `sh`, git and the scripted agents need; nothing else is on PATH.
const TOOLS: [&str; 16] = [
    "sh", "bash", "git", "cat", "mv", "rm", "cp", "ln", "mkdir", "chmod", "env", "sleep", "setsid",
    "touch", "dd", "tr",
];

/// A home, a project, agents, and what they noted.
///
/// Everything is checked again when it goes: the user's things are as they
/// were, nothing was put anywhere else, and nothing is left running.
pub(crate) struct World {
    // Removed with everything in it when the world goes.
    _dir: TempDir,
    home: PathBuf,
    project: PathBuf,
    belongings: Belongings,
}

impl World {
    /// Makes a world whose project is a folder outside any repository.
    pub(crate) fn plain() -> Self {
        Self::build(is_nested(), |_| {})
    }

    /// Makes a world whose project is a repository of the user's.
    pub(crate) fn git() -> Self {
        Self::build(is_nested(), repository::copy_to)
    }

    /// The same as [`World::plain`], with the project below the user's home.
    pub(crate) fn under_home() -> Self {
        Self::build(true, |_| {})
    }

    /// Makes a second repository at `path` below the world's root.
    pub(crate) fn other_repository(&self, path: &str) -> PathBuf {
        let other = self.root().join(path);
        repository::copy_to(&other);
        other
    }

    fn build(nested: bool, fill: impl FnOnce(&Path)) -> Self {
        let dir = TempDir::new().unwrap();
        // A path with a link in it would not compare equal to what children see.
        let root = dir.path().canonicalize().unwrap();
        let home = root.join("home");
        let project = if nested {
            home.join("src/proj")
        } else {
            root.join("proj")
        };
        for folder in ["home", "bin", "tools", "tmp", "rec/calls", "rec/taken"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::create_dir_all(&project).unwrap();
        fill(&project);
        let world = Self {
            belongings: Belongings::of(&project),
            _dir: dir,
            home,
            project,
        };
        world.install_tools();
        for name in ["rec", "opencode", "pi"] {
            world.agent(name);
        }
        world.role("implement", "echo \"$n\" >>work.txt");
        world.says("implement", "did it\n");
        world
    }

    fn install_tools(&self) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in TOOLS {
            let mut places = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let place = places.find(|place| place.is_file());
            let place = place.unwrap_or_else(|| panic!("the tests need {tool}"));
            symlink(place, self.root().join("tools").join(tool)).unwrap();
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.home.parent().unwrap()
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Returns a path below the project's data.
    pub(crate) fn data(&self, path: &str) -> PathBuf {
        self.project.join(".automaton").join(path)
    }

    /// Returns a path in the folder of the loop `L`.
    pub(crate) fn in_loop(&self, path: &str) -> PathBuf {
        self.data("loops/L").join(path)
    }

    /// Returns a path where the agents keep their notes.
    pub(crate) fn rec(&self, path: &str) -> PathBuf {
        self.root().join("rec").join(path)
    }

    /// Puts a program on PATH.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.root().join("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Puts an agent on PATH that notes how it is called and says what the test
    /// lets its role say.
    pub(crate) fn agent(&self, name: &str) {
        self.program(name, include_str!("rec.sh"));
    }

    /// Puts the command itself on PATH, for agents to call.
    pub(crate) fn link_loop(&self) {
        symlink(env!("CARGO_BIN_EXE_loop"), self.root().join("bin/loop")).unwrap();
    }

    /// Makes the agent of a role do something before it answers.
    pub(crate) fn role(&self, role: &str, script: &str) {
        fs::write(self.rec(&format!("{role}.sh")), script).unwrap();
    }

    /// Makes the agent of a role say something.
    pub(crate) fn says(&self, role: &str, text: impl AsRef<[u8]>) {
        fs::write(self.rec(&format!("{role}.out")), text).unwrap();
    }

    /// Makes the agent of a role say something in its `n`-th call.
    pub(crate) fn says_at(&self, role: &str, n: u32, text: impl AsRef<[u8]>) {
        fs::write(self.rec(&format!("{role}.out.{n}")), text).unwrap();
    }

    /// Makes the agent of a role exit with a code.
    pub(crate) fn exits(&self, role: &str, code: u8) {
        fs::write(self.rec(&format!("{role}.rc")), format!("{code}\n")).unwrap();
    }

    /// Makes the loop `L` that the scenarios start from, with the task `t1`.
    pub(crate) fn with_loop(self) -> Self {
        self.with(|_| {})
    }

    /// The same, after `change`.
    pub(crate) fn with(self, change: impl FnOnce(&mut Value)) -> Self {
        self.make_loop(change);
        self.task("t1", "BRIEF");
        self.run(["set-task", "L", "t1"]).rc(0);
        self
    }

    /// Makes the loop `L` without a task.
    pub(crate) fn make_loop(&self, change: impl FnOnce(&mut Value)) {
        let mut config = default_loop();
        change(&mut config);
        fs::create_dir_all(self.in_loop("")).unwrap();
        self.write_config(&config.to_string());
        for (name, text) in PROMPTS {
            fs::write(self.in_loop(name), text).unwrap();
        }
    }

    /// Changes the configuration of the loop `L`.
    pub(crate) fn configure(&self, change: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.in_loop("loop.json")).unwrap();
        let mut config = serde_json::from_str(&text).unwrap();
        change(&mut config);
        self.write_config(&config.to_string());
    }

    /// Replaces the configuration of the loop `L` by any text.
    pub(crate) fn write_config(&self, text: &str) {
        fs::write(self.in_loop("loop.json"), text).unwrap();
    }

    /// Makes a task with its brief.
    pub(crate) fn task(&self, name: &str, brief: &str) {
        self.run(["task", "create", name]).rc(0);
        let path = self.data(&format!("tasks/{name}/RESEARCH.md"));
        fs::write(path, brief).unwrap();
    }

    /// Moves a task on, phase by phase.
    pub(crate) fn move_to(&self, task: &str, phase: &str) {
        while self.phase(task) != phase {
            let moved = self.run(["task", "transition", task]);
            if moved.code != 0 {
                self.run(["task", "approve", task]).rc(0);
            }
        }
    }

    /// Returns where a task stands.
    pub(crate) fn phase(&self, task: &str) -> String {
        let shown = self.run(["task", "show", task, "--json"]).rc(0).json();
        shown["task"]["phase"].as_str().unwrap().to_owned()
    }

    /// Builds the command, with nothing of the environment of the tests.
    pub(crate) fn command<I>(&self, args: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loop"));
        let path = format!("{0}/bin:{0}/tools", self.root().display());
        command
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .envs(repository::environment())
            .envs([
                ("PATH", path.as_str()),
                ("USER", "ada"),
                ("LANG", "C.UTF-8"),
            ])
            .env("HOME", &self.home)
            .env("TMPDIR", self.root().join("tmp"))
            .env("REC", self.root().join("rec"))
            // The loops of these tests are written by hand; what of that is agreed to
            // is the business of one file of tests.
            .env("AUTOMATON_TRUST", "1");
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run<I>(&self, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.finish(self.command(args))
    }

    /// Runs a built command to its end.
    pub(crate) fn finish(&self, command: Command) -> Run {
        let output = assert_cmd::Command::from_std(command)
            .timeout(PATIENCE)
            .output()
            .unwrap();
        Run::new(output)
    }

    /// Starts a command beside the test.
    pub(crate) fn start<I>(&self, args: I) -> Running
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.launch(self.command(args))
    }

    /// Starts a built command beside the test.
    pub(crate) fn launch(&self, mut command: Command) -> Running {
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running {
            child: Some(command.spawn().unwrap()),
        }
    }

    /// Makes a tick of the loop `L` that has to exit with 0, and returns what it says.
    #[track_caller]
    pub(crate) fn tick(&self) -> Value {
        self.run(["tick", "L", "--json"]).rc(0).json()
    }

    /// Returns the state of the loop `L`.
    pub(crate) fn state(&self) -> Value {
        self.run(["show", "L", "--json"]).rc(0).json()["state"].take()
    }

    /// Returns how the task `t1` has gone.
    pub(crate) fn progress(&self) -> Value {
        self.state()["progress"]["t1"].take()
    }

    /// Asks the loop `L` with words, as `loop show` does for people.
    #[track_caller]
    pub(crate) fn shown(&self) -> String {
        self.run(["show", "L"]).rc(0).out
    }

    /// Returns the readable log of the loop `L`.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.in_loop(".state.log")).unwrap()
    }

    /// Reads a file below `outputs/` of the loop `L`.
    #[track_caller]
    pub(crate) fn output(&self, name: &str) -> String {
        let path = self.in_loop("outputs").join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns every call of an agent, in order.
    pub(crate) fn calls(&self) -> Vec<Call> {
        Call::read_all(&self.rec("calls"))
    }

    /// Returns the roles that were called, in order.
    pub(crate) fn roles(&self) -> Vec<String> {
        self.calls().into_iter().map(|call| call.role).collect()
    }

    /// Returns how often a role was called.
    pub(crate) fn count(&self, role: &str) -> usize {
        self.roles().iter().filter(|called| *called == role).count()
    }

    /// Runs git in the project, and returns what it says.
    #[track_caller]
    pub(crate) fn git_says(&self, args: &[&str]) -> String {
        let done = repository::git(&self.project).args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Takes what the user has now for what has to be there in the end.
    pub(crate) fn user_changed_something(&mut self) {
        self.belongings = Belongings::of(&self.project);
    }

    /// Returns the processes that live in this world.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let marker = format!(
            "REC={}\0",
            self.rec("").display().to_string().trim_end_matches('/')
        );
        let lives_here = |pid: &u32| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment
                    .windows(marker.len())
                    .any(|window| window == marker.as_bytes())
            })
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
            .filter(lives_here)
            .collect()
    }

    /// Waits until nothing of this world is running.
    pub(crate) fn settle(&self) {
        wait_until("every process ends", || {
            self.processes().is_empty().then_some(())
        });
    }

    fn check(&self) {
        self.settle();
        assert_eq!(
            Belongings::of(&self.project),
            self.belongings,
            "what belongs to the user was touched"
        );
        let at_home = names(&self.home);
        let allowed = BTreeSet::from([".automaton".to_owned(), "src".to_owned()]);
        assert!(at_home.is_subset(&allowed), "left at home: {at_home:?}");
        assert_eq!(
            names(&self.root().join("tmp")),
            BTreeSet::new(),
            "left over"
        );
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.check();
        }
    }
}

/// In half of the tests the project lies under the user's home, which holds
/// the framework home's `.automaton` (decision D-2).
fn is_nested() -> bool {
    let mut hasher = DefaultHasher::new();
    thread::current().name().hash(&mut hasher);
    hasher.finish() & 1 == 0
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}
