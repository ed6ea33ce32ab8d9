//! The demo's throw-away repository and home.

use super::LOOP;
use crate::failure::Failure;
use crate::show;
use loop_core::config::{Argv, Harness, HarnessRef};
use loop_runner::clock::SystemClock;
use loop_runner::create::{Created, NewLoop, create};
use loop_runner::home::Home;
use loop_runner::project::Project;
use loop_runner::setup::Surroundings;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const SLUG: &str = "\
#!/bin/sh
# Prints its argument as a slug: small letters, words joined.
printf '%s\\n' \"$1\"
";

const TEST: &str = "\
#!/bin/sh
# Fails, and says why, unless slug.sh does its work.
got=$(sh slug.sh 'Hello Wide World')
[ \"$got\" = 'hello-wide-world' ] && echo 'ok' && exit 0
echo \"slug.sh printed '$got', not 'hello-wide-world'\"
exit 1
";

const BRIEF: &str = "\
slug.sh prints its argument unchanged. Make it print a slug, so that sh test.sh passes.
";

/// Where the demo plays.
pub(super) struct Stage {
    root: PathBuf,
}

impl Stage {
    /// Makes the repository, with one commit.
    pub(super) fn set() -> Result<Self, Failure> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let name = format!("loop-demo-{}-{}", std::process::id(), now.as_millis());
        let stage = Self {
            root: env::temp_dir().join(name),
        };
        let project = stage.project();
        let made = fs::create_dir_all(&project)
            .and_then(|()| fs::write(project.join("slug.sh"), SLUG))
            .and_then(|()| fs::write(project.join("test.sh"), TEST));
        made.map_err(|error| {
            Failure::failed(format!("cannot make {}: {error}", project.display()))
        })?;
        git(&project, &["init", "--quiet", "--initial-branch=main"])?;
        git(&project, &["add", "--all"])?;
        git(&project, &["commit", "--quiet", "--message=Start"])?;
        Ok(stage)
    }

    /// Returns the repository's folder.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns what the demo's loop is read with.
    pub(super) fn surroundings(&self) -> Result<Surroundings, Failure> {
        let home = Home::new(self.home());
        Ok(Surroundings {
            project: Project::at(&self.project(), &home)?,
            home,
            clock: Arc::new(SystemClock::new()),
            environment: env::vars_os().collect(),
        })
    }

    /// Makes the loop, whose agent is this program's script.
    pub(super) fn create_loop(&self, around: &Surroundings) -> Result<Created, Failure> {
        let program = env::current_exe()
            .map_err(|error| Failure::failed(format!("cannot find this program: {error}")))?;
        let argv = serde_json::json!([program, "__demo-agent", "{prompt}"]);
        let command: Argv =
            serde_json::from_value(argv).map_err(|error| Failure::failed(error.to_string()))?;
        let created = create(
            around,
            &NewLoop {
                name: LOOP,
                template: "task",
                task: None,
                brief: Some(BRIEF),
                harness: Some(HarnessRef::Described(Box::new(Harness::of_command(
                    command,
                )))),
                by: "demo",
            },
        )?;
        Ok(created)
    }

    /// Says where the demo's files are, and how to look around.
    pub(super) fn say_where_to_look(&self) {
        let at = format!(
            "AUTOMATON_HOME={} loop --project {}",
            self.home().display(),
            self.project().display()
        );
        show::line("Look around:");
        show::line(format!("  {at} show {LOOP}"));
        show::line(format!("  {at} log {LOOP}"));
        show::line(format!("  ls {}", self.outputs().display()));
        show::line(format!("Throw it away: rm -r {}", self.root.display()));
    }

    fn outputs(&self) -> PathBuf {
        self.project()
            .join(".automaton/loops")
            .join(LOOP)
            .join("outputs")
    }
}

/// Runs git without any configuration of the user's.
fn git(project: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("git");
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    let done = command
        .arg("-C")
        .arg(project)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "demo")
        .env("GIT_AUTHOR_EMAIL", "demo@localhost")
        .env("GIT_COMMITTER_NAME", "demo")
        .env("GIT_COMMITTER_EMAIL", "demo@localhost")
        .output()
        .map_err(|error| {
            Failure::failed(format!("cannot run git, which the demo needs: {error}"))
        })?;
    if done.status.success() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "git {} failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&done.stderr).trim()
    )))
}
