//! What a loop remembers between ticks.

use crate::Score;
use crate::Usd;
use crate::answer::{FileRef, WorktreeRecord};
use crate::bill::Usage;
use crate::outcome::{EnvironmentFault, Halt, Outcome};
use crate::profile::Tokens;
use crate::step::{Advance, Finishing, Role, Step};
use crate::time::Timestamp;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Scores and attempts that are kept of a task.
pub(crate) const KEPT: usize = 32;
/// Requests whose ids are remembered, so that a repeat is known.
const KEPT_CONTROLS: usize = 64;

/// The whole bounded state of a loop. It stands in every `closed` record, and
/// with two more keys in `.state.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Version of the shape: 1.
    pub version: u32,
    /// Whether the loop runs, waits for a person, or has finished its task.
    pub status: Status,
    /// Set by a person; independent of `status`.
    pub paused: bool,
    /// Whether the latest tick's loop works on one task that a person gives it.
    pub single: bool,
    /// Why it waits for a person.
    pub reason: Option<Halt>,
    /// The same in one sentence.
    pub why: Option<String>,
    /// The task that it waits about.
    pub halted_task: Option<String>,
    /// The move that a person has to approve.
    pub awaiting: Option<Awaited>,
    /// The task of a single loop, and the latest task of any other.
    pub current_task: Option<String>,
    /// Where that task stands.
    pub current_phase: Option<String>,
    /// The number of the latest tick; one that only says that a cap is reached has
    /// a number too.
    pub tick: u64,
    /// The same while it runs.
    pub in_progress: Option<u64>,
    /// The worktree that all tasks share, where they share one.
    pub worktree: Option<WorktreeRecord>,
    /// The record of each unfinished task.
    pub progress: BTreeMap<String, Progress>,
    /// The tasks that were put aside, and why.
    pub parked: BTreeMap<String, Halt>,
    /// A move that was decided or approved and is not made yet.
    pub owed: Option<OwedMove>,
    /// Items of complete tasks that their source has yet to be told of.
    pub to_finish: Vec<Finishing>,
    /// The latest tasks that were finished, and where their work is.
    pub finished: Vec<Finished>,
    /// The receipts of the latest verified results.
    pub receipts: Vec<FileRef>,
    /// The latest judgement.
    pub last_verdict: Option<LastVerdict>,
    /// How the latest tick ended.
    pub last_outcome: Option<Outcome>,
    /// No tick before this time.
    pub not_before: Option<Timestamp>,
    /// Environment faults in a row.
    pub environment: Option<EnvironmentStreak>,
    /// Harnesses that are out of service, by name.
    pub cooling: BTreeMap<String, Cooling>,
    /// A call under a cap that did not tell what it used; no other is made before
    /// a person has seen that.
    pub unknown_bill: Option<UnknownBill>,
    /// What harnesses that count up a session have reported of it, the latest
    /// session last.
    pub sessions: Vec<Session>,
    /// What the loop has used.
    pub spent: Spent,
    /// The ticks of one UTC day.
    pub today: Today,
    /// The step that is running.
    pub running: Option<Running>,
    /// Ids of the latest requests.
    pub recent_controls: Vec<String>,
    /// When the state last changed.
    pub updated_at: Option<Timestamp>,
}

/// Whether a loop goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A tick would work.
    #[default]
    Active,
    /// No tick works until a person approves.
    HumanIntervention,
    /// The task of a single loop is finished.
    Complete,
}

/// A move of a task that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// The task.
    pub task: String,
    /// The phase it is in.
    pub from: String,
    /// The phase it goes to.
    pub to: String,
    /// The task's item, if completing it means to do something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<FileRef>,
}

/// A move that is owed outside a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwedMove {
    /// Sequence number of the record that made it owed.
    pub owed_by: u64,
    /// The move.
    pub advance: Advance,
    /// The task's item, for when the move completes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<FileRef>,
}

