//! The rules of the audit (row U-29). Messages are the same words each time:
//! names of tasks are made from them.

use super::LoopFacts;
use crate::tasks::{Listed, ReadError, Tasks};
use loop_core::phase::{COMPLETE, HUMAN_INTERVENTION, Phases};
use loop_core::task::Task;
use loop_worksource::{Severity, Violation};

/// Audits one entry of the tasks folder.
pub(super) fn task(tasks: &Tasks, listed: &Listed) -> Result<Vec<Violation>, ReadError> {
    let name = listed.name.as_str();
    let record = match &listed.record {
        Ok(Some(record)) => record,
        Ok(None) => {
            let message = format!("task {name} has no task.json");
            return Ok(vec![about(name, Severity::Med, "untracked_task", message)]);
        }
        Err(error) => {
            let message = format!("task {name} has a record that cannot be used");
            let violation = about(name, Severity::High, "invalid_task", message);
            return Ok(vec![with_detail(violation, error.to_string())]);
        }
    };
    if !known(&record.phase, record) {
        let message = format!("task {name} is in a phase that it does not have");
        let detail = format!("{} is none of {}", record.phase, record.phases.join(", "));
        let violation = about(name, Severity::High, "invalid_task", message);
        return Ok(vec![with_detail(violation, detail)]);
    }
    let documents = tasks.documents(name)?;
    Ok(expected(record)
        .into_iter()
        .filter(|(_, file)| !documents.iter().any(|document| document == file))
        .map(|(phase, file)| {
            let message = format!("task {name} has no {file}, which phase {phase} leaves");
            about(name, Severity::High, "missing_artifact", message)
        })
        .collect())
}

/// Audits one loop.
pub(super) fn of_loop(facts: &LoopFacts) -> Vec<Violation> {
    let name = &facts.entry.name;
    let invalid = facts.invalid.iter().map(|what| {
        let message = format!("loop {name} has a loop.json that cannot be used");
        let violation = violation(None, Severity::High, "invalid_loop", message);
        with_detail(violation, what.clone())
    });
    let missing = facts.missing_prompts.iter().map(|(role, prompt)| {
        let message = format!("loop {name} has no prompt {prompt} for {role}");
        violation(None, Severity::Low, "prompt_missing", message)
    });
    invalid.chain(missing).collect()
}

fn known(phase: &str, task: &Task) -> bool {
    phase == COMPLETE || phase == HUMAN_INTERVENTION || task.phases().contains(phase)
}

/// Returns the phases that a task has behind it, each with the document that it
/// leaves; none for a task whose phases are not the seeds' five.
fn expected(task: &Task) -> Vec<(&str, &'static str)> {
    if task.phases != Phases::default().list {
        return Vec::new();
    }
    let at = match task.phase.as_str() {
        HUMAN_INTERVENTION => task.previous_phase.as_deref(),
        phase => Some(phase),
    };
    let Some(at) = at else {
        return Vec::new();
    };
    task.phases
        .iter()
        .take_while(|phase| *phase != at)
        .filter_map(|phase| Some((phase.as_str(), Phases::artifact(phase)?)))
        .collect()
}

fn about(task: &str, severity: Severity, code: &str, message: String) -> Violation {
    violation(Some(task), severity, code, message)
}

fn violation(task: Option<&str>, severity: Severity, code: &str, message: String) -> Violation {
    Violation {
        severity: Some(severity),
        code: code.to_owned(),
        message,
        task: task.map(str::to_owned),
        detail: None,
    }
}

fn with_detail(violation: Violation, detail: String) -> Violation {
    Violation {
        detail: Some(detail),
        ..violation
    }
}
