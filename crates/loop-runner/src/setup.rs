//! One loop with everything that driving it needs.

use crate::causes::with_causes;
use crate::clock::Clock;
use crate::furnish;
use crate::gate::{GateError, check as check_gate};
use crate::git::{Configuration, OpenError, Repository};
use crate::home::{Home, expand_tilde};
use crate::profiles;
use crate::project::Project;
use crate::schedule::zone::{self, UnknownZone};
use crate::scope_check::check_patterns;
use crate::sources;
use crate::store::LoopDir;
use crate::tasks::Tasks;
use loop_core::config::{self, Config, ConfigWarning, LoopName, Parsed, Supported, UnknownUse};
use loop_core::harness::{HarnessError, Harnesses};
use loop_core::rules::Rules;
use loop_core::schedule::{Zone, closed_until};
use loop_core::scope::InvalidPattern;
use loop_core::time::Timestamp;
use loop_worksource::WorkSource;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest `loop.json` that is read, in bytes.
const CONFIG_LIMIT: u64 = 1024 * 1024;

/// One loop of a project, read from disk.
#[derive(Debug)]
pub struct Setup {
    /// The framework home.
    pub home: Home,
    /// The project that is worked on: its tasks, its repository, its files.
    pub project: Project,
    /// The project that holds the loop's own files. It is the same one, unless
    /// `work_source.project` names another to work on.
    pub kept_in: Project,
    /// The loop's name.
    pub name: String,
    /// Its files.
    pub dir: LoopDir,
    /// The text of its configuration.
    text: String,
    /// Its configuration.
    pub config: Config,
    /// The harnesses of its roles.
    pub harnesses: Harnesses,
    /// What a person should know about how that was read.
    pub warnings: Vec<ConfigWarning>,
    /// Where its work comes from. An embedder may put a source of its own here.
    pub source: Box<dyn WorkSource>,
    /// The tasks of the project.
    pub tasks: Tasks,
    /// The repository around the project, if there is one.
    pub repository: Option<Repository>,
    /// Whether a plan is made where the configuration names a planner; a single
    /// pass by hand goes without.
    pub plans: bool,
    /// Whether a plan that leaves a line of "Done when" without a check is refused.
    pub strict: bool,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// The zone in which the schedule is read.
    zone: Result<Zone, UnknownZone>,
    /// The environment that children inherit from.
    pub environment: Vec<(OsString, OsString)>,
}

/// A loop that cannot be used as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// There is no such loop.
    #[error("there is no loop `{name}` in {}", project.display())]
    NoSuchLoop {
        /// The name.
        name: String,
        /// The project.
        project: PathBuf,
    },
    /// Its configuration cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Its configuration is longer than any that a person writes.
    #[error("{} is longer than 1 MiB", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// Its configuration is wrong.
    #[error("{what}")]
    Config {
        /// File, line, column, key, what is wrong and what to do.
        what: String,
    },
    /// The harness profiles cannot be listed.
    #[error("{what}")]
    Profiles {
        /// The folder, and what the system said.
        what: String,
    },
    /// The repository around the project cannot be read.
    #[error(transparent)]
    Repository(#[from] OpenError),
}

/// A configuration that is right, and that no tick of this version may run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unrunnable {
    /// It asks for what this version does not have yet.
    #[error("{place}: not enforced by this version: {}; take it out", keys.join(", "))]
    NotEnforced {
        /// Where the first of the keys stands: file, line and column.
        place: String,
        /// The keys.
        keys: Vec<String>,
    },
    /// A schedule in a zone that there is not.
    #[error("{place}: schedule.timezone: {source}")]
    Zone {
        /// Where it stands: file, line and column.
        place: String,
        /// Which.
        source: UnknownZone,
    },
    /// A limit of what may change that means nothing.
    #[error("{place}: blast_radius: {source}")]
    Scope {
        /// Where it stands: file, line and column.
        place: String,
        /// What is wrong with it.
        source: InvalidPattern,
    },
    /// The acceptance gate cannot be what the configuration says.
    #[error("{place}: {source}")]
    Gate {
        /// Where it stands: file, line and column.
        place: String,
        /// Why not.
        source: GateError,
    },
    /// Whether changes stay in scope cannot be told without a repository.
    #[error(
        "{place}: blast_radius: file_scope and protect need a git repository to compare with; \
         make one with git init, or take them out"
    )]
    ScopeWithoutGit {
        /// Where it stands: file, line and column.
        place: String,
    },
    /// A pattern that means nothing.
    #[error("{place}: blast_radius.copy: {source}")]
    Pattern {
        /// Where it stands: file, line and column.
        place: String,
        /// What is wrong with it.
        source: InvalidPattern,
    },
    /// A cap on what it uses cannot hold.
    #[error("{place}: {source}")]
    UnknownUse {
        /// Where the cap stands: file, line and column.
        place: String,
        /// Why.
        source: UnknownUse,
    },
}