/// How one task has gone so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Attempts spent since the latest pass or approval.
    pub iteration: u32,
    /// Scores of the failed ones, oldest first.
    pub scores: Vec<Score>,
    /// What the next attempt is told.
    pub hint: String,
    /// Failures of implement in a row.
    pub harness_failures: u32,
    /// Calls of verify without a judgement in a row.
    pub verify_failures: u32,
    /// `blocked` answers in a row.
    pub blocked: u32,
    /// The spent attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// Milliseconds that the task's ticks have run.
    pub wall_ms: u64,
    /// What its calls have used.
    pub used: Usage,
    /// Work that no judge has seen; its iteration is held, not spent.
    pub unjudged: Option<Unjudged>,
    /// The worktree of this task alone.
    pub worktree: Option<WorktreeRecord>,
    /// The plan, once a planner has made one.
    pub plan: Option<PlanRecord>,
    /// The state of the tree as the task started, which its changes are measured
    /// from.
    pub baseline: Option<FileRef>,
    /// The acceptance gate, once it is armed.
    pub gate: Option<GateArmed>,
    /// New files that judges have left, at most a hundred.
    pub judges_own: Vec<String>,
    /// Why the task was put aside, in one sentence.
    pub parked_why: Option<String>,
    /// The move that a person has to approve while the task is put aside.
    pub awaiting: Option<Awaited>,
}

/// A plan, and what of it later steps need to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The file that holds it.
    pub file: FileRef,
    /// How many items it has.
    pub items: usize,
    /// Paths that are to be frozen with the gate, at most a hundred.
    pub frozen: Vec<String>,
    /// Lines of the task's "done when" that no check covers, at most twenty.
    pub uncovered: Vec<String>,
}

/// What the acceptance gate is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frozen {
    /// One SHA-256 in hex over everything.
    pub fingerprint: String,
    /// The file that holds the same part by part.
    pub parts: FileRef,
}

/// An acceptance gate that is armed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateArmed {
    /// What it is made of.
    pub frozen: Frozen,
    /// Whether it was seen to be red before any work.
    pub red_seen: bool,
    /// How many tests it ran then, if it said so.
    pub tests: Option<u64>,
    /// The person who froze it again, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_by: Option<String>,
}

/// What is kept of one spent attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Whether implement changed anything; unknown counts as changed.
    pub changed: bool,
    /// What a red gate said, in a loop whose gate is the only judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<RedGate>,
}

/// What a red gate said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedGate {
    /// Its exit code.
    pub exit: i32,
    /// SHA-256 of its output without durations and temporary paths.
    pub output: String,
}

/// Work that was done and not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unjudged {
    /// The tick that did it.
    pub tick: u64,
    /// The tree that it left; `None` when unknown, which never matches.
    pub tree: Option<String>,
    /// The phase that the task was in.
    pub phase: Option<String>,
    /// The path of implement's output.
    pub output: String,
    /// The harness that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
}

/// A finished task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// The task.
    pub task: String,
    /// The tick that finished it; `None` when a person's approval did.
    pub tick: Option<u64>,
    /// Where its work is.
    pub worktree: Option<WorktreeRecord>,
    /// The state of the tree as it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<FileRef>,
    /// What the gate was made of that it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Frozen>,
}

/// A judgement and what it was about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastVerdict {
    /// The task that was judged.
    pub task: String,
    /// The tick that asked.
    pub tick: u64,
    /// The tree that was judged.
    pub tree: Option<String>,
    /// Who judged.
    #[serde(default)]
    pub by: By,
    /// What the judge said; `None` when the gate was red and no judge was asked.
    pub verdict: Option<Verdict>,
}

impl LastVerdict {
    /// Returns the score that the judge gave, if one was asked.
    #[must_use]
    pub fn score(&self) -> Option<Score> {
        self.verdict.as_ref().map(|verdict| verdict.score)
    }
}

/// Who judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The judge, with a verdict.
    #[default]
    Judge,
    /// The acceptance gate, with an exit code.
    Gate,
}

/// Environment faults of one kind in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentStreak {
    /// The fault.
    pub reason: EnvironmentFault,
    /// How many in a row.
    pub count: u32,
}

/// A harness that is out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooling {
    /// Why.
    pub reason: EnvironmentFault,
    /// It is not called before this time while there is another.
    pub until: Timestamp,
    /// Whether its service said so.
    pub known: bool,
    /// How often it has failed so in a row.
    pub count: u32,
}

