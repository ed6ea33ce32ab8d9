//! Which task belongs to which item.

use super::list::List;
use crate::project::{Level, Project};
use crate::source::SourceError;
use loop_core::phase::COMPLETE;
use loop_core::task::{OriginKind, Task};
use std::collections::BTreeSet;

/// The tasks that exist, as names for items.
///
/// An item's task has the item's plain name, unless another item of the file has
/// that: then a hash follows. Who has it stands in the task's record, so that
/// adding, moving and removing other items changes no names.
#[derive(Debug)]
pub(super) struct Names {
    tasks: BTreeSet<String>,
}

/// Whose a task is, as seen from one item.
enum Owner {
    /// The item's.
    Ours,
    /// The item's, which has been edited or moved since.
    OursChanged,
    /// Another item's.
    Theirs,
    /// One of several items', and nothing says which.
    Unclear,
}

impl Names {
    pub(super) fn new(project: &mut dyn Project) -> Result<Self, SourceError> {
        Ok(Self {
            tasks: project.task_names()?.into_iter().collect(),
        })
    }

    /// Whether a task of that name exists.
    pub(super) fn exist(&self, name: &str) -> bool {
        self.tasks.contains(name)
    }

    /// Returns the name that the task of item `i` has or will have.
    pub(super) fn of(
        &self,
        list: &List<'_>,
        i: usize,
        project: &mut dyn Project,
    ) -> Result<String, SourceError> {
        let plain = list.name(i);
        let other = list.other_name(i);
        if self.exist(&other) {
            return Ok(other);
        }
        let record = if self.exist(plain) {
            project.task(plain)?.and_then(|facts| facts.record)
        } else {
            None
        };
        match self.owner(list, i, record.as_ref()) {
            Owner::Ours => Ok(plain.to_owned()),
            Owner::OursChanged => {
                if record.is_some_and(|record| record.phase == COMPLETE) {
                    warn_of_complete(list, i, project);
                }
                Ok(plain.to_owned())
            }
            Owner::Theirs => Ok(other),
            Owner::Unclear => Err(SourceError::File {
                file: list.file().to_owned(),
                line: list.entry(i).line,
                what: format!(
                    "several items could be task `{plain}`, whose own was edited; \
                     give them different names in bold"
                ),
            }),
        }
    }

    /// Decides whose the task of an item's plain name is, or will be.
    fn owner(&self, list: &List<'_>, i: usize, record: Option<&Task>) -> Owner {
        let namesakes = list.namesakes(i);
        let origin = record
            .map(|record| &record.origin)
            .filter(|origin| origin.kind == OriginKind::Backlog);
        let Some(origin) = origin else {
            // There is none yet, or a person made it for the item of that name.
            return if namesakes.first() == Some(&i) {
                Owner::Ours
            } else {
                Owner::Theirs
            };
        };
        if origin.file.as_deref() != Some(list.file()) {
            return Owner::Theirs;
        }
        let made_for = |j: &&usize| origin.id.as_deref() == Some(list.id(**j).as_str());
        if let Some(owner) = namesakes.iter().find(made_for) {
            return if *owner == i {
                Owner::Ours
            } else {
                Owner::Theirs
            };
        }
        let without_task = |j: &&usize| !self.exist(&list.other_name(**j));
        if namesakes.iter().filter(without_task).count() > 1 {
            Owner::Unclear
        } else {
            Owner::OursChanged
        }
    }
}

/// An open item of a complete task may be old work that is ticked elsewhere, or
/// new work in old words. Only a person can tell.
fn warn_of_complete(list: &List<'_>, i: usize, project: &mut dyn Project) {
    let text = format!(
        "{}:{}: task `{}` is complete, and its item changed; if this is new work, \
         give it a name of its own in bold",
        list.file(),
        list.entry(i).line,
        list.name(i)
    );
    project.note(Level::Warning, &text);
}