/// What a loop is read with.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The framework home.
    pub home: Home,
    /// The project.
    pub project: Project,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// The environment that children inherit from.
    pub environment: Vec<(OsString, OsString)>,
}

impl Setup {
    /// Reads the loop called `name`.
    ///
    /// # Errors
    ///
    /// [`SetupError`] when there is no such loop, or its configuration or
    /// repository cannot be read.
    pub fn read(around: &Surroundings, name: &str) -> Result<Self, SetupError> {
        let (dir, text, Parsed { config, warnings }) = read_file(&around.project, name)?;
        let path = dir.root().join("loop.json");
        let harnesses = harnesses(&around.home, &config, &path, &text)?;
        let project = worked_on(around, &config, &path)?;
        let zone = zone::of(config.schedule());
        Ok(Self {
            home: around.home.clone(),
            tasks: Tasks::new(project.data()),
            source: sources::of(&config).map_err(|error| SetupError::Config {
                what: format!("{}: work_source: {error}", path.display()),
            })?,
            repository: Repository::discover(project.root(), Configuration::User)?,
            project,
            kept_in: around.project.clone(),
            name: name.to_owned(),
            dir,
            text,
            config,
            harnesses,
            warnings,
            plans: true,
            strict: false,
            zone,
            clock: Arc::clone(&around.clock),
            environment: around.environment.clone(),
        })
    }

    /// Returns what the decisions of its next tick depend on.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let rules = Rules::of(&self.config, &self.harnesses);
        Rules {
            plan: rules.plan.filter(|_| self.plans),
            closed_until: self.closed_until(),
            ..rules
        }
    }

    /// Returns until when the schedule's window is closed. In an unknown zone nothing
    /// ticks at all.
    fn closed_until(&self) -> Option<Timestamp> {
        let zone = self.zone.as_ref().ok()?;
        closed_until(self.config.schedule()?, self.clock.now(), zone)
    }

    /// Returns the zone in which the schedule is read.
    ///
    /// # Errors
    ///
    /// [`UnknownZone`] when it names one that there is not.
    pub fn zone(&self) -> Result<&Zone, UnknownZone> {
        self.zone.as_ref().map_err(Clone::clone)
    }

    /// Returns the text of the configuration.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the path of the configuration.
    #[must_use]
    pub fn config_path(&self) -> PathBuf {
        self.dir.root().join("loop.json")
    }

    /// Checks that every limit in the configuration can be held: none is ever
    /// silently off.
    ///
    /// # Errors
    ///
    /// [`Unrunnable`] naming each key that stands against a tick.
    pub fn check_runnable(&self) -> Result<(), Unrunnable> {
        let keys = self.config.not_enforced(&Supported::THIS_VERSION);
        if let Some(first) = keys.first() {
            return Err(Unrunnable::NotEnforced {
                place: self.place_of(first),
                keys,
            });
        }
        self.zone().map_err(|source| Unrunnable::Zone {
            place: self.place_of("schedule.timezone"),
            source,
        })?;
        check_patterns(self).map_err(|source| Unrunnable::Scope {
            place: self.place_of("blast_radius"),
            source,
        })?;
        if self.config.gate().is_some() {
            check_gate(self).map_err(|source| Unrunnable::Gate {
                place: self.place_of("gate"),
                source,
            })?;
        }
        let limits = self.config.blast_radius();
        if self.config.limits_changes() && !limits.use_worktree() && self.repository.is_none() {
            return Err(Unrunnable::ScopeWithoutGit {
                place: self.place_of("blast_radius"),
            });
        }
        furnish::check(&self.config).map_err(|source| Unrunnable::Pattern {
            place: self.place_of("blast_radius.copy"),
            source,
        })?;
        self.config
            .caps_enforceable(&self.harnesses)
            .map_err(|source| Unrunnable::UnknownUse {
                place: self.place_of(source.cap()),
                source,
            })
    }

    /// Says where a key stands: file, line and column.
    fn place_of(&self, key: &str) -> String {
        let path = self.config_path();
        match config::locate(&self.text, key) {
            Some(at) => format!("{}:{}:{}", path.display(), at.line, at.column),
            None => path.display().to_string(),
        }
    }
}

