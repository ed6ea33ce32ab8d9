//! The one task that a person gives the loop.

use crate::item::Item;
use crate::pick;
use crate::project::{Level, Project};
use crate::source::{Finish, LoopView, Next, SourceError, Standing, Surveyed, WorkSource};
use loop_core::outcome::{Halt, Skip};
use loop_core::task::Origin;

/// The task in the loop's state, else the one that its configuration names
/// (row U-49).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Single {
    /// The task that the configuration names.
    pub task: Option<String>,
}

impl Single {
    /// Returns the task, and whether it is the loop's own by its state.
    fn task<'a>(&'a self, view: &'a LoopView) -> Option<(&'a str, bool)> {
        match (&view.current_task, &self.task) {
            (Some(task), _) => Some((task, true)),
            (None, Some(task)) => Some((task, false)),
            (None, None) => None,
        }
    }

    /// Returns the item and its standing; `None` without a task.
    fn look(
        &self,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Option<Surveyed>, SourceError> {
        let Some((task, by_state)) = self.task(view) else {
            return Ok(None);
        };
        let facts = project.task(task)?.ok_or_else(|| SourceError::NoTask {
            task: task.to_owned(),
        })?;
        let (title, origin) = match &facts.record {
            Some(record) => (record.title.as_str(), record.origin.clone()),
            None => (task, Origin::person()),
        };
        let item = Item::new(task, title, "", origin);
        let mut standing = pick::standing(task, Some(&facts), view);
        // A person may give the loop a task without a record a second time.
        if standing == Standing::Done && by_state && facts.record.is_none() {
            standing = Standing::Open;
        }
        Ok(Some(Surveyed {
            task: task.to_owned(),
            item,
            standing,
        }))
    }
}

impl WorkSource for Single {
    fn next(&self, view: &LoopView, project: &mut dyn Project) -> Result<Next, SourceError> {
        let Some(looked) = self.look(view, project)? else {
            return Ok(Next::Nothing(Skip::NoCurrentTask));
        };
        let nothing = match looked.standing {
            Standing::Open => None,
            Standing::WithPerson => Some(Skip::HumanIntervention(Halt::Escalated)),
            Standing::Claimed { by } => {
                let task = &looked.task;
                let text = format!("loop {by} works on task {task}; this loop waits for it");
                project.note(Level::Warning, &text);
                Some(Skip::NoWork)
            }
            _ => Some(Skip::NoCurrentTask),
        };
        if let Some(skip) = nothing {
            return Ok(Next::Nothing(skip));
        }
        let taken = pick::enter(&looked.task, &looked.item, true, view, project)?;
        Ok(match taken {
            Some(found) => Next::Found(Box::new(found)),
            None => Next::Nothing(Skip::NoWork),
        })
    }

    fn survey(
        &self,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Vec<Surveyed>, SourceError> {
        Ok(self.look(view, project)?.into_iter().collect())
    }

    fn finish(&self, _item: &Item, _project: &mut dyn Project) -> Result<Finish, SourceError> {
        Ok(Finish::Nothing)
    }
}

#[cfg(test)]
mod tests;
