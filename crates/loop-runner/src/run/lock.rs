//! One run of a project at a time.
//!
//! The loop's own lock is held for a tick; between two ticks of a run a second one
//! could start it over.

use crate::store::{LoopDir, open_to_write};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;

/// The name of the file, in the loop's folder.
const FILE: &str = ".run.lock";

/// The lock while it is held. The kernel frees it when its process ends.
#[derive(Debug)]
pub(super) struct RunLock {
    _file: File,
}

/// Why a run does not get it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunLockError {
    /// Another one has it.
    #[error("another run of this project is at work; wait for its end, or: loop stop run")]
    Held,
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl RunLock {
    pub(super) fn acquire(dir: &LoopDir) -> Result<Self, RunLockError> {
        let path = dir.root().join(FILE);
        let opened = fs::create_dir_all(dir.root())
            .and_then(|()| open_to_write(&path, OpenOptions::new().write(true)));
        match opened.map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => Ok(Self { _file: file }),
            Ok((Err(TryLockError::WouldBlock), _)) => Err(RunLockError::Held),
            Ok((Err(TryLockError::Error(source)), _)) | Err(source) => {
                Err(RunLockError::Io { path, source })
            }
        }
    }
}
