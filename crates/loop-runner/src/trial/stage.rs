//! The throw-away project of a trial, and the scripted model.

use super::{Trial, TrialError};
use crate::call::{self, NotRun, Ran};
use crate::clock::SystemClock;
use crate::holder::Wish;
use crate::model_server::{ModelServer, Script};
use crate::nonce::random_bits;
use crate::profiles;
use crate::project::Project;
use crate::setup::{Setup, Surroundings};
use loop_core::Role;
use loop_core::profile::{Offline, Profile};
use loop_core::step::{Budget, Call};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The name of the loop, and of its task.
const NAME: &str = "trial";
/// The file of its prompt.
const PROMPT: &str = "trial.md";

/// Where the calls of a trial are made.
pub(super) struct Stage {
    // The server ends before its files go.
    server: Option<ModelServer>,
    setup: Setup,
    calls: u64,
    folder: TempDir,
}

/// A call of a trial that has ended, or could not begin.
pub(super) type Outcome = Result<Ran, NotRun>;

impl Stage {
    pub(super) fn new(trial: &Trial<'_>) -> Result<Self, TrialError> {
        let profile = &trial.profile;
        if profiles::program(trial.environment, profile).is_none() {
            let program = profile.command().as_slice().first();
            return Err(TrialError::NoProgram {
                program: program.cloned().unwrap_or_default(),
            });
        }
        let offline = match (trial.offline, profile.offline()) {
            (true, None) => {
                return Err(TrialError::NotOffline {
                    profile: profile.name().clone(),
                });
            }
            (true, offline) => offline,
            (false, _) => None,
        };
        // Not in the folder for temporary files: some tools keep nothing there.
        let home = trial.home.root();
        fs::create_dir_all(home).map_err(stage(home))?;
        let folder = tempfile::Builder::new()
            .prefix("trial-")
            .tempdir_in(home)
            .map_err(stage(home))?;
        let server = match offline {
            Some(_) => Some(ModelServer::start(script()).map_err(stage(Path::new("a server")))?),
            None => None,
        };
        let url = server.as_ref().map(ModelServer::url);
        let harness = match (offline, &url) {
            (Some(offline), Some(url)) => point_at(profile, offline, url, folder.path())?,
            _ => json!({"profile": profile.name()}),
        };
        let setup = make_loop(trial, &harness, folder.path())?;
        Ok(Self {
            server,
            setup,
            calls: 0,
            folder,
        })
    }

    /// Calls the harness with a prompt.
    pub(super) fn call(
        &mut self,
        prompt: &str,
        timeout: Duration,
        poll: &dyn Fn() -> Wish,
    ) -> Outcome {
        self.calls += 1;
        let path = self.setup.dir.root().join(PROMPT);
        fs::write(&path, prompt).map_err(|error| call::outputs(&error))?;
        let call = Call {
            role: Role::Implement,
            tick: self.calls,
            attempt: 1,
            nonce: format!("{:016x}", random_bits()),
            task: NAME.to_owned(),
            phase: None,
            hint: String::new(),
            verdict: None,
            unjudged: None,
            fault: None,
            harness: 0,
            artifact: None,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            budget: Budget::default(),
            worktree: None,
            frozen: None,
            diff: None,
        };
        let cwd = self.setup.project.root().to_owned();
        let prepared = call::prepare(&self.setup, &call, &cwd)?;
        call::run(prepared, &*self.setup.clock, poll)
    }

    /// Whether a scripted model answers.
    pub(super) fn is_offline(&self) -> bool {
        self.server.is_some()
    }

    /// Returns how many answers the model has given to the prompt with this marker.
    pub(super) fn answers(&self, marker: &str) -> u64 {
        let requests = self.server.iter().flat_map(ModelServer::requests);
        let of = requests.filter(|request| request.role.as_deref() == Some(marker));
        of.count() as u64
    }

    pub(super) fn profile(&self) -> Option<&Profile> {
        let harness = self.setup.harnesses.of_role(Role::Implement).first()?;
        harness.profile.as_deref()
    }

    /// Returns the folder that the harness works in.
    pub(super) fn work(&self) -> PathBuf {
        self.setup.project.root().to_owned()
    }

    /// Returns the processes that are still at work in the trial's folder.
    pub(super) fn left_behind(&self) -> Vec<u32> {
        let folder = self.folder.path();
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let inside = |pid: &u32| {
            let here = *pid == std::process::id();
            let link = fs::read_link(format!("/proc/{pid}/cwd"));
            !here && link.is_ok_and(|cwd| cwd.starts_with(folder))
        };
        pids.filter(inside).collect()
    }
}

/// Writes the files that point a harness at the scripted model, and returns how it
/// is described then.
fn point_at(
    profile: &Profile,
    offline: &Offline,
    url: &str,
    folder: &Path,
) -> Result<Value, TrialError> {
    let [dir, home, tmp] = ["tool", "home", "tmp"].map(|name| folder.join(name));
    for made in [&dir, &home, &tmp] {
        fs::create_dir(made).map_err(stage(made))?;
    }
    let fill = |text: &str| Offline::fill(text, url, &dir.to_string_lossy());
    for (name, text) in offline.files() {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(stage(parent))?;
        }
        fs::write(&path, fill(text)).map_err(stage(&path))?;
    }
    let mut set: Map<String, Value> = Map::new();
    set.insert("HOME".to_owned(), json!(home));
    set.insert("TMPDIR".to_owned(), json!(tmp));
    for (name, value) in offline.env() {
        set.insert(name.to_owned(), fill(value).into());
    }
    let mut harness = json!({
        "profile": profile.name(),
        "env": {"set": set, "unset": ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"]},
    });
    if let Some(command) = &offline.command {
        let command: Vec<_> = command.as_slice().iter().map(|word| fill(word)).collect();
        harness["command"] = json!(command);
    }
    Ok(harness)
}

fn make_loop(trial: &Trial<'_>, harness: &Value, folder: &Path) -> Result<Setup, TrialError> {
    let root = folder.join("project");
    let dir = root.join(".automaton").join("loops").join(NAME);
    fs::create_dir_all(&dir).map_err(stage(&dir))?;
    let config = json!({
        "name": NAME,
        "roles": {"implement": {"prompt": PROMPT}},
        "harness": harness,
    });
    let path = dir.join("loop.json");
    fs::write(&path, config.to_string()).map_err(stage(&path))?;
    let project = Project::at(&root, trial.home)
        .map_err(|error| stage(&root)(io::Error::other(error.to_string())))?;
    let around = Surroundings {
        home: trial.home.clone(),
        project,
        clock: Arc::new(SystemClock::new()),
        environment: trial.environment.to_vec(),
    };
    Ok(Setup::read(&around, NAME)?)
}

fn script() -> Script {
    let roles = super::Check::ALL.into_iter();
    roles.fold(Script::new(), |script, check| match check.steps() {
        Some(steps) => script.role(check.marker(), steps),
        None => script,
    })
}

fn stage(path: &Path) -> impl FnOnce(io::Error) -> TrialError {
    let path = path.to_owned();
    move |source| TrialError::Stage { path, source }
}
