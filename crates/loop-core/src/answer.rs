//! What the driver answers.

use crate::claim::Claim;
use crate::outcome::{EnvironmentFault, Error, Interruption, Skip};
use crate::step::{Step, WorkTask};
use crate::time::Timestamp;
use crate::verdict::{Unreadable, Verdict};
use serde::{Deserialize, Serialize};

/// An answer with what every answer has.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// When the step ended.
    pub at: Timestamp,
    /// How long it took, from a clock that only goes forward.
    pub elapsed_ms: u64,
    /// What happened.
    pub answer: Answer,
}

/// What happened to the action that was asked for.
///
/// Answers are small: raw text stays in files, named by path, size and hash.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The work source has answered.
    Work(Work),
    /// The `opened` record is on disk.
    Opened {
        /// Its sequence number.
        seq: u64,
        /// Sixteen random hex digits.
        nonce: String,
    },
    /// A step of the tick has ended, and its `answer` record is written.
    Step(StepAnswer),
    /// The `closed` record is on disk.
    Closed,
}

/// A work source's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A task to work on.
    Found(WorkTask),
    /// There is nothing to do.
    Nothing(Skip),
    /// The source failed.
    Failed {
        /// What went wrong.
        what: String,
    },
}

/// How a step ended, as the `answer` record holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepAnswer {
    /// The workspace is ready.
    Worktree(Option<WorktreeRecord>),
    /// The tree's hash; `None` is unknown, which counts as changed.
    Tree(Option<String>),
    /// Implement has ended.
    Implement(Implemented),
    /// Verify has ended.
    Verify(Verified),
    /// The report is in the task's folder, or was there before.
    Report,
    /// Orchestrate has ended.
    Orchestrate(Called),
    /// The task is where it should be.
    Advance(Advanced),
    /// The step could not be begun, or could not be done.
    Failed(StepFault),
    /// The step was ended before its time.
    Interrupted(Interruption),
}

impl StepAnswer {
    /// Whether this can be the answer to `step`.
    #[must_use]
    pub fn fits(&self, step: Step) -> bool {
        match self {
            Self::Worktree(_) => step == Step::Worktree,
            Self::Tree(_) => step == Step::Tree,
            Self::Implement(_) => step == Step::Implement,
            Self::Verify(_) => step == Step::Verify,
            Self::Report => step == Step::Report,
            Self::Orchestrate(_) => step == Step::Orchestrate,
            Self::Advance(_) => step == Step::Advance,
            Self::Failed(_) => !matches!(step, Step::FindWork | Step::Open | Step::Close),
            // A move and a copy are over in no time, and are made again if need be.
            Self::Interrupted(_) => matches!(
                step,
                Step::Worktree | Step::Tree | Step::Implement | Step::Verify | Step::Orchestrate
            ),
        }
    }
}

/// Why a step could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepFault {
    /// Something around the loop is wrong.
    Environment {
        /// What kind of thing.
        reason: EnvironmentFault,
        /// What exactly, and the mend.
        what: String,
        /// When it is known to be over.
        until: Option<Timestamp>,
    },
    /// The worktree's administration was replaced.
    WorktreeReplaced {
        /// What differs.
        what: String,
    },
    /// The engine could not do its part.
    Error {
        /// What kind of thing.
        reason: Error,
        /// What exactly.
        what: String,
    },
}

/// A worktree, as it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRecord {
    /// Its path.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// The commit it started from.
    pub base: String,
    /// SHA-256 of what decision D-21 compares.
    pub admin: String,
}

/// A file that holds a role's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// Its absolute path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256 in hex.
    pub sha256: String,
}

/// How a call of a harness ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// How its process ended.
    pub end: CallEnd,
    /// The role's output.
    pub output: FileRef,
    /// Whether processes that it left behind had to be ended.
    #[serde(default)]
    pub leaked: bool,
}

/// How a harness's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    Signaled(i32),
    /// It took longer than this many seconds and was ended.
    TimedOut(u64),
    /// It was silent for this many seconds and was ended.
    IdleTimedOut(u64),
}

impl CallEnd {
    /// Returns how it went wrong, as a phrase that follows the role's name;
    /// `None` for an exit with 0.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Exited(0) => None,
            Self::Exited(137) => {
                Some("exited with 137 (killed from outside, often for lack of memory)".to_owned())
            }
            Self::Exited(code) => Some(format!("exited with {code}")),
            Self::Signaled(signal) => Some(format!("was killed by signal {signal}")),
            Self::TimedOut(seconds) => Some(format!("timed out after {seconds}s")),
            Self::IdleTimedOut(seconds) => Some(format!(
                "timed out: no output for {seconds}s; it may have waited for an answer"
            )),
        }
    }
}

/// How implement ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implemented {
    /// The call.
    pub called: Called,
    /// What the implementer said of its attempt.
    pub claim: Claim,
    /// Whether it said anything at all.
    pub silent: bool,
    /// The tree just before.
    pub tree_before: Option<String>,
    /// The tree just after.
    pub tree_after: Option<String>,
}

impl Implemented {
    /// Whether it changed anything; unknown counts as changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.tree_before.is_none() || self.tree_before != self.tree_after
    }
}

/// How verify ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The call.
    pub called: Called,
    /// What the reader made of its output.
    pub reading: Reading,
    /// The tree that was judged.
    pub tree: Option<String>,
    /// Files of that tree that are not as they were when the judge began, up to
    /// ten of them: such a judgement is void.
    #[serde(default)]
    pub changed: Vec<String>,
}

/// What the one reader of verdicts made of a judge's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// A verdict.
    Verdict(Verdict),
    /// None, for this reason.
    Unreadable(Unreadable),
}

impl Reading {
    /// Reads a judge's final text, given the prompt that it answers, and keeps
    /// what a record may hold.
    #[must_use]
    pub fn of(text: &str, prompt: &str) -> Self {
        match Verdict::read(text, prompt) {
            Ok(verdict) => Self::Verdict(verdict.bounded()),
            Err(unreadable) => Self::Unreadable(unreadable),
        }
    }
}

/// What became of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advanced {
    /// The task is in the phase it was to go to.
    Moved,
    /// It was elsewhere.
    Conflict {
        /// What was found.
        what: String,
    },
}
