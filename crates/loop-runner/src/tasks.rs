//! The task tracker on disk: one folder a task, with `task.json`, a claim and
//! documents.
//!
//! A folder without `task.json` is a task without a record: people make those by
//! hand, and a loop can work on them.

mod claim;
mod documents;
mod error;
mod folder;
mod moves;
mod project;

mod record;

pub use claim::{Claim, Claimed};
pub(crate) use documents::BRIEF_BYTES;
pub use documents::Kept;
pub use error::{ChangeError, ClaimError, CreateError, KeepError, ReadError};
pub use folder::FileError;
pub use loop_worksource::name::{InvalidName, check_name};
pub use moves::Mover;
pub use project::{FindViolations, ProjectOnDisk, RunProgram};

use folder::Folder;
use loop_core::phase::Phases;
use loop_core::task::{Origin, Task};
use loop_core::time::Timestamp;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the record in a task's folder.
pub const RECORD: &str = "task.json";

/// The tasks of one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tasks {
    root: PathBuf,
    /// Where the loops are that may work on them.
    loops: PathBuf,
}

/// A task to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask<'a> {
    /// Its name, which is its folder's.
    pub name: &'a str,
    /// What it is about, in a person's words.
    pub title: &'a str,
    /// What an agent is told, if anyone wrote more than a title; becomes
    /// `RESEARCH.md`.
    pub brief: Option<&'a str>,
    /// Its phases; it starts in the first.
    pub phases: Phases,
    /// Where it comes from.
    pub origin: Origin,
    /// When it is made.
    pub at: Timestamp,
}

/// One entry of the tasks folder.
#[derive(Debug)]
pub struct Listed {
    /// The folder's name.
    pub name: String,
    /// Its record; `None` for a task without one.
    pub record: Result<Option<Task>, ReadError>,
}

impl Tasks {
    /// Names the tasks below a project's data root; touches nothing.
    #[must_use]
    pub fn new(data_root: &Path) -> Self {
        Self {
            root: data_root.join("tasks"),
            loops: data_root.join("loops"),
        }
    }

    /// Returns the folder of a task, whether or not it exists.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when no task can have that name.
    pub fn path(&self, task: &str) -> Result<PathBuf, InvalidName> {
        check_name(task)?;
        Ok(self.root.join(task))
    }

    /// Makes a task: its folder and its record. A folder without a record gets
    /// one, and keeps its documents.
    ///
    /// # Errors
    ///
    /// [`CreateError::Exists`] when the task has a record already, which is not
    /// touched.
    pub fn create(&self, new: &NewTask<'_>) -> Result<Task, CreateError> {
        check_name(new.name)?;
        let folder = Folder::open(&self.root, true)?.make(new.name)?.lock()?;
        let task = Task::new(
            new.name,
            new.title,
            new.phases.clone(),
            new.origin.clone(),
            new.at,
        );
        let exists = || CreateError::Exists {
            task: new.name.to_owned(),
            path: folder.path_of(RECORD),
        };
        if folder.read(RECORD, 1)?.is_some() {
            return Err(exists());
        }
        // The record comes last: a task that has one has its brief.
        if let Some(brief) = new.brief {
            folder.add(documents::BRIEFS[0], &mut brief.as_bytes())?;
        }
        if folder.add(RECORD, &mut record::text(&task).as_bytes())? {
            Ok(task)
        } else {
            Err(exists())
        }
    }

    /// Reads a task's record; `None` for a task without one.
    ///
    /// # Errors
    ///
    /// [`ReadError::Missing`] without a folder; [`ReadError::Record`], with line
    /// and column, for a record that cannot be understood. A bad record is never
    /// taken for none.
    pub fn read(&self, task: &str) -> Result<Option<Task>, ReadError> {
        record::read(&self.folder(task)?, task)
    }

    /// Lists every task, sorted by name. A folder that cannot be read is listed
    /// with the reason; files and hidden entries are none.
    ///
    /// # Errors
    ///
    /// [`FileError`] when the tasks folder itself cannot be read; one that is
    /// missing holds no tasks.
    pub fn list(&self) -> Result<Vec<Listed>, FileError> {
        let mut names = self.names()?;
        names.sort();
        Ok(names
            .into_iter()
            .map(|name| Listed {
                record: self.read(&name),
                name,
            })
            .collect())
    }

    /// Lists the names of all entries that are, or stand in the place of, task
    /// folders; in no order.
    fn names(&self) -> Result<Vec<String>, FileError> {
        let names = std::fs::read_dir(&self.root).and_then(|entries| {
            let mut names = Vec::new();
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let kind = entry.file_type()?;
                if !name.starts_with('.') && (kind.is_dir() || kind.is_symlink()) {
                    names.push(name);
                }
            }
            Ok(names)
        });
        match names {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|source| FileError {
                path: self.root.clone(),
                source,
            }),
        }
    }

    /// Opens the folder of a task that exists.
    fn folder(&self, task: &str) -> Result<Folder, ReadError> {
        check_name(task)?;
        let missing = |error: FileError| match error.source.kind() {
            io::ErrorKind::NotFound => ReadError::Missing {
                task: task.to_owned(),
            },
            _ => ReadError::File(error),
        };
        Folder::open(&self.root, false)
            .and_then(|root| root.sub(task))
            .map_err(missing)
    }
}
