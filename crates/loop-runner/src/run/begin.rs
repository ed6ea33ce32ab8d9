//! The preflight of a run: nothing is spent before all of it is right.

use super::config;
use super::lock::RunLock;
use super::not_begun::NotBegun;
use super::scribe::STATE;
use super::{NAME, TASK};
use crate::create::{install_prompts, prepare_project};
use crate::driver::{self, release_claims};
use crate::git::{Changes, Reach, Workspace, plain_file};
use crate::kept;
use crate::scaffold;
use crate::setup::{self, Setup, Surroundings};
use crate::store::{Answered, LoopDir, read_state};
use crate::tasks::{BRIEF_BYTES, Mover, NewTask, ReadError, Tasks};
use crate::trust::{self, Standing};
use loop_core::config::{Config, HarnessRef};
use loop_core::control::Request;
use loop_core::harness::Harnesses;
use loop_core::plan::placeholder;
use loop_core::run::TreeAtStart;
use loop_core::state::{State, Status};
use loop_core::task::Origin;
use loop_worksource::done_when;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Why a run does not begin while its loop is driven.
const AT_WORK: &str = "a tick of the run is at work; wait for its end, or: loop stop run";
/// Where the report of the run before is kept.
const PREVIOUS: &str = "STATE.prev.md";

/// What a person asks of a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The task, relative to the project; `TASK.md` when absent.
    pub task_file: Option<PathBuf>,
    /// Passes that it gets.
    pub cap: Option<u32>,
    /// Passes without progress that end it.
    pub stuck: Option<u32>,
    /// Paths that are frozen with the gate and the task.
    pub freeze: Vec<String>,
    /// Whether every line of "Done when" has to be covered.
    pub strict: bool,
    /// The harness: a profile, or a command.
    pub harness: Option<HarnessRef>,
    /// Whether it is a whole run, which starts over and lets a planner make a plan,
    /// or a single pass, which goes on with what there is.
    pub plans: bool,
}

/// A run that can begin.
#[derive(Debug)]
pub struct Begun {
    /// Its loop.
    pub setup: Setup,
    /// The state of its loop.
    pub state: State,
    /// The task, relative to the project.
    pub task_file: PathBuf,
    /// What the project's files are like.
    pub tree: TreeAtStart,
    /// The lines of "Done when".
    pub done_when: Vec<String>,
    /// Keeps every other run of the project out.
    _alone: RunLock,
}

/// Looks at the task and the project, makes the loop ready, and forgets the run
/// before; its `STATE.md` is kept as `STATE.prev.md`.
///
/// # Errors
///
/// [`NotBegun`]; nothing was spent then.
pub fn begin(around: &Surroundings, options: &RunOptions, by: &str) -> Result<Begun, NotBegun> {
    let (task_file, text) = read_task(around, options)?;
    let done_when = done_when(&text);
    if options.strict && done_when.is_empty() {
        return Err(NotBegun::NoCriteria { path: task_file });
    }
    prepare_project(around)?;
    install_prompts(&around.home)?;
    let dir = LoopDir::new(around.project.loop_dir(NAME));
    let alone = RunLock::acquire(&dir)?;
    let path = dir.root().join("loop.json");
    let (text_of_config, config) = config::text(&path, options, &task_file, &done_when)?;
    // A harness that there is not is told before the file is written.
    setup::harnesses(&around.home, &config, &path, &text_of_config)?;
    let agreed = is_agreed_to(around, &path)?;
    // What a loop waits for is forgotten last: whatever fails before that leaves it.
    let snapshot = read_state(&dir)?;
    if snapshot.running().is_some() {
        return Err(NotBegun::Denied {
            why: AT_WORK.to_owned(),
        });
    }
    let goes_on = !options.plans && goes_on(&snapshot.state);
    kept::write(&path, text_of_config.as_bytes())
        .map_err(|source| NotBegun::Read { path, source })?;
    let mut setup = Setup::read(around, NAME)?;
    if agreed {
        trust::trust(&setup, by)?;
    }
    setup.plans = options.plans;
    setup.strict = options.strict;
    let tree = tree(&setup)?;
    if options.plans || snapshot.state.status == Status::Complete {
        keep_state(around.project.root())?;
    }
    if !goes_on {
        restart(around, by)?;
        release_claims(&setup);
        make_task(around, &setup, &text, by)?;
    }
    setup.tasks.set_brief(TASK, &text)?;
    let state = read_state(&dir)?.state;
    Ok(Begun {
        setup,
        state,
        task_file,
        tree,
        done_when,
        _alone: alone,
    })
}

/// Whether this user has agreed to what the loop starts: one that is not there yet
/// is made by asking for the run. One that is trusted by the environment alone may
/// begin, and nothing of it is kept.
fn is_agreed_to(around: &Surroundings, path: &Path) -> Result<bool, NotBegun> {
    match path.symlink_metadata() {
        Err(error) if plain_file::is_absent(&error) => return Ok(true),
        _ => {}
    }
    let found = Setup::read(around, NAME)?;
    trust::check(&found)?;
    Ok(trust::standing(&found)? == Standing::Trusted)
}

/// What a run would do.
#[derive(Debug)]
pub struct Foretold {
    /// The task, relative to the project.
    pub task_file: PathBuf,
    /// The lines of "Done when".
    pub done_when: Vec<String>,
    /// The loop's configuration, as the run would write it.
    pub config: Config,
    /// The harnesses of its roles.
    pub harnesses: Harnesses,
}

