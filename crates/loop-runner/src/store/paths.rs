//! The names of a loop's files.

use std::path::{Path, PathBuf};

/// The folder of one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDir {
    root: PathBuf,
}

impl LoopDir {
    /// Names the files of the loop in the folder `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the lock of whoever drives a tick.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join(".lock")
    }

    /// Returns the lock of the running step's holder process.
    #[must_use]
    pub fn step_lock(&self) -> PathBuf {
        self.root.join("step.lock")
    }

    /// Returns the log, the truth about the loop.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// Returns the log that is about to take the place of a grown one.
    pub(super) fn next_events(&self) -> PathBuf {
        self.root.join("events.jsonl.new")
    }

    /// Returns where the records `first` to `last` of a grown log are kept.
    pub(super) fn segment(&self, first: u64, last: u64) -> PathBuf {
        self.root.join(format!("events-{first}-{last}.jsonl"))
    }

    /// Returns where the torn end of the log is kept that record `seq` healed.
    pub(super) fn torn(&self, seq: u64) -> PathBuf {
        self.root.join(format!("events.torn-{seq}"))
    }

    /// Returns the cache of the state; it may be deleted at any time.
    #[must_use]
    pub fn cache(&self) -> PathBuf {
        self.root.join(".state.json")
    }

    /// Returns the readable rendering of the log.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.root.join(".state.log")
    }

    /// Returns the inbox of requests.
    #[must_use]
    pub fn control(&self) -> PathBuf {
        self.root.join("control")
    }

    /// Returns the folder of the roles' prompts and outputs.
    #[must_use]
    pub fn outputs(&self) -> PathBuf {
        self.root.join("outputs")
    }

    /// Returns where requests are put that cannot be read.
    #[must_use]
    pub fn control_bad(&self) -> PathBuf {
        self.outputs().join("control-bad")
    }
}
