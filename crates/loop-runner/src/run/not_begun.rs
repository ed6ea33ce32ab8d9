//! Why a run did not begin.

use super::lock::RunLockError;
use crate::create::CreateLoopError;
use crate::setup::SetupError;
use crate::store::{self, RequestError};
use crate::tasks::{ChangeError, CreateError, KeepError, ReadError};
use crate::trust::{TrustError, Untrusted};
use loop_core::plan::Placeholder;
use std::io;
use std::path::PathBuf;

/// A run that cannot begin; nothing was spent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotBegun {
    /// Nobody has written the task.
    #[error("{}: {why}", path.display())]
    Placeholder {
        /// The file.
        path: PathBuf,
        /// What is missing.
        why: Placeholder,
    },
    /// The task, or another file of the run, is no plain file of a usual length, or
    /// cannot be read or written.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
    /// The task is not in the project.
    #[error("{} is not below the project; a run works in it", path.display())]
    Elsewhere {
        /// The file.
        path: PathBuf,
    },
    /// Its files could not be made.
    #[error(transparent)]
    Prepare(#[from] CreateLoopError),
    /// Its `loop.json` is wrong.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Its `loop.json` is not, or would not be, a right configuration.
    #[error("{}: {what}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Nobody has agreed to what the loop of a clone starts.
    #[error("{0}; see it: loop trust run --show; agree to it: loop trust run")]
    Untrusted(#[from] Untrusted),
    /// What was agreed to could not be kept.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// Its task could not be made.
    #[error(transparent)]
    Task(#[from] CreateError),
    /// Its brief could not be written.
    #[error(transparent)]
    Brief(#[from] KeepError),
    /// Its task could not be read.
    #[error(transparent)]
    ReadTask(#[from] ReadError),
    /// Its task could not be started over.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Its state could not be read.
    #[error(transparent)]
    State(#[from] store::ReadError),
    /// The loop could not be asked.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// What the loop itself writes is not to be frozen.
    #[error("--freeze {path}: the loop itself writes it; leave it out")]
    Freeze {
        /// The path.
        path: String,
    },
    /// Nothing says when the task is done.
    #[error("{}: --strict needs a list under a heading \"Done when\"; write it, or leave out --strict", path.display())]
    NoCriteria {
        /// The task.
        path: PathBuf,
    },
    /// The loop refused, as while a tick of it runs.
    #[error("{why}")]
    Denied {
        /// Why.
        why: String,
    },
    /// Another run of the project is at work.
    #[error(transparent)]
    Running(#[from] RunLockError),
    /// The project's files could not be compared with the last commit.
    #[error("what the project's files are like cannot be told: {what}")]
    Tree {
        /// Why not.
        what: String,
    },
}
