//! Makes a loop from a template.

use crate::driver;
use crate::home::Home;
use crate::setup::{self, Setup, SetupError, Surroundings};
use crate::store::{self, RequestError};
use crate::tasks::{CreateError, NewTask, ReadError, Tasks};
use crate::templates::{self, LOOP_SCHEMA};
use crate::trust::{self, TrustError};
use loop_core::config::{Config, HarnessChoice, HarnessRef, LoopName, WorkSourceKind};
use loop_core::control::Request;
use loop_core::task::Origin;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A loop to make.
#[derive(Clone, Debug)]
pub struct NewLoop<'a> {
    /// Its name.
    pub name: &'a str,
    /// The template.
    pub template: &'a str,
    /// The task that it works on; made if it does not exist.
    pub task: Option<&'a str>,
    /// What an agent is told of the task.
    pub brief: Option<&'a str>,
    /// The harness, in place of the template's: a profile, or a command.
    pub harness: Option<HarnessRef>,
    /// Who makes it.
    pub by: &'a str,
}

/// A loop that was made.
#[derive(Debug)]
pub struct Created {
    /// The loop.
    pub setup: Setup,
    /// Its task, if it was given one.
    pub task: Option<String>,
    /// What was put into the framework home for it.
    pub installed: Vec<PathBuf>,
}

