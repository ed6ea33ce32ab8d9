//! What the machine asks the driver to do.

use crate::Usd;
use crate::answer::{FileRef, WorktreeRecord};
use crate::bill::Usage;
use crate::config::WorktreeFor;
use crate::gate::GateReport;
use crate::outcome::Outcome;
use crate::phase::Phases;
use crate::scope::Violation;
use crate::state::{Frozen, State, Unjudged};
use crate::verdict::{Unreadable, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The steps of a tick, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Ask the work source. Before the tick has a number.
    FindWork,
    /// Give the tick its number.
    Open,
    /// Make the place to work in ready.
    Worktree,
    /// Let the planner turn the task into a plan and a gate.
    Plan,
    /// Take the acceptance gate's fingerprint, and see that it is red.
    Arm,
    /// Keep the state of the tree as the task starts.
    Baseline,
    /// Take the hash of the tree.
    Tree,
    /// Let the implementer work.
    Implement,
    /// Look at what has changed, and whether it may.
    Scope,
    /// Run the acceptance gate.
    Gate,
    /// Ask the judge.
    Verify,
    /// Write down what was verified.
    Receipt,
    /// Keep the implementer's report in the task's folder.
    Report,
    /// Let the orchestrator carry the decision out.
    Orchestrate,
    /// Move the task.
    Advance,
    /// Take the work of a task that is put aside out of a shared worktree.
    SetAside,
    /// Do what completing the task's item means.
    Finish,
    /// Write the state.
    Close,
}

impl Step {
    /// Every step, in the order of a tick.
    pub const ALL: [Self; 18] = [
        Self::FindWork,
        Self::Open,
        Self::Worktree,
        Self::Plan,
        Self::Arm,
        Self::Baseline,
        Self::Tree,
        Self::Implement,
        Self::Scope,
        Self::Gate,
        Self::Verify,
        Self::Receipt,
        Self::Report,
        Self::Orchestrate,
        Self::Advance,
        Self::SetAside,
        Self::Finish,
        Self::Close,
    ];

    /// Returns the step's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FindWork => "find_work",
            Self::Open => "open",
            Self::Worktree => "worktree",
            Self::Plan => "plan",
            Self::Baseline => "baseline",
            Self::Arm => "arm",
            Self::Tree => "tree",
            Self::Implement => "implement",
            Self::Scope => "scope",
            Self::Gate => "gate",
            Self::Verify => "verify",
            Self::Receipt => "receipt",
            Self::Report => "report",
            Self::Orchestrate => "orchestrate",
            Self::Advance => "advance",
            Self::SetAside => "set_aside",
            Self::Finish => "finish",
            Self::Close => "close",
        }
    }

    /// Whether the step has an effect outside the loop's own files, so that a
    /// `began` record has to be on disk before it starts.
    #[must_use]
    pub fn acts_outside(self) -> bool {
        matches!(
            self,
            Self::Worktree
                | Self::Plan
                | Self::Arm
                | Self::Implement
                | Self::Gate
                | Self::Verify
                | Self::Orchestrate
                | Self::Advance
                | Self::SetAside
                | Self::Finish
        )
    }

    /// Whether the step can be ended before its time. The others are over in no
    /// time, or have to be done to their end.
    #[must_use]
    pub fn can_be_interrupted(self) -> bool {
        matches!(
            self,
            Self::Worktree
                | Self::Plan
                | Self::Baseline
                | Self::Arm
                | Self::Tree
                | Self::Implement
                | Self::Scope
                | Self::Gate
                | Self::Verify
                | Self::Orchestrate
        )
    }

    /// Returns the role whose harness the step calls.
    #[must_use]
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Plan => Some(Role::Plan),
            Self::Implement => Some(Role::Implement),
            Self::Verify => Some(Role::Verify),
            Self::Orchestrate => Some(Role::Orchestrate),
            _ => None,
        }
    }

    /// Whether the step is asked for again when an earlier process died in it:
    /// done twice, it changes nothing more.
    #[must_use]
    pub fn is_asked_again(self) -> bool {
        matches!(self, Self::Advance | Self::SetAside | Self::Finish)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who is asked; each role has its own prompt and may have its own harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Turns the task into a plan and a gate.
    Plan,
    /// Changes the project.
    Implement,
    /// Judges the change.
    Verify,
    /// Carries the decision out.
    Orchestrate,
}

impl Role {
    /// Every role, in the order of a tick.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Implement, Self::Verify, Self::Orchestrate];

    /// Returns the role's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Verify => "verify",
            Self::Orchestrate => "orchestrate",
        }
    }
}

