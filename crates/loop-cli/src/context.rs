//! What a command knows of where it was started.

use crate::args::Cli;
use crate::failure::Failure;
use crate::show;
use loop_core::config::LoopName;
use loop_runner::causes::with_causes;
use loop_runner::clock::SystemClock;
use loop_runner::home::{Home, expand_tilde};
use loop_runner::project::{Project, Search};
use loop_runner::setup::{Setup, SetupError, Surroundings};
use loop_runner::trust;
use std::env;
use std::ffi::OsString;
use std::sync::Arc;

/// The variable that says which role an agent plays; a person's shell has none.
const ROLE: &str = "AUTOMATON_ROLE";

/// Where a command was started, and by whom.
pub(crate) struct Context {
    pub(crate) around: Surroundings,
    pub(crate) quiet: bool,
}

impl Context {
    /// Reads the environment and finds the project.
    pub(crate) fn new(cli: &Cli) -> Result<Self, Failure> {
        let here = env::current_dir()
            .map_err(|error| Failure::usage(format!("the current directory is gone: {error}")))?;
        let user_home = env::var_os("HOME");
        let home = Home::find(
            env::var_os("AUTOMATON_HOME").as_deref(),
            user_home.as_deref(),
            &here,
        )?;
        let given = cli
            .project
            .as_deref()
            .map(|path| expand_tilde(path, user_home.as_deref()));
        let project = Project::find(&Search {
            given: given.as_deref(),
            inherited: env::var_os("AUTOMATON_PROJECT").as_deref(),
            here: &here,
            home: &home,
        })?;
        Ok(Self {
            around: Surroundings {
                home,
                project,
                clock: Arc::new(SystemClock::new()),
                environment: env::vars_os().collect(),
            },
            quiet: cli.quiet,
        })
    }

    /// Reads the loop called `name`, and says so if nothing of it may be started.
    pub(crate) fn setup(&self, name: &str) -> Result<Setup, Failure> {
        let setup = Setup::read(&self.around, name)?;
        self.tell_trust(&setup);
        Ok(setup)
    }

    /// Says so if nothing of a loop may be started.
    pub(crate) fn tell_trust(&self, setup: &Setup) {
        if let Err(untrusted) = trust::check(setup) {
            let name = &setup.name;
            show::warning(&format!(
                "{}; it starts nothing until: loop trust {name}",
                with_causes(&untrusted)
            ));
        }
    }

    /// Checks that there is a loop called `name`, whatever its configuration is.
    pub(crate) fn loop_exists(&self, name: &str) -> Result<(), Failure> {
        let named = name.parse::<LoopName>().is_ok();
        if named && self.around.project.loop_dir(name).is_dir() {
            return Ok(());
        }
        Err(Failure::from(SetupError::NoSuchLoop {
            name: name.to_owned(),
            project: self.around.project.root().to_owned(),
        }))
    }

    /// Refuses what only a person may do (decision D-7).
    pub(crate) fn person_only(&self, what: &str) -> Result<(), Failure> {
        match role() {
            Some(role) => Err(Failure::refused(format!(
                "only a person may {what}; this is the environment of an agent ({ROLE}={})",
                role.to_string_lossy()
            ))),
            None => Ok(()),
        }
    }
}

/// Returns the role of the agent that called, if an agent did.
pub(crate) fn role() -> Option<OsString> {
    env::var_os(ROLE)
}

/// Returns the name of the user, for the record.
pub(crate) fn user() -> String {
    ["USER", "LOGNAME"]
        .into_iter()
        .filter_map(|name| env::var(name).ok())
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}
