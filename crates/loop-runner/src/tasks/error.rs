//! What can go wrong with tasks on disk, one enum per operation.

use super::folder::FileError;
use loop_core::task::MoveError;
use loop_worksource::name::InvalidName;
use std::path::PathBuf;

/// A task could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// There is no such folder.
    #[error("there is no task `{task}`")]
    Missing {
        /// The task.
        task: String,
    },
    /// The record is not what a record looks like.
    #[error("{}:{line}:{column}: {what}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// The line, from 1; 0 when the whole file is meant.
        line: usize,
        /// The column, from 1; 0 when the whole file is meant.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A task could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The task has a record already.
    #[error("task `{task}` exists already: {}", path.display())]
    Exists {
        /// The task.
        task: String,
        /// Its record.
        path: PathBuf,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A task could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It has a folder and no record.
    #[error("task `{task}` has no record; `loop task create {task}` makes one")]
    Untracked {
        /// The task.
        task: String,
    },
    /// Its phases do not allow the move.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// There is nothing to approve.
    #[error("task `{task}` waits for no approval: it is in phase `{phase}`")]
    NotWaiting {
        /// The task.
        task: String,
        /// Where it is.
        phase: String,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A claim could not be made or given back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// The task could not be opened.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is a claim that says nothing.
    #[error("{}: {what}; remove the file if no loop works on the task", path.display())]
    Unreadable {
        /// The claim.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A document could not be kept in a task's folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The task could not be opened.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The document's name is none.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}
