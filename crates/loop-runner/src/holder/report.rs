//! How a command ended.

use super::{Captured, prepared};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What became of a command that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ended {
    /// What ended it.
    pub how: How,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// Whether descendants outlived the child and were ended, or still had its
    /// output open.
    pub leaked: bool,
    /// Descendants that even SIGKILL did not end in time, such as those of
    /// another user; as a rule there are none.
    pub survivors: Vec<u32>,
    /// From the child's start until everything of it was gone.
    pub elapsed: Duration,
    /// What "everything of it" means.
    pub containment: Containment,
}

/// What ended a command: the first cause, whatever the child made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The child exited with this code.
    Exited(i32),
    /// A signal that was not ours ended the child.
    Signaled(i32),
    /// The time was up.
    TimedOut,
    /// The child was silent for too long.
    IdleTimedOut,
    /// The engine, or a signal to the holder, wished it.
    Ended,
}

/// What is ended together with a command's child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// All its descendants, whatever they do to get away, and also when the
    /// engine is killed.
    Holder,
    /// Its process group, and only while the engine lives.
    ProcessGroup,
}

impl Containment {
    /// Returns what commands that are started from now on get.
    pub fn available() -> Self {
        if prepared() {
            Self::Holder
        } else {
            Self::ProcessGroup
        }
    }
}
