//! A project in memory, for tests.

use crate::project::{
    Level, NewTask, Program, Project, ProjectError, Ran, RunEnd, TaskFacts, Written,
};
use crate::source::LoopView;
use crate::violation::Violation;
use loop_core::phase::{COMPLETE, Phases};
use loop_core::task::Task;
use loop_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(crate) struct Fake {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) tasks: BTreeMap<String, TaskFacts>,
    pub(crate) violations: Audited,
    pub(crate) output: Option<Ran>,
    pub(crate) programs: Vec<Program>,
    pub(crate) notes: Vec<(Level, String)>,
    /// Names whose tasks cannot be made.
    pub(crate) refused: BTreeSet<String>,
    pub(crate) created: Vec<NewTask>,
    /// How many times someone else changes a file just before we write it.
    pub(crate) meddling: u32,
    /// A loop that claims the first task that is asked for, just before it is.
    pub(crate) rival: Option<String>,
    /// A task that becomes complete just before it is adopted.
    pub(crate) overtaken: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Audited(pub(crate) Result<Vec<Violation>, ProjectError>);

impl Default for Audited {
    fn default() -> Self {
        Self(Ok(Vec::new()))
    }
}

pub(crate) fn view(name: &str) -> LoopView {
    LoopView {
        name: name.to_owned(),
        current_task: None,
        phases: Phases::default(),
        parked: BTreeMap::new(),
        finished: BTreeSet::new(),
        at: Timestamp::default(),
    }
}

pub(crate) fn exited(code: i32, stdout: &str) -> Ran {
    Ran {
        end: RunEnd::Exited(code),
        stdout: stdout.as_bytes().to_vec(),
        truncated: false,
        stderr: String::new(),
    }
}

impl Fake {
    pub(crate) fn file(&self, path: &str) -> &str {
        std::str::from_utf8(&self.files[path]).unwrap()
    }

    /// Puts a task into a phase, past every rule.
    pub(crate) fn put(&mut self, name: &str, phase: &str) {
        let facts = self.tasks.get_mut(name).unwrap();
        let record = facts.record.as_mut().unwrap();
        record.phase = phase.to_owned();
        if phase == COMPLETE {
            facts.claimed_by = None;
        }
    }

    /// Makes a task as a person would.
    pub(crate) fn by_hand(&mut self, name: &str, record: bool) {
        let origin = loop_core::task::Origin::person();
        let task = Task::new(name, name, Phases::default(), origin, Timestamp::default());
        let facts = TaskFacts {
            record: record.then_some(task),
            claimed_by: None,
        };
        self.tasks.insert(name.to_owned(), facts);
    }

    pub(crate) fn noted(&self, level: Level, text: &str) -> bool {
        self.notes
            .iter()
            .any(|(noted, line)| *noted == level && line.contains(text))
    }
}

fn error(what: &str) -> ProjectError {
    ProjectError {
        what: what.to_owned(),
    }
}

impl Project for Fake {
    fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, ProjectError> {
        Ok(self.files.get(path).cloned())
    }

    fn replace(&mut self, path: &str, was: &[u8], new: &[u8]) -> Result<Written, ProjectError> {
        let file = self.files.get_mut(path).ok_or_else(|| error("gone"))?;
        if self.meddling > 0 {
            self.meddling -= 1;
            file.extend_from_slice(b"\nmeddled\n");
        }
        if file.as_slice() != was {
            return Ok(Written::Changed);
        }
        *file = new.to_vec();
        Ok(Written::Now)
    }

    fn task_names(&mut self) -> Result<Vec<String>, ProjectError> {
        Ok(self.tasks.keys().cloned().collect())
    }

    fn task(&mut self, name: &str) -> Result<Option<TaskFacts>, ProjectError> {
        crate::name::check_name(name).map_err(|invalid| ProjectError::new(&invalid))?;
        Ok(self.tasks.get(name).cloned())
    }

    fn create(&mut self, new: &NewTask, view: &LoopView) -> Result<(), ProjectError> {
        if self.refused.contains(&new.name) {
            return Err(error("read-only"));
        }
        let origin = new.origin.clone();
        let task = Task::new(&new.name, &new.title, view.phases.clone(), origin, view.at);
        self.created.push(new.clone());
        let facts = self.tasks.entry(new.name.clone()).or_default();
        facts.record.get_or_insert(task);
        Ok(())
    }

    fn claim(&mut self, task: &str, view: &LoopView) -> Result<Option<String>, ProjectError> {
        let facts = self.tasks.get_mut(task).ok_or_else(|| error("no task"))?;
        if let Some(rival) = self.rival.take() {
            facts.claimed_by = Some(rival);
        }
        let by = facts
            .claimed_by
            .get_or_insert_with(|| view.name.clone())
            .clone();
        Ok((by != view.name).then_some(by))
    }

    fn adopt(&mut self, task: &str, view: &LoopView) -> Result<Option<Task>, ProjectError> {
        if self.overtaken.as_deref() == Some(task) {
            self.put(task, COMPLETE);
        }
        let facts = self.tasks.get_mut(task).ok_or_else(|| error("no task"))?;
        if let Some(record) = &mut facts.record {
            record.adopt(&view.phases, view.at);
        }
        Ok(facts.record.clone())
    }

    fn violations(&mut self) -> Result<Vec<Violation>, ProjectError> {
        self.violations.0.clone()
    }

    fn run(&mut self, program: &Program) -> Result<Ran, ProjectError> {
        self.programs.push(program.clone());
        self.output.clone().ok_or_else(|| error("no such program"))
    }

    fn note(&mut self, level: Level, text: &str) {
        self.notes.push((level, text.to_owned()));
    }
}
