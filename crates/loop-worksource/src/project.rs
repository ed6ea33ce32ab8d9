//! What a work source may ask of the world.

use crate::source::LoopView;
use crate::violation::Violation;
use loop_core::task::{Origin, Task};
use std::time::Duration;

/// The project that a source looks for work in, and its tasks.
///
/// Paths are relative to the project, with `/`; an implementation refuses to
/// leave it.
pub trait Project {
    /// Reads a file; `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when there is one that cannot be read.
    fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, ProjectError>;

    /// Replaces a file's content in one move, if it is still `was`.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when the system refused; nothing is changed then.
    fn replace(&mut self, path: &str, was: &[u8], new: &[u8]) -> Result<Written, ProjectError>;

    /// Lists the names of all tasks, in any order.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when they cannot be listed.
    fn task_names(&mut self) -> Result<Vec<String>, ProjectError>;

    /// Returns what is known of a task; `None` when it does not exist.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] for a name that no task can have, and for a record that
    /// cannot be read: it is never taken for none.
    fn task(&mut self, name: &str) -> Result<Option<TaskFacts>, ProjectError>;

    /// Makes a task in the first of the loop's phases. One that exists already,
    /// perhaps since a moment ago, is left as it is.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when it cannot be made.
    fn create(&mut self, task: &NewTask, view: &LoopView) -> Result<(), ProjectError>;

    /// Claims a task for the loop; returns the loop that has it, if that is
    /// another one. Of any number of loops that ask at once, one gets it.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when that cannot be found out.
    fn claim(&mut self, task: &str, view: &LoopView) -> Result<Option<String>, ProjectError>;

    /// Gives a task that has not moved yet the loop's phases, and returns its
    /// record; `None` for a task without one.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when the record cannot be read or written.
    fn adopt(&mut self, task: &str, view: &LoopView) -> Result<Option<Task>, ProjectError>;

    /// Audits the project.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when that fails; an audit that fails found nothing out.
    fn violations(&mut self) -> Result<Vec<Violation>, ProjectError>;

    /// Runs a program in the project and waits for its end.
    ///
    /// # Errors
    ///
    /// [`ProjectError`] when it cannot be started.
    fn run(&mut self, program: &Program) -> Result<Ran, ProjectError>;

    /// Writes a line for people to the loop's log.
    fn note(&mut self, level: Level, text: &str);
}

/// Something outside that could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ProjectError {
    /// What went wrong, naming the file or program.
    pub what: String,
}

impl ProjectError {
    /// Takes over what an implementation's own error says.
    #[must_use]
    pub fn new(error: &dyn std::error::Error) -> Self {
        Self {
            what: error.to_string(),
        }
    }
}

/// What came of replacing a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is replaced.
    Now,
    /// Someone else changed it meanwhile; nothing was written.
    Changed,
}

/// What is known of a task that exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFacts {
    /// Its record; a task made by hand may have none.
    pub record: Option<Task>,
    /// The loop that works on it.
    pub claimed_by: Option<String>,
}

/// A task to make from an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// Its name, safe as a path component.
    pub name: String,
    /// What it is about, in one line.
    pub title: String,
    /// What an agent is told about it.
    pub brief: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments; at least one.
    pub argv: Vec<String>,
    /// What it reads from its standard input, which is then closed.
    pub stdin: Vec<u8>,
    /// How long it may run.
    pub timeout: Duration,
    /// Bytes of its standard output that are wanted.
    pub limit: usize,
}

/// A program that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How.
    pub end: RunEnd,
    /// Its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Whether it wrote more than the limit.
    pub truncated: bool,
    /// The end of its standard error, for people.
    pub stderr: String,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    Signaled(i32),
    /// It took too long and was ended.
    TimedOut,
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// Probably not what was meant.
    Warning,
    /// Something failed.
    Error,
}
