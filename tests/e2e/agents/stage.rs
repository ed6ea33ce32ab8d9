//! A world with a real agent, and a model for it to talk to.

use super::agent::Agent;
use crate::support::{PATIENCE, Run, Running, World, wait_until};
use loop_runner::model_server::{ModelServer, Request, Script};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::thread;
use std::time::Duration;

/// The loop `L` of the template `task`, its agent and its model.
pub(super) struct Stage {
    world: World,
    server: ModelServer,
    agents: PathBuf,
    agent: Agent,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The world looks next at what belongs to the user, and finds all else.
        if let Some(file) = self.agent.leaves_in_repository() {
            drop(fs::remove_file(self.project().join(file)));
        }
    }
}

impl Stage {
    /// Makes one, or returns `None` where there are no agents.
    pub(super) fn new(agent: Agent, script: Script) -> Option<Self> {
        let agents = agents()?;
        assert!(
            agents.join(agent.name()).exists(),
            "LOOP_AGENTS has no {}: {}",
            agent.name(),
            agents.display()
        );
        let stage = Self {
            world: World::git(),
            server: ModelServer::start(script).unwrap(),
            agents,
            agent,
        };
        let create = [
            "create",
            "L",
            "--from-template",
            "task",
            "--brief",
            "BRIEF OF THE TASK",
        ];
        stage.run(create).rc(0);
        let harness = agent.harness(&stage.world.root().join("agent"), &stage.server.url());
        stage.configure(|config| config["harness"] = harness);
        Some(stage)
    }

    pub(super) fn configure(&self, change: impl FnOnce(&mut Value)) {
        self.world.configure(change);
    }

    /// Reads a file below `outputs/` of the loop.
    pub(super) fn output(&self, name: &str) -> String {
        self.world.output(name)
    }

    pub(super) fn project(&self) -> &Path {
        self.world.project()
    }

    /// Returns what the model was asked.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.server.requests()
    }

    /// Makes a tick that has to exit with 0, and returns what it says.
    #[track_caller]
    pub(super) fn tick(&self) -> Value {
        let tick = self.start(["tick", "L", "--json"]);
        self.see_to_the_end(tick).rc(0).json()
    }

    /// Waits for the end of a command. An agent that tries again and again takes longer
    /// than others.
    pub(super) fn see_to_the_end(&self, mut running: Running) -> Run {
        for _ in 0..40 * PATIENCE.as_secs() {
            if running.is_over() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        running.wait()
    }

    /// Runs a command to its end.
    #[track_caller]
    pub(super) fn run<const N: usize>(&self, args: [&str; N]) -> Run {
        self.world.finish(self.command(args))
    }

    /// Starts a command beside the test.
    pub(super) fn start<const N: usize>(&self, args: [&str; N]) -> Running {
        self.world.launch(self.command(args))
    }

    /// Builds the command, with the agents before everything else on PATH.
    fn command<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = self.world.command(args);
        let find = |(name, value): (&OsStr, Option<&OsStr>)| {
            (name == "PATH").then(|| value.unwrap_or_default().to_owned())
        };
        let mut path = self.agents.clone().into_os_string();
        path.push(":");
        path.push(command.get_envs().find_map(find).unwrap_or_default());
        command.env("PATH", path);
        command
    }

    /// Reads what the agent wrote in the worktree of its task.
    pub(super) fn made(&self) -> String {
        let listed = self.run(["worktree", "list", "--json"]).rc(0).json();
        let path = listed["worktrees"][0]["path"].as_str();
        let path = Path::new(path.unwrap_or_else(|| panic!("{listed}")));
        fs::read_to_string(path.join("made.txt")).unwrap()
    }

    /// Waits until a process of this world has `text` in its command.
    pub(super) fn wait_for_process(&self, text: &str) {
        wait_until(&format!("`{text}` runs"), || {
            let found = self.leftovers();
            found
                .iter()
                .any(|command| command.contains(text))
                .then_some(())
        });
    }

    /// Returns the command of every process that works in this world's folder, was
    /// told of it, or has anything of it in its environment.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let root = self.world.root().as_os_str().as_bytes();
        let has = |bytes: &[u8]| bytes.windows(root.len()).any(|window| window == root);
        let of = |process: &Path| {
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let place = fs::read_link(process.join("cwd")).unwrap_or_default();
            let found = has(&command) || has(&environment) || has(place.as_os_str().as_bytes());
            found.then(|| String::from_utf8_lossy(&command).replace('\0', " "))
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| of(&entry.unwrap().path()))
            .collect()
    }
}

/// Returns the folder of the agents, or says once that there is none.
fn agents() -> Option<PathBuf> {
    static SAID: Once = Once::new();
    if let Some(folder) = std::env::var_os("LOOP_AGENTS") {
        return Some(folder.into());
    }
    SAID.call_once(|| {
        // Past what the test runner takes for itself, so that it is seen.
        let line =
            "SKIPPED: tests of real agents, as LOOP_AGENTS does not name a folder with them\n";
        drop(std::io::stderr().write_all(line.as_bytes()));
    });
    None
}
