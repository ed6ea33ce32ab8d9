//! What the audit of a project finds, worst first.

use crate::item::Item;
use crate::pick;
use crate::project::{Level, Project};
use crate::slug::slugify;
use crate::source::{Finish, LoopView, Next, SourceError, Standing, Surveyed, WorkSource};
use crate::violation::Violation;
use loop_core::outcome::Skip;
use loop_core::task::{Origin, OriginKind};
use std::cmp::Reverse;

/// The violations of the project's audit.
///
/// It never feeds on itself: a violation that names no task makes one with a
/// record, under a name that is the same each time, and the health of loops is
/// no violation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit;

impl WorkSource for Audit {
    fn next(&self, view: &LoopView, project: &mut dyn Project) -> Result<Next, SourceError> {
        for Finding { task, named, item } in items(project)? {
            let taken = if named {
                pick::take_as_it_is(&task, &item, view, project)
            } else {
                pick::take(&task, &item, view, project)
            };
            match taken {
                Ok(Some(found)) => return Ok(Next::Found(Box::new(found))),
                Ok(None) => {}
                // One task that cannot be made or read does not hide the others.
                Err(error) => {
                    let text = format!("violation \"{}\" is passed over: {error}", item.title);
                    project.note(Level::Error, &text);
                }
            }
        }
        Ok(Next::Nothing(Skip::NoWork))
    }

    fn survey(
        &self,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Vec<Surveyed>, SourceError> {
        let surveyed = items(project)?
            .into_iter()
            .map(|Finding { task, item, .. }| {
                let standing = match project.task(&task) {
                    Ok(facts) => pick::standing(&task, facts.as_ref(), view),
                    Err(error) => Standing::Parked {
                        why: error.to_string(),
                    },
                };
                Surveyed {
                    task,
                    item,
                    standing,
                }
            });
        Ok(surveyed.collect())
    }

    /// The next audit shows whether the violation is gone.
    fn finish(&self, _item: &Item, _project: &mut dyn Project) -> Result<Finish, SourceError> {
        Ok(Finish::Nothing)
    }
}

/// A violation as an item.
struct Finding {
    /// The name of its task.
    task: String,
    /// Whether the audit says so; else it is made from the message.
    named: bool,
    item: Item,
}

/// Returns the violations: the worst first, equals in the audit's order.
fn items(project: &mut dyn Project) -> Result<Vec<Finding>, SourceError> {
    let mut violations = project.violations()?;
    violations.sort_by_key(|violation| Reverse(violation.severity));
    Ok(violations
        .into_iter()
        .enumerate()
        .map(|(order, violation)| item(order, violation))
        .collect())
}

fn item(order: usize, violation: Violation) -> Finding {
    let origin = Origin {
        kind: OriginKind::Audit,
        id: Some(violation.code.clone()).filter(|code| !code.is_empty()),
        ..Origin::person()
    };
    let name = violation.task.filter(|task| !task.is_empty());
    let named = name.is_some();
    let task = name.unwrap_or_else(|| slugify(&violation.message));
    let detail = violation.detail.unwrap_or_default();
    let mut item = Item::new(&task, &violation.message, &detail, origin);
    item.order = order;
    item.severity = violation.severity;
    Finding { task, named, item }
}

#[cfg(test)]
mod tests;
