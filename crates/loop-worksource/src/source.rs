//! What every kind of work source does.

use crate::item::Item;
use crate::project::{Project, ProjectError};
use loop_core::Work;
use loop_core::outcome::{Halt, Skip};
use loop_core::phase::Phases;
use loop_core::step::WorkTask;
use loop_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A place where work comes from.
///
/// Asking twice is harmless: a task that is there is not made again, and a claim
/// that is the loop's own stays.
pub trait WorkSource: fmt::Debug + Send + Sync {
    /// Finds the next piece of work and makes it a task that is claimed for the
    /// loop.
    ///
    /// # Errors
    ///
    /// [`SourceError`] when the source cannot tell; it never says "nothing" then.
    fn next(&self, view: &LoopView, project: &mut dyn Project) -> Result<Next, SourceError>;

    /// Lists every item in the source's order, and how it stands. Changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`SourceError`] when the source cannot tell.
    fn survey(
        &self,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Vec<Surveyed>, SourceError>;

    /// Does what completing an item means. Done twice, the second changes
    /// nothing, except that a command may run twice.
    ///
    /// # Errors
    ///
    /// [`SourceError`] when it could not be done.
    fn finish(&self, item: &Item, project: &mut dyn Project) -> Result<Finish, SourceError>;

    /// Finds the item of a task again, as after a crash; `None` when the source
    /// no longer has it.
    ///
    /// # Errors
    ///
    /// [`SourceError`] when the source cannot tell.
    fn find(
        &self,
        task: &str,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Option<Item>, SourceError> {
        let surveyed = self.survey(view, project)?;
        Ok(surveyed
            .into_iter()
            .find(|other| other.task == task)
            .map(|found| found.item))
    }
}

/// What a source needs to know of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopView {
    /// The loop's name.
    pub name: String,
    /// The task that its state names.
    pub current_task: Option<String>,
    /// Its phases; tasks that it makes get them.
    pub phases: Phases,
    /// The tasks that it put aside, and why.
    pub parked: BTreeMap<String, Halt>,
    /// The tasks that it finished. Those with a record say so themselves; a task
    /// without one has nothing else that does.
    pub finished: BTreeSet<String>,
    /// The time.
    pub at: Timestamp,
}

/// What a source has next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A task to work on.
    Found(Box<Found>),
    /// There is nothing to do.
    Nothing(Skip),
}

/// A piece of work that is the loop's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The task, as the machine takes it.
    pub task: WorkTask,
    /// The item behind it, which [`WorkSource::finish`] wants back.
    pub item: Item,
}

/// One item of a survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// The name that its task has or will have.
    pub task: String,
    /// The item.
    pub item: Item,
    /// How it stands.
    pub standing: Standing,
}

/// How an item stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can be taken.
    Open,
    /// Another loop works on it.
    Claimed {
        /// That loop.
        by: String,
    },
    /// It was put aside.
    Parked {
        /// By whom or why, in a few words.
        why: String,
    },
    /// Its task is with a person.
    WithPerson,
    /// Something else has to be done first.
    Waiting {
        /// The title of that.
        on: String,
    },
    /// It is done.
    Done,
}

/// What came of finishing an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Completing the item asks for nothing.
    Nothing,
    /// It was done now.
    Done,
    /// It had been done before.
    Before,
    /// The item is no longer what was worked on. Nothing was changed, and a
    /// person has to look.
    Conflict {
        /// What was found.
        what: String,
    },
}

/// A source that could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The world refused.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The loop names a task that does not exist.
    #[error("there is no task `{task}`; `loop task create {task}` makes it")]
    NoTask {
        /// The task.
        task: String,
    },
    /// A file is not what was expected.
    #[error("{file}:{line}: {what}")]
    File {
        /// The file, relative to the project.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A source's program failed, or printed what is no list of items.
    #[error("work_source.{key}: {what}")]
    Program {
        /// Which program: `command` or `done_command`.
        key: &'static str,
        /// What went wrong.
        what: String,
    },
}

/// Turns a source's answer into the one that the machine takes.
#[must_use]
pub fn to_work(answer: &Result<Next, SourceError>) -> Work {
    match answer {
        Ok(Next::Found(found)) => Work::Found(found.task.clone()),
        Ok(Next::Nothing(skip)) => Work::Nothing(*skip),
        Err(error) => Work::Failed {
            what: error.to_string(),
        },
    }
}