/// What an answer has to carry to be taken: a stale or repeated one is refused
/// and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// Sequence number of the record that made the step owed: the tick's
    /// `opened`, or outside a tick the `control`; 0 before a tick is opened.
    pub opened: u64,
    /// The step.
    pub step: Step,
    /// Which attempt at it, from 1.
    pub attempt: u32,
}

/// What the driver has to do next.
///
/// Exhaustive on purpose: a driver that does not know an action cannot go on,
/// so a new one has to be a compile error.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Ask the work source; answer [`Answer::Work`](crate::Answer::Work).
    FindWork,
    /// Append the `opened` record; answer [`Answer::Opened`](crate::Answer::Opened).
    Open(Open),
    /// Make the workspace of the task ready; answer
    /// [`StepAnswer::Worktree`](crate::StepAnswer::Worktree).
    Worktree(Workplace),
    /// Call the planner; answer [`StepAnswer::Plan`](crate::StepAnswer::Plan).
    Plan(Call),
    /// Keep the state of the tree as the task starts; answer
    /// [`StepAnswer::Baseline`](crate::StepAnswer::Baseline).
    Baseline(Workplace),
    /// Take the acceptance gate's fingerprint, and run it before any work if it
    /// has to be red; answer [`StepAnswer::Arm`](crate::StepAnswer::Arm).
    Arm(Check),
    /// Take the workspace's tree hash; answer [`StepAnswer::Tree`](crate::StepAnswer::Tree).
    Tree(Workplace),
    /// Call the implementer; answer [`StepAnswer::Implement`](crate::StepAnswer::Implement).
    Implement(Call),
    /// List what has changed, and what of it was not allowed; answer
    /// [`StepAnswer::Scope`](crate::StepAnswer::Scope).
    Scope(Check),
    /// Run the acceptance gate; answer [`StepAnswer::Gate`](crate::StepAnswer::Gate).
    Gate(Check),
    /// Call the judge; answer [`StepAnswer::Verify`](crate::StepAnswer::Verify).
    Verify(Call),
    /// Write the receipt of a verified result; answer
    /// [`StepAnswer::Receipt`](crate::StepAnswer::Receipt).
    Receipt(Box<Verified>),
    /// Copy the implementer's report to the task's folder if there is none;
    /// answer [`StepAnswer::Report`](crate::StepAnswer::Report).
    Report(Report),
    /// Call the orchestrator; answer
    /// [`StepAnswer::Orchestrate`](crate::StepAnswer::Orchestrate).
    Orchestrate(Call),
    /// Move the task, compare and set; answer
    /// [`StepAnswer::Advance`](crate::StepAnswer::Advance).
    Advance(Advance),
    /// Save what the task has changed in the shared worktree as a patch, and take
    /// it out; answer [`StepAnswer::SetAside`](crate::StepAnswer::SetAside).
    SetAside(Check),
    /// Do what completing the task's item means; answer
    /// [`StepAnswer::Finish`](crate::StepAnswer::Finish).
    Finish(Finishing),
    /// Append the `closed` record; answer [`Answer::Closed`](crate::Answer::Closed).
    Close(Box<Closing>),
}

impl Action {
    /// Returns the step that the action belongs to.
    #[must_use]
    pub fn step(&self) -> Step {
        match self {
            Self::FindWork => Step::FindWork,
            Self::Open(_) => Step::Open,
            Self::Worktree(_) => Step::Worktree,
            Self::Plan(_) => Step::Plan,
            Self::Baseline(_) => Step::Baseline,
            Self::Arm(_) => Step::Arm,
            Self::Tree(_) => Step::Tree,
            Self::Implement(_) => Step::Implement,
            Self::Scope(_) => Step::Scope,
            Self::Gate(_) => Step::Gate,
            Self::Verify(_) => Step::Verify,
            Self::Receipt(_) => Step::Receipt,
            Self::Report(_) => Step::Report,
            Self::Orchestrate(_) => Step::Orchestrate,
            Self::Advance(_) => Step::Advance,
            Self::SetAside(_) => Step::SetAside,
            Self::Finish(_) => Step::Finish,
            Self::Close(_) => Step::Close,
        }
    }
}

/// What the `opened` record holds beside the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The number that the tick takes.
    pub tick: u64,
    /// The task; `None` when a cap of the loop ends the tick before any work is
    /// looked for.
    pub task: Option<WorkTask>,
}

/// A task as a tick sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTask {
    /// The task's name.
    pub name: String,
    /// Where it stands; `None` for a task without a record.
    pub phase: Option<String>,
    /// The task's own copy of its phases.
    pub phases: Phases,
    /// The source's item behind the task, if completing it means to do something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<FileRef>,
}

/// A complete task's item that its source has not been told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finishing {
    /// The task.
    pub task: String,
    /// The item, as it was when the task was taken.
    pub item: FileRef,
    /// Sequence number of the record that made it owed.
    pub owed_by: u64,
}