/// Finds the project that `work_source.project` names, with `~` for the user's
/// home; without one it is the loop's own (row S-18).
fn worked_on(around: &Surroundings, config: &Config, file: &Path) -> Result<Project, SetupError> {
    let Some(named) = &config.work_source().project else {
        return Ok(around.project.clone());
    };
    let mut environment = around.environment.iter();
    let user_home = environment.find(|(name, _)| name == "HOME");
    let user_home = user_home.map(|(_, home)| home.as_os_str());
    let folder = expand_tilde(Path::new(named.as_str()), user_home);
    let folder = around.project.root().join(folder);
    Project::at(&folder, &around.home).map_err(|error| SetupError::Config {
        what: format!("{}: work_source.project: {error}", file.display()),
    })
}

/// Finds the harnesses of every role, with the profiles that they name; `file` and
/// `text` are those of the configuration.
///
/// # Errors
///
/// [`SetupError::Config`] when one cannot be called as it is described,
/// [`SetupError::Profiles`] when the home's profiles cannot be listed.
pub(crate) fn harnesses(
    home: &Home,
    config: &Config,
    file: &Path,
    text: &str,
) -> Result<Harnesses, SetupError> {
    let found = profiles::find(home).map_err(|error| SetupError::Profiles {
        what: with_causes(&error),
    })?;
    Harnesses::of(config, &found.profiles).map_err(|error| SetupError::Config {
        what: match &error {
            HarnessError::NoSuchProfile { name, .. } if found.broken(name).is_some() => {
                found.broken(name).unwrap_or_default().to_owned()
            }
            _ => match config::locate(text, error.key()) {
                Some(at) => format!("{}:{}:{}: {error}", file.display(), at.line, at.column),
                None => format!("{}: {error}", file.display()),
            },
        },
    })
}

/// Reads the configuration of the loop called `name`, and nothing else of it.
///
/// # Errors
///
/// [`SetupError`] when there is no such loop, or its configuration cannot be
/// read.
pub fn read_config(project: &Project, name: &str) -> Result<Config, SetupError> {
    read_file(project, name).map(|(_, _, parsed)| parsed.config)
}

fn read_file(project: &Project, name: &str) -> Result<(LoopDir, String, Parsed), SetupError> {
    let dir = LoopDir::new(project.loop_dir(name));
    let path = dir.root().join("loop.json");
    let known = name.parse::<LoopName>().is_ok() && dir.root().is_dir();
    if !known {
        return Err(SetupError::NoSuchLoop {
            name: name.to_owned(),
            project: project.root().to_owned(),
        });
    }
    let text = read_text(&path)?;
    let parsed = parse(&path, &text)?;
    let own = parsed.config.name().as_str();
    if own != name {
        return Err(SetupError::Config {
            what: format!(
                "{}: name: it is `{own}`, but the loop's folder is called `{name}`; rename one",
                path.display()
            ),
        });
    }
    Ok((dir, text, parsed))
}

fn read_text(path: &Path) -> Result<String, SetupError> {
    let read = |source| SetupError::Read {
        path: path.to_owned(),
        source,
    };
    // Opening a pipe would wait for a writer.
    if !path.metadata().map_err(read)?.is_file() {
        return Err(read(io::Error::other("it is no regular file")));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(CONFIG_LIMIT + 1).read_to_end(&mut bytes))
        .map_err(read)?;
    if bytes.len() as u64 > CONFIG_LIMIT {
        return Err(SetupError::TooLong {
            path: path.to_owned(),
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        read(io::Error::new(
            io::ErrorKind::InvalidData,
            error.utf8_error(),
        ))
    })
}

fn parse(path: &Path, text: &str) -> Result<Parsed, SetupError> {
    Config::parse(text).map_err(|error| SetupError::Config {
        what: error.with_file(path.display().to_string()).to_string(),
    })
}