/// Tells what [`begin`] would make of the task and the options. Writes nothing.
///
/// # Errors
///
/// [`NotBegun`], as for [`begin`].
pub fn foretell(around: &Surroundings, options: &RunOptions) -> Result<Foretold, NotBegun> {
    let (task_file, text) = read_task(around, options)?;
    let done_when = done_when(&text);
    if options.strict && done_when.is_empty() {
        return Err(NotBegun::NoCriteria { path: task_file });
    }
    let path = around.project.loop_dir(NAME).join("loop.json");
    let (text, config) = config::text(&path, options, &task_file, &done_when)?;
    Ok(Foretold {
        task_file,
        done_when,
        harnesses: setup::harnesses(&around.home, &config, &path, &text)?,
        config,
    })
}

fn read_task(around: &Surroundings, options: &RunOptions) -> Result<(PathBuf, String), NotBegun> {
    let root = around.project.root();
    let config = around.project.loop_dir(NAME).join("loop.json");
    // A pass by hand goes on with the task that the run is about.
    let known = || (!options.plans).then(|| config::task_of(&config))?;
    let given = options.task_file.clone().or_else(known);
    let given = given.unwrap_or_else(|| "TASK.md".into());
    let path = root.join(&given);
    let elsewhere = || NotBegun::Elsewhere { path: path.clone() };
    let below = path.strip_prefix(root).map_err(|_| elsewhere())?.to_owned();
    let leads_out = |part| matches!(part, std::path::Component::ParentDir);
    if below.components().any(leads_out) {
        return Err(elsewhere());
    }
    let content = match plain_file::read(&path, BRIEF_BYTES) {
        Ok(Some(content)) => Some(content),
        Ok(None) => {
            return Err(NotBegun::Read {
                path,
                source: io::Error::other("it is no plain file of at most 128 KiB"),
            });
        }
        Err(error) if plain_file::is_absent(&error) => None,
        Err(source) => return Err(NotBegun::Read { path, source }),
    };
    if let Some(why) = placeholder(content.as_deref(), scaffold::TASK.as_bytes()) {
        return Err(NotBegun::Placeholder { path, why });
    }
    let text = String::from_utf8(content.unwrap_or_default()).map_err(|_| NotBegun::Read {
        path,
        source: io::Error::other("it is not UTF-8"),
    })?;
    Ok((below, text))
}

/// Looks whether files were changed before the run: it could not tell them from
/// its own, so it says so and goes on (row G-03).
fn tree(setup: &Setup) -> Result<TreeAtStart, NotBegun> {
    let Some(repository) = &setup.repository else {
        return Ok(TreeAtStart::NoGit);
    };
    let unknown = |what: String| NotBegun::Tree { what };
    let head = repository
        .head()
        .map_err(|fault| unknown(fault.to_string()))?;
    let Some(commit) = head.commit else {
        return Ok(TreeAtStart::NoGit);
    };
    let workspace = Workspace::in_place(repository, setup.project.root());
    let stop = AtomicBool::new(false);
    let changes = Changes::since_commit(&workspace, &commit, Reach::Project, &stop)
        .map_err(|error| unknown(error.to_string()))?;
    Ok(match changes.list().len() as u64 {
        0 => TreeAtStart::Clean,
        files => TreeAtStart::Dirty { files },
    })
}

/// Keeps what the run before left (row G-04).
fn keep_state(root: &Path) -> Result<(), NotBegun> {
    let (from, to) = (root.join(STATE), root.join(PREVIOUS));
    for path in [&from, &to] {
        if path.is_dir() {
            return Err(NotBegun::Read {
                path: path.clone(),
                source: io::Error::other("it is a folder; take it away"),
            });
        }
    }
    match fs::rename(&from, &to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(NotBegun::Read {
            path: from,
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Whether the loop is about its task, so that a further pass goes on with it.
fn goes_on(state: &State) -> bool {
    state.current_task.as_deref() == Some(TASK) && state.status != Status::Complete
}

/// Lets the loop forget what it knows of its task.
fn restart(around: &Surroundings, by: &str) -> Result<(), NotBegun> {
    let request = Request::Restart {
        task: TASK.to_owned(),
        phase: None,
    };
    match driver::request(around, NAME, request, by, None)? {
        Answered::Done(requested) if !requested.accepted => Err(NotBegun::Denied {
            why: requested.said,
        }),
        Answered::Done(_) => Ok(()),
        Answered::Recorded { .. } => Err(NotBegun::Denied {
            why: AT_WORK.to_owned(),
        }),
    }
}

/// Makes the run's task, or starts it over.
fn make_task(around: &Surroundings, setup: &Setup, text: &str, by: &str) -> Result<(), NotBegun> {
    let tasks: &Tasks = &setup.tasks;
    let phases = setup.rules().phases;
    let at = around.clock.now();
    match tasks.read(TASK) {
        Err(ReadError::Missing { .. }) | Ok(None) => {
            tasks.create(&NewTask {
                name: TASK,
                title: title(text),
                brief: None,
                phases,
                origin: Origin::person(),
                at,
            })?;
        }
        Ok(Some(_)) => {
            let mover = Mover {
                by,
                loop_name: Some(NAME),
                at,
            };
            tasks.start_over(TASK, &phases, mover)?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Returns the task's first heading or line.
fn title(text: &str) -> &str {
    let mut lines = text
        .lines()
        .map(|line| line.trim_start_matches('\u{feff}').trim());
    let line = lines.find(|line| !line.is_empty()).unwrap_or(TASK);
    line.trim_start_matches('#').trim()
}
