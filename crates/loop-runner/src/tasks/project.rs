//! The project on disk, as a work source sees it.

use super::folder::{FileError, Folder};
use super::{Claimed, CreateError, NewTask, Tasks};
use loop_core::task::Task;
use loop_worksource::{
    Level, LoopView, NewTask as FromItem, Program, Project, ProjectError, Ran, TaskFacts,
    Violation, Written,
};
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The largest file of a project that a work source reads.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Runs a program in the project for a work source.
pub type RunProgram<'a> = dyn FnMut(&Program) -> Result<Ran, ProjectError> + 'a;
/// Audits the project for a work source.
pub type FindViolations<'a> = dyn FnMut() -> Result<Vec<Violation>, ProjectError> + 'a;

/// A project's files and tasks; what runs programs and audits is passed in.
///
/// Files are read and written below `root` only, and through no link: in a
/// worktree an agent may have put one anywhere.
pub struct ProjectOnDisk<'a> {
    /// Where files are: the project, or the worktree whose boxes are ticked.
    root: PathBuf,
    tasks: Tasks,
    run: Box<RunProgram<'a>>,
    audit: Box<FindViolations<'a>>,
    notes: Vec<(Level, String)>,
}

impl<'a> ProjectOnDisk<'a> {
    /// Makes the view of a project whose files are below `root`.
    #[must_use]
    pub fn new(
        root: &Path,
        tasks: Tasks,
        run: Box<RunProgram<'a>>,
        audit: Box<FindViolations<'a>>,
    ) -> Self {
        Self {
            root: root.to_owned(),
            tasks,
            run,
            audit,
            notes: Vec::new(),
        }
    }

    /// Returns what the source wrote for people, oldest first.
    #[must_use]
    pub fn into_notes(self) -> Vec<(Level, String)> {
        self.notes
    }

    /// Opens the folder of a file; `None` when there is none.
    fn folder<'p>(&self, path: &'p str) -> Result<Option<(Folder, &'p str)>, FileError> {
        let refuse = || FileError {
            path: self.root.join(path),
            source: io::Error::other("is not a path below the project"),
        };
        let mut names = Vec::new();
        for part in Path::new(path).components() {
            match part {
                Component::Normal(name) => names.push(name.to_str().ok_or_else(refuse)?),
                _ => return Err(refuse()),
            }
        }
        let file = names.pop().ok_or_else(refuse)?;
        let mut folder = Folder::open(&self.root, false)?;
        for name in names {
            folder = match folder.sub(name) {
                Ok(folder) => folder,
                Err(error) if error.source.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        Ok(Some((folder, file)))
    }

    fn read_file(&self, path: &str) -> Result<Option<Vec<u8>>, FileError> {
        let Some((folder, name)) = self.folder(path)? else {
            return Ok(None);
        };
        let bytes = folder.read(name, LARGEST + 1)?;
        if bytes
            .as_ref()
            .is_some_and(|bytes| bytes.len() as u64 > LARGEST)
        {
            return Err(FileError {
                path: self.root.join(path),
                source: io::Error::other(format!("is larger than {LARGEST} bytes")),
            });
        }
        Ok(bytes)
    }
}

impl fmt::Debug for ProjectOnDisk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectOnDisk")
            .field("root", &self.root)
            .field("tasks", &self.tasks)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

fn said(error: impl std::error::Error) -> ProjectError {
    ProjectError::new(&error)
}

impl Project for ProjectOnDisk<'_> {
    fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, ProjectError> {
        self.read_file(path).map_err(said)
    }

    fn replace(&mut self, path: &str, was: &[u8], new: &[u8]) -> Result<Written, ProjectError> {
        let replaced = match self.folder(path).map_err(said)? {
            Some((folder, name)) => folder.exchange(name, was, new).map_err(said)?,
            None => false,
        };
        Ok(if replaced {
            Written::Now
        } else {
            Written::Changed
        })
    }

    fn task_names(&mut self) -> Result<Vec<String>, ProjectError> {
        self.tasks.names().map_err(said)
    }

    fn task(&mut self, name: &str) -> Result<Option<TaskFacts>, ProjectError> {
        let record = match self.tasks.read(name) {
            Ok(record) => record,
            Err(super::ReadError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(said(error)),
        };
        let claim = self.tasks.claimed(name).map_err(said)?;
        Ok(Some(TaskFacts {
            record,
            claimed_by: claim.map(|claim| claim.loop_name),
        }))
    }

    fn create(&mut self, task: &FromItem, view: &LoopView) -> Result<(), ProjectError> {
        // What a person wrote beforehand says better what is to be done.
        let has_brief = matches!(self.tasks.brief(&task.name), Ok(Some(_)));
        let made = self.tasks.create(&NewTask {
            name: &task.name,
            title: &task.title,
            brief: Some(task.brief.as_str()).filter(|_| !has_brief),
            phases: view.phases.clone(),
            origin: task.origin.clone(),
            at: view.at,
        });
        match made {
            Ok(_) | Err(CreateError::Exists { .. }) => Ok(()),
            Err(error) => Err(said(error)),
        }
    }

    fn claim(&mut self, task: &str, view: &LoopView) -> Result<Option<String>, ProjectError> {
        match self.tasks.claim(task, &view.name, view.at) {
            Ok(Claimed::Ours(_)) => Ok(None),
            Ok(Claimed::TakenOver(was)) => {
                let what = format!(
                    "the loop {:?} that worked on {task} is gone; {} takes it over",
                    was.loop_name, view.name
                );
                self.note(Level::Warning, &what);
                Ok(None)
            }
            Ok(Claimed::Theirs(claim)) => Ok(Some(claim.loop_name)),
            Err(error) => Err(said(error)),
        }
    }

    fn adopt(&mut self, task: &str, view: &LoopView) -> Result<Option<Task>, ProjectError> {
        self.tasks.adopt(task, &view.phases, view.at).map_err(said)
    }

    fn violations(&mut self) -> Result<Vec<Violation>, ProjectError> {
        (self.audit)()
    }

    fn run(&mut self, program: &Program) -> Result<Ran, ProjectError> {
        (self.run)(program)
    }

    fn note(&mut self, level: Level, text: &str) {
        self.notes.push((level, text.to_owned()));
    }
}
