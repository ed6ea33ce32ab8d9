//! What can go wrong, one enum an operation.

use super::file::FileError;
use super::open::AttemptAlive;
use loop_core::Refused;
use loop_core::outcome::{Error, Outcome, Skip};
use loop_core::replay::ReplayError;
use std::path::PathBuf;

/// A log that cannot be trusted. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A line that is no record, where a crash cannot have left one.
    #[error("{}, line {line}: not a record: {why}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Records are missing.
    #[error("{}, line {line}: record {found} where {expected} has to be", path.display())]
    Gap {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The number that has to come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The log is gone although other files of the loop tell of one.
    #[error("{} is missing beside {}", path.display(), beside.display())]
    Missing {
        /// The log.
        path: PathBuf,
        /// What tells of it.
        beside: PathBuf,
    },
    /// The log ends before a record that was on disk.
    #[error("{} has been cut: it ends with record {last}, {} knows record {known}", path.display(), beside.display())]
    Cut {
        /// The log.
        path: PathBuf,
        /// What knows of a later record.
        beside: PathBuf,
        /// The log's last record; 0 for none.
        last: u64,
        /// The record that is known.
        known: u64,
    },
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A loop that could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process drives it.
    #[error("another process drives this loop{}", by.map_or_else(String::new, |pid| format!(", pid {pid}")))]
    Locked {
        /// That process, when the lock file names it.
        by: Option<u32>,
    },
    /// Its log cannot be trusted; nothing was changed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Its records do not follow from each other; nothing was changed.
    #[error("{} cannot be replayed{}", path.display(), opened_by(engine.as_deref()))]
    Replay {
        /// The log.
        path: PathBuf,
        /// The version of the engine that opened the tick, if one is open.
        engine: Option<String>,
        /// What is wrong.
        source: ReplayError,
    },
    /// A process of an earlier attempt cannot be ended.
    #[error(transparent)]
    AttemptAlive(#[from] AttemptAlive),
    /// A record could not be appended.
    #[error(transparent)]
    Append(#[from] HeldError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

fn opened_by(engine: Option<&str>) -> String {
    engine.map_or_else(String::new, |version| {
        format!("; engine {version} opened its tick")
    })
}

impl OpenError {
    /// Returns how a tick ends that meets this error.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Locked { .. } => Outcome::Skipped(Skip::Locked),
            Self::Log(LogError::File(_)) | Self::File(_) => Outcome::Error(Error::Disk),
            Self::Log(_) | Self::Replay { .. } => Outcome::Error(Error::State),
            Self::AttemptAlive(_) => Outcome::Error(Error::AttemptAlive),
            Self::Append(error) => error.outcome(),
        }
    }
}

/// An input that a held loop did not take. The machine and the log are as
/// they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeldError {
    /// The machine does not take it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The log or the lock vanished under the loop, or another stands there.
    #[error("{} was removed or replaced while the loop was driven", path.display())]
    StateRemoved {
        /// The log, or the lock.
        path: PathBuf,
    },
    /// An answer is larger than a record may be.
    #[error("an answer of {bytes} bytes; {max} are allowed")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        max: usize,
    },
    /// An earlier write failed in a way that leaves the log's end unknown.
    #[error("{} cannot be written any more after an earlier failure", path.display())]
    Broken {
        /// The log.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl HeldError {
    /// Returns how a tick ends that meets this error.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::Error(match self {
            Self::StateRemoved { .. } => Error::StateRemoved,
            Self::Broken { .. } | Self::File(_) => Error::Disk,
            Self::Refused(_) | Self::TooLarge { .. } => Error::State,
        })
    }
}

/// A loop that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Its log cannot be trusted.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Its records do not follow from each other.
    #[error("{} cannot be replayed", path.display())]
    Replay {
        /// The log.
        path: PathBuf,
        /// What is wrong.
        source: ReplayError,
    },
}

impl From<FileError> for ReadError {
    fn from(error: FileError) -> Self {
        Self::Log(LogError::File(error))
    }
}