/// A call that did not tell what a cap has to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownBill {
    /// What stops the loop.
    pub halt: Halt,
    /// Why, in one sentence.
    pub why: String,
}

/// A harness's session, and what of it is charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// The tokens of all its calls so far.
    pub tokens: Tokens,
}

/// What a loop has used in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// What calls have used.
    #[serde(flatten)]
    pub used: Usage,
    /// The same by role.
    pub by_role: BTreeMap<Role, Usage>,
    /// Milliseconds that ticks ran.
    pub wall_ms: u64,
    /// Ticks that found work.
    pub ticks: u64,
}

/// The ticks of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Today {
    /// The UTC day.
    pub day: String,
    /// Its ticks that found work.
    pub ticks: u32,
}

/// A step that is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// The step.
    pub step: Step,
    /// Since when.
    pub since: Timestamp,
    /// The process that drives it.
    pub pid: u32,
}

impl State {
    /// Returns the state of a new loop.
    #[must_use]
    pub fn new() -> Self {
        Self {
            version: 1,
            ..Self::default()
        }
    }

    /// Returns how `task` has gone; a task never worked on has the default.
    #[must_use]
    pub fn progress_of(&self, task: &str) -> Progress {
        self.progress.get(task).cloned().unwrap_or_default()
    }

    /// Returns what the loop has cost; `None` as soon as one call's cost is
    /// unknown, for unknown is not zero.
    #[must_use]
    pub fn known_cost(&self) -> Option<Usd> {
        self.spent.used.known_cost()
    }

    /// Returns the state of the tree as a finished task started.
    #[must_use]
    pub fn baseline_of_finished(&self, task: &str) -> Option<FileRef> {
        let done = self.finished.iter().rev().find(|done| done.task == task)?;
        done.baseline.clone()
    }

    /// Returns what of a session's tokens is not charged yet, and takes note that
    /// it will be.
    pub(crate) fn since_reported(&mut self, id: &str, tokens: Tokens) -> Tokens {
        let at = self.sessions.iter().position(|session| session.id == id);
        let before = at.map(|at| self.sessions.remove(at).tokens);
        self.sessions.push(Session {
            id: id.to_owned(),
            tokens,
        });
        keep_last(&mut self.sessions, KEPT);
        match before {
            // A count that is lower than before is no continuation.
            Some(before) if before.total() <= tokens.total() => tokens.saturating_sub(before),
            _ => tokens,
        }
    }

    pub(crate) fn remember_control(&mut self, id: &str) {
        self.recent_controls.push(id.to_owned());
        keep_last(&mut self.recent_controls, KEPT_CONTROLS);
    }

    pub(crate) fn remember_receipt(&mut self, receipt: FileRef) {
        self.receipts.push(receipt);
        keep_last(&mut self.receipts, KEPT);
    }

    pub(crate) fn remember_finished(&mut self, finished: Finished) {
        self.finished.retain(|other| other.task != finished.task);
        self.finished.push(finished);
        keep_last(&mut self.finished, KEPT);
    }
}

impl Progress {
    pub(crate) fn push_score(&mut self, score: Score) {
        self.scores.push(score);
        keep_last(&mut self.scores, KEPT);
    }

    pub(crate) fn push_attempt(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
        keep_last(&mut self.attempts, KEPT);
    }

    /// Forgets counts, scores and failures, as a pass and an approval do. The
    /// running time and the place of work stay.
    pub(crate) fn start_over(&mut self) {
        *self = Self {
            hint: std::mem::take(&mut self.hint),
            wall_ms: self.wall_ms,
            used: self.used,
            worktree: self.worktree.take(),
            unjudged: self.unjudged.take(),
            plan: self.plan.take(),
            baseline: self.baseline.take(),
            gate: self.gate.take(),
            judges_own: std::mem::take(&mut self.judges_own),
            ..Self::default()
        };
    }
}

fn keep_last<T>(items: &mut Vec<T>, keep: usize) {
    items.drain(..items.len().saturating_sub(keep));
}
