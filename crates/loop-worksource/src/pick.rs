//! From an item to a task that is the loop's.

use crate::item::Item;
use crate::project::{NewTask, Project, TaskFacts};
use crate::source::{Found, LoopView, SourceError, Standing};
use loop_core::phase::{COMPLETE, HUMAN_INTERVENTION};
use loop_core::step::WorkTask;
use loop_core::task::Task;

/// Takes an item for the loop under a task's name; makes the task if need be.
/// `None` when the task is not to be worked on, or is another loop's.
///
/// A folder without a record gets one: another loop may be making it just now.
pub(crate) fn take(
    name: &str,
    item: &Item,
    view: &LoopView,
    project: &mut dyn Project,
) -> Result<Option<Found>, SourceError> {
    let facts = project.task(name)?;
    if standing(name, facts.as_ref(), view) != Standing::Open {
        return Ok(None);
    }
    let has_record = facts.is_some_and(|facts| facts.record.is_some());
    enter(name, item, has_record, view, project)
}

/// The same for a task that exists under its name whatever its item says: without
/// a record it stays so.
pub(crate) fn take_as_it_is(
    name: &str,
    item: &Item,
    view: &LoopView,
    project: &mut dyn Project,
) -> Result<Option<Found>, SourceError> {
    match project.task(name)? {
        Some(facts) if standing(name, Some(&facts), view) == Standing::Open => {
            enter(name, item, true, view, project)
        }
        Some(_) => Ok(None),
        None => take(name, item, view, project),
    }
}

/// Takes an item whose task is known to be open.
pub(crate) fn enter(
    name: &str,
    item: &Item,
    is_made: bool,
    view: &LoopView,
    project: &mut dyn Project,
) -> Result<Option<Found>, SourceError> {
    if !is_made {
        let task = NewTask {
            name: name.to_owned(),
            title: item.title.clone(),
            brief: item.brief(),
            origin: item.origin.clone(),
        };
        project.create(&task, view)?;
    }
    if project.claim(name, view)?.is_some() {
        return Ok(None);
    }
    // Read again now that nobody else moves it.
    let record = project.adopt(name, view)?;
    if !can_be_worked_on(record.as_ref()) {
        return Ok(None);
    }
    Ok(Some(Found {
        task: work_task(name, record, view),
        item: item.clone(),
    }))
}

fn work_task(name: &str, record: Option<Task>, view: &LoopView) -> WorkTask {
    match record {
        Some(record) => WorkTask {
            name: name.to_owned(),
            phases: record.phases(),
            phase: Some(record.phase),
            item: None,
        },
        None => WorkTask {
            name: name.to_owned(),
            phase: None,
            phases: view.phases.clone(),
            item: None,
        },
    }
}

fn can_be_worked_on(record: Option<&Task>) -> bool {
    record.is_none_or(|record| record.phase != COMPLETE && record.phase != HUMAN_INTERVENTION)
}

/// Returns how a task stands, as seen from the loop; one that does not exist
/// yet is open.
pub(crate) fn standing(name: &str, facts: Option<&TaskFacts>, view: &LoopView) -> Standing {
    let Some(facts) = facts else {
        return Standing::Open;
    };
    let phase = facts.record.as_ref().map(|record| record.phase.as_str());
    if phase == Some(COMPLETE) || (phase.is_none() && view.finished.contains(name)) {
        return Standing::Done;
    }
    if let Some(halt) = view.parked.get(name) {
        return Standing::Parked {
            why: halt.as_str().to_owned(),
        };
    }
    if phase == Some(HUMAN_INTERVENTION) {
        return Standing::WithPerson;
    }
    match &facts.claimed_by {
        Some(by) if *by != view.name => Standing::Claimed { by: by.clone() },
        _ => Standing::Open,
    }
}
