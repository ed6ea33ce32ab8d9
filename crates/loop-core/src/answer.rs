//! What the driver answers.

use crate::bill::Bill;
use crate::claim::Claim;
use crate::gate::GateReport;
use crate::outcome::{EnvironmentFault, Error, Halt, Interruption, Skip};
use crate::scope::Violation;
use crate::state::{Frozen, PlanRecord};
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
    /// What the call of a harness used; `None` for every other step.
    pub bill: Option<Bill>,
    /// What happened.
    pub answer: Answer,
}

/// What happened to the action that was asked for.
///
/// Answers are small: raw text stays in files, named by path, size and hash.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time is made and handed over; none are kept"
)]
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
    /// The planner has ended.
    Plan(Planned),
    /// Where the state of the tree is kept; `None` when it cannot be told.
    Baseline(Option<FileRef>),
    /// The acceptance gate is armed, or cannot be.
    Arm(Armed),
    /// The tree's hash; `None` is unknown, which counts as changed.
    Tree(Option<String>),
    /// Implement has ended.
    Implement(Implemented),
    /// What has changed is listed.
    Scope(Scoped),
    /// The acceptance gate has ended.
    Gate(Box<Gated>),
    /// Verify has ended.
    Verify(Verified),
    /// The receipt is written; `None` when it could not be.
    Receipt(Option<FileRef>),
    /// The report is in the task's folder, or was there before.
    Report,
    /// Orchestrate has ended.
    Orchestrate(Called),
    /// The task is where it should be.
    Advance(Advanced),
    /// The task's work is out of the shared worktree; the patch that holds it,
    /// `None` when there was none.
    SetAside(Option<FileRef>),
    /// The task's item is complete in its source.
    Finish(Finished),
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
            Self::Plan(_) => step == Step::Plan,
            Self::Baseline(_) => step == Step::Baseline,
            Self::Arm(_) => step == Step::Arm,
            Self::Tree(_) => step == Step::Tree,
            Self::Implement(_) => step == Step::Implement,
            Self::Scope(_) => step == Step::Scope,
            Self::Gate(_) => step == Step::Gate,
            Self::Verify(_) => step == Step::Verify,
            Self::Receipt(_) => step == Step::Receipt,
            Self::Report => step == Step::Report,
            Self::Orchestrate(_) => step == Step::Orchestrate,
            Self::Advance(_) => step == Step::Advance,
            Self::SetAside(_) => step == Step::SetAside,
            Self::Finish(_) => step == Step::Finish,
            Self::Failed(_) => !matches!(step, Step::FindWork | Step::Open | Step::Close),
            Self::Interrupted(_) => step.can_be_interrupted(),
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
    /// Something that is frozen was changed.
    Tampered {
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

impl StepFault {
    /// Whether somebody has changed what nobody may.
    #[must_use]
    pub fn is_tampering(&self) -> bool {
        matches!(self, Self::WorktreeReplaced { .. } | Self::Tampered { .. })
    }

    /// Returns the engine's error that it is, when nothing else can be made of it.
    #[must_use]
    pub fn error(&self) -> Error {
        match self {
            Self::Error { reason, .. } => *reason,
            _ => Error::Disk,
        }
    }

    /// Returns what happened, in one line.
    #[must_use]
    pub fn what(&self) -> &str {
        match self {
            Self::Environment { what, .. }
            | Self::WorktreeReplaced { what }
            | Self::Tampered { what }
            | Self::Error { what, .. } => what,
        }
    }
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
    /// What has changed outside the place of work meanwhile, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// What has changed of what the loop itself reads, one line each: its
    /// configuration, its prompts, the task's brief.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
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
    /// It reported this error, whatever its exit code was.
    Reported(String),
    /// What it used reached this cap, and it was ended.
    Capped(Cap),
}

/// A cap that a call can reach in its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// The cost cap.
    Cost,
    /// The token cap.
    Tokens,
}

impl Cap {
    /// Returns why the loop stops there.
    #[must_use]
    pub fn halt(self) -> Halt {
        match self {
            Self::Cost => Halt::MaxCost,
            Self::Tokens => Halt::MaxTokens,
        }
    }
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
            Self::Reported(error) => Some(format!("reported an error: {error}")),
            Self::Capped(Cap::Cost) => Some("was ended at the cost cap".to_owned()),
            Self::Capped(Cap::Tokens) => Some("was ended at the token cap".to_owned()),
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
    /// New files that the judge left, at most a hundred. They are not the attempt's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
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

/// How the planner ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The call.
    pub called: Called,
    /// What its answer comes to.
    pub answer: PlanAnswer,
}

/// What a planner's answer comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanAnswer {
    /// A plan.
    Plan(PlanRecord),
    /// The task does not belong in a loop.
    Refused {
        /// The code and how it could be made to, in one line.
        why: String,
    },
    /// It broke its contract.
    Broken {
        /// How.
        why: String,
    },
}

/// The acceptance gate before any work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Armed {
    /// What it is made of.
    pub frozen: Frozen,
    /// What it said, if it had to be red.
    pub first_run: Option<FirstRun>,
}

/// What a gate says before any work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstRun {
    /// It is red for the right reason.
    Red {
        /// Its exit code.
        exit: i32,
        /// How many tests it ran, if it says so.
        tests: Option<u64>,
    },
    /// It is green although nothing was done.
    Green,
    /// It cannot run.
    Broken {
        /// Why not.
        why: String,
    },
    /// It is the script that is shipped to be replaced.
    Unwritten,
    /// It said one thing and then another about the same tree.
    Flaky {
        /// What it said.
        why: String,
    },
}

/// A run of the acceptance gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gated {
    /// What it said.
    pub report: GateReport,
    /// The tree as it left it, which is the one that a verdict is bound to;
    /// `None` is unknown.
    pub tree: Option<String>,
    /// What has changed outside the place of work meanwhile: the gate runs an
    /// agent's code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// What has changed of what the loop itself reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Changes that are not allowed and were made while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// What an attempt has changed, and what of it was not allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scoped {
    /// How many files differ from how they were.
    pub files: u64,
    /// The ones that had to stay as they were, up to a hundred.
    pub violations: Vec<Violation>,
    /// The patch, where one could be written.
    pub patch: Option<FileRef>,
}

/// What came of finishing an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finished {
    /// Its source knows, by now or before.
    Done,
    /// It is no longer the item that was worked on; nothing was changed.
    Conflict {
        /// What was found.
        what: String,
    },
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