/// Where a task is worked on.
#[derive(Clone, Debug, PartialEq)]
pub struct Workplace {
    /// The task.
    pub task: String,
    /// The tick.
    pub tick: u64,
    /// What a worktree is for; `None` is the project itself.
    pub worktree: Option<WorktreeFor>,
    /// The worktree of an earlier tick.
    pub recorded: Option<WorktreeRecord>,
}

/// A look at a task's work, or a run of its gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The task.
    pub task: String,
    /// The tick.
    pub tick: u64,
    /// The worktree, when the task has one.
    pub worktree: Option<WorktreeRecord>,
    /// The state of the tree as the task started, where it was kept.
    pub baseline: Option<FileRef>,
    /// New files that a judge of an earlier attempt left.
    pub judges_own: Vec<String>,
    /// What the gate is made of, once it is armed.
    pub frozen: Option<Frozen>,
    /// Paths that the plan freezes beside those of the configuration.
    pub planned: Vec<String>,
    /// Whether the gate has to be red now, before any work.
    pub must_be_red: bool,
}

/// A role to call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The role.
    pub role: Role,
    /// The tick.
    pub tick: u64,
    /// Which call of this role in this tick, from 1.
    pub attempt: u32,
    /// Random hex digits of this tick, for `{fence}`.
    pub nonce: String,
    /// The task.
    pub task: String,
    /// Where the task stands; `None` for a task without a record.
    pub phase: Option<String>,
    /// For `{next_hint}`.
    pub hint: String,
    /// For `{verdict}`; only orchestrate has one.
    pub verdict: Option<Verdict>,
    /// Work of an earlier tick that this call judges; its output is the artifact.
    pub unjudged: Option<Unjudged>,
    /// What was wrong with the judge's first answer, when it is asked again.
    pub fault: Option<Unreadable>,
    /// Which of the role's harnesses is called, from 0.
    pub harness: usize,
    /// Path of implement's output, once there is one.
    pub artifact: Option<String>,
    /// The longest that the call may take, in milliseconds.
    pub timeout_ms: u64,
    /// What it may use before it is ended.
    pub budget: Budget,
    /// The worktree, when the task has one.
    pub worktree: Option<WorktreeRecord>,
    /// What the gate is made of, which implement must leave as it is.
    pub frozen: Option<Frozen>,
    /// The path of the patch with what the task has changed, once it is known.
    pub diff: Option<String>,
}

/// What a call may use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Dollars.
    pub usd: Option<Usd>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
}

/// A result that was verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The task.
    pub task: String,
    /// The tick.
    pub tick: u64,
    /// The worktree, when the task has one.
    pub worktree: Option<WorktreeRecord>,
    /// The tree before the attempt; `None` when only its judgement was asked for.
    pub tree_before: Option<String>,
    /// The tree that was verified.
    pub tree: Option<String>,
    /// What the gate is made of, and what it said.
    pub gate: Option<(Frozen, GateReport)>,
    /// What the judge said.
    pub verdict: Option<Verdict>,
}

/// A report to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The task.
    pub task: String,
    /// The name of the document in the task's folder.
    pub file: &'static str,
    /// Path of implement's output.
    pub output: String,
}

/// A move of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advance {
    /// The task.
    pub task: String,
    /// The phase it has to be in.
    pub from: String,
    /// The phase it goes to.
    pub to: String,
    /// The tick, when one decided it.
    pub tick: Option<u64>,
    /// The person, when one did.
    pub by: Option<String>,
}

/// How a tick, or a look for work, ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The outcome.
    pub outcome: Outcome,
    /// Why, in one sentence without a period at its end.
    pub why: String,
    /// The tick's number; `None` when it took none.
    pub tick: Option<u64>,
    /// The task, if one was found.
    pub task: Option<String>,
    /// The phase that the task is in now.
    pub phase: Option<String>,
    /// Attempts spent on the task, this one included.
    pub iteration: u32,
    /// The judgement of this tick.
    pub verdict: Option<Verdict>,
    /// What the acceptance gate said in this tick.
    #[serde(default)]
    pub gate: Option<GateReport>,
    /// Changes that were not allowed.
    #[serde(default)]
    pub violations: Vec<Violation>,
    /// Whether the task is complete now.
    pub complete: bool,
    /// Where the work is.
    pub worktree: Option<WorktreeRecord>,
    /// What the tick's calls used.
    #[serde(default)]
    pub used: Usage,
}

/// The end of a tick, to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Closing {
    /// How it ended.
    pub ended: Ended,
    /// The state that the loop is in from here on.
    pub state: State,
}