/// A loop that was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateLoopError {
    /// The name is none.
    #[error("{why}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// There is no such template.
    #[error("there is no template `{template}`; there are {}", known.join(", "))]
    NoSuchTemplate {
        /// The name.
        template: String,
        /// The names of those that there are.
        known: Vec<String>,
    },
    /// The loop finds its tasks itself.
    #[error(
        "a loop from `{template}` takes its work from its source ({kind}), not from --task or --brief"
    )]
    FindsItsTasks {
        /// The template.
        template: String,
        /// The kind of its work source.
        kind: &'static str,
    },
    /// The loop is there already.
    #[error("the loop `{name}` exists already: {}", path.display())]
    Exists {
        /// The name.
        name: String,
        /// Its folder.
        path: PathBuf,
    },
    /// The template is not a right configuration.
    #[error("the template is wrong: {what}")]
    Template {
        /// File, line, column, key and what is wrong.
        what: String,
    },
    /// Its task could not be made.
    #[error(transparent)]
    Task(#[from] CreateError),
    /// Its task could not be read.
    #[error(transparent)]
    ReadTask(#[from] ReadError),
    /// The loop was made and cannot be read.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The loop was made, and it could not be kept that its maker agrees to it.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The loop was made and could not be given its task.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The system refused.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Makes a loop from a template: its folder with `loop.json`, the prompts that
/// are missing in the home, and its task. Everything is checked before anything
/// is written; what is there is never overwritten.
///
/// # Errors
///
/// [`CreateLoopError`].
pub fn create(around: &Surroundings, new: &NewLoop<'_>) -> Result<Created, CreateLoopError> {
    let config = configure(&around.home, new)?;
    // A profile that there is not is told before anything is written.
    setup::harnesses(&around.home, &config, Path::new("loop.json"), "")?;
    let kind = config.work_source().kind();
    if kind != WorkSourceKind::Single && (new.task.is_some() || new.brief.is_some()) {
        return Err(CreateLoopError::FindsItsTasks {
            template: new.template.to_owned(),
            kind: kind.name(),
        });
    }
    let folder = around.project.loop_dir(new.name);
    if folder.symlink_metadata().is_ok() {
        return Err(CreateLoopError::Exists {
            name: new.name.to_owned(),
            path: folder,
        });
    }
    let tasks = Tasks::new(around.project.data());
    let task = new.task.or_else(|| new.brief.map(|_| new.name));
    let make_task = match task {
        Some(task) => must_be_made(&tasks, task, new.brief)?,
        None => false,
    };
    prepare_project(around)?;
    let installed = install_prompts(&around.home)?;
    write_loop(&folder, &config)?;
    let setup = Setup::read(around, new.name)?;
    // Who makes a loop has agreed to what it starts.
    trust::trust(&setup, new.by)?;
    if let Some(task) = task {
        if make_task {
            tasks.create(&NewTask {
                name: task,
                title: new.brief.map_or(task, first_line),
                brief: new.brief,
                phases: setup.rules().phases,
                origin: Origin::person(),
                at: around.clock.now(),
            })?;
        }
        give_task(around, &setup, task, new.by)?;
    }
    Ok(Created {
        setup,
        task: task.map(str::to_owned),
        installed,
    })
}

/// Makes the project's data folder ready for loops, with the schema that the
/// templates' `$schema` leads to. Returns the paths that were made.
///
/// # Errors
///
/// [`CreateLoopError::Io`].
pub fn prepare_project(around: &Surroundings) -> Result<Vec<PathBuf>, CreateLoopError> {
    let mut made = around.project.init().map_err(io_error(format_args!(
        "make {}",
        around.project.data().display()
    )))?;
    let schema = around.project.data().join("loop.schema.json");
    if write_new(&schema, LOOP_SCHEMA.as_bytes())? {
        made.push(schema);
    }
    Ok(made)
}

/// Gives a single loop its task, as `loop set-task` does.
///
/// # Errors
///
/// [`RequestError`] when the request could not be left or taken in.
pub fn give_task(
    around: &Surroundings,
    setup: &Setup,
    task: &str,
    by: &str,
) -> Result<store::Answered, RequestError> {
    let phase = setup.tasks.read(task).ok().flatten().map(|task| task.phase);
    let request = Request::SetTask {
        task: task.to_owned(),
        phase,
    };
    let answered = driver::request(around, &setup.name, request, by, None)?;
    driver::release_claims(setup);
    Ok(answered)
}

/// Reads the template, gives it its new name and harness.
fn configure(home: &Home, new: &NewLoop<'_>) -> Result<Config, CreateLoopError> {
    let bad_name = |why: String| CreateLoopError::Name {
        name: new.name.to_owned(),
        why,
    };
    let name: LoopName = new
        .name
        .parse()
        .map_err(|error: loop_core::config::Malformed| bad_name(error.to_string()))?;
    if name.is_reserved() {
        return Err(bad_name(format!(
            "`{name}` belongs to `loop run`; take another name"
        )));
    }
    let looking = format!("read the templates of {}", home.root().display());
    let found = templates::find(home, new.template).map_err(io_error(&looking))?;
    let Some(template) = found else {
        return Err(CreateLoopError::NoSuchTemplate {
            template: new.template.to_owned(),
            known: templates::names(home).map_err(io_error(&looking))?,
        });
    };
    let parsed = Config::parse(&template.text).map_err(|error| {
        let file = template
            .file
            .as_deref()
            .unwrap_or_else(|| Path::new("loop.json"));
        CreateLoopError::Template {
            what: error.with_file(file.display().to_string()).to_string(),
        }
    })?;
    let mut config = parsed.config;
    config.set_name(name);
    if let Some(harness) = &new.harness {
        config.set_harness(HarnessChoice::One(harness.clone()));
    }
    Ok(config)
}

/// Whether the task has to be made. One that exists is taken, but a brief for
/// it would be lost.
fn must_be_made(tasks: &Tasks, task: &str, brief: Option<&str>) -> Result<bool, CreateLoopError> {
    match tasks.read(task) {
        Ok(Some(record)) if brief.is_some() => Err(CreateError::Exists {
            task: record.name,
            path: tasks.path(task).map_err(CreateError::from)?,
        }
        .into()),
        Ok(Some(_)) => Ok(false),
        Ok(None) | Err(ReadError::Missing { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Puts the shipped prompts that are missing into the home (row C-05).
pub(crate) fn install_prompts(home: &Home) -> Result<Vec<PathBuf>, CreateLoopError> {
    let folder = home.prompts();
    fs::create_dir_all(&folder).map_err(io_error(format_args!("make {}", folder.display())))?;
    let mut installed = Vec::new();
    for prompt in loop_prompts::builtin() {
        let path = folder.join(prompt.file_name);
        if write_new(&path, prompt.text.as_bytes())? {
            installed.push(path);
        }
    }
    Ok(installed)
}

/// Makes the loop's folder with its `loop.json`, whole or not at all.
fn write_loop(folder: &Path, config: &Config) -> Result<(), CreateLoopError> {
    let doing = format!("make {}", folder.display());
    let mut text =
        serde_json::to_string_pretty(config).map_err(|error| io_error(&doing)(error.into()))?;
    text.push('\n');
    let parent = folder.parent().unwrap_or(folder);
    let made = tempfile::Builder::new()
        .prefix(".create-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir_in(parent)
        .map_err(io_error(&doing))?;
    fs::write(made.path().join("loop.json"), text).map_err(io_error(&doing))?;
    fs::rename(made.path(), folder).map_err(io_error(&doing))?;
    let _moved = made.keep();
    Ok(())
}

/// Writes a file that is not there yet; returns whether it was written.
fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, CreateLoopError> {
    let doing = format!("write {}", path.display());
    match fs::File::create_new(path) {
        Ok(mut file) => {
            file.write_all(bytes).map_err(io_error(&doing))?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(io_error(&doing)(error)),
    }
}

fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or(text)
}

fn io_error(doing: impl ToString) -> impl FnOnce(io::Error) -> CreateLoopError {
    let doing = doing.to_string();
    move |source| CreateLoopError::Io { doing, source }
}
