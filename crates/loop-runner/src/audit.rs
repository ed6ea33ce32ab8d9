//! The audit of a project: what is out of order with its tasks, and with the
//! parts that its loops need.
//!
//! It reads and never writes, and the same project gives the same report to the
//! byte. How a loop is doing is no violation, so that a loop whose work is the
//! audit does not feed on itself.

mod rules;

use crate::tasks::{FileError, ReadError, Tasks};
use loop_core::Score;
use loop_core::outcome::Halt;
use loop_core::state::{LastVerdict, State, Status};
use loop_worksource::Violation;
use serde::Serialize;
use std::cmp::Reverse;

/// What an audit found; `loop audit --json` prints it in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditReport {
    /// What is out of order: the worst first, then by task.
    pub violations: Vec<Violation>,
    /// The project's loops by name.
    pub loops: Vec<LoopEntry>,
    /// How many task folders there are.
    pub total_tasks: usize,
    /// How many of those have no record.
    pub untracked_tasks: usize,
}

/// How a loop is doing, in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopEntry {
    /// Its name.
    pub name: String,
    /// Whether it goes on.
    pub status: Status,
    /// Whether a person paused it.
    pub paused: bool,
    /// The task that it works on.
    pub current_task: Option<String>,
    /// Where that task stands.
    pub current_phase: Option<String>,
    /// Attempts spent on it.
    pub iteration: u32,
    /// The latest score.
    pub last_score: Option<Score>,
    /// Why it waits for a person.
    pub reason: Option<Halt>,
}

impl LoopEntry {
    /// Takes what matters from a loop's state.
    #[must_use]
    pub fn of(name: &str, state: &State) -> Self {
        let task = state.current_task.as_deref();
        Self {
            name: name.to_owned(),
            status: state.status,
            paused: state.paused,
            current_task: state.current_task.clone(),
            current_phase: state.current_phase.clone(),
            iteration: task.map_or(0, |task| state.progress_of(task).iteration),
            last_score: state.last_verdict.as_ref().and_then(LastVerdict::score),
            reason: state.reason,
        }
    }
}

/// A loop as the audit takes it; whoever keeps loops has read it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopFacts {
    /// How it is doing.
    pub entry: LoopEntry,
    /// What is wrong with its configuration, if anything is.
    pub invalid: Option<String>,
    /// Its prompts that are in no folder: the role's word and the prompt's name.
    pub missing_prompts: Vec<(String, String)>,
}

/// An audit that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The tasks cannot be listed.
    #[error(transparent)]
    Tasks(#[from] FileError),
    /// A task's folder cannot be looked into.
    #[error(transparent)]
    Task(#[from] ReadError),
}

/// Audits a project's tasks and loops (row U-29).
///
/// # Errors
///
/// [`AuditError`] when something cannot be looked at: what was not seen is not
/// in order.
pub fn audit(tasks: &Tasks, loops: &[LoopFacts]) -> Result<AuditReport, AuditError> {
    let listed = tasks.list()?;
    let mut violations = Vec::new();
    for task in &listed {
        violations.extend(rules::task(tasks, task)?);
    }
    violations.extend(loops.iter().flat_map(rules::of_loop));
    violations.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut loops: Vec<_> = loops.iter().map(|facts| facts.entry.clone()).collect();
    loops.sort_by(|a, b| a.name.cmp(&b.name));
    let untracked = |task: &&crate::tasks::Listed| matches!(task.record, Ok(None));
    Ok(AuditReport {
        violations,
        loops,
        total_tasks: listed.len(),
        untracked_tasks: listed.iter().filter(untracked).count(),
    })
}

/// The order of violations (row AU-13).
fn key(violation: &Violation) -> impl Ord + '_ {
    (
        Reverse(violation.severity),
        violation.task.as_deref(),
        violation.message.as_str(),
    )
}
