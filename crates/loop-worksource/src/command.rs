//! The items that a program prints: how issue trackers are attached.

mod read;

use crate::hash;
use crate::item::{Completion, Item};
use crate::kinds::SourceOptions;
use crate::pick;
use crate::project::{Program, Project, Ran, RunEnd};
use crate::slug::{cut, slugify};
use crate::source::{Finish, LoopView, Next, SourceError, Surveyed, WorkSource};
use loop_core::outcome::Skip;
use loop_core::task::{Origin, OriginKind};
use read::Printed;
use std::time::Duration;

/// Bytes of output that are read; thousands of issues with their texts fit.
const LIMIT: usize = 16 * 1024 * 1024;
/// Bytes of a slug before the hash in a task's name.
const SLUG: usize = 48;
/// Stands for the item's id in `done_command`.
const ID: &str = "{id}";

/// The items that a program prints, as a JSON array or one object a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    command: Vec<String>,
    done_command: Option<Vec<String>>,
    timeout: Duration,
}

/// A program that cannot be run as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("work_source.{key}: names no program")]
pub struct InvalidCommand {
    /// The key.
    key: &'static str,
}

impl Command {
    /// Makes the source from a loop's options.
    ///
    /// # Errors
    ///
    /// [`InvalidCommand`] when a command is an empty list, or its first element
    /// is empty or would be an item's id.
    pub fn new(options: &SourceOptions) -> Result<Self, InvalidCommand> {
        let empty = |argv: &[String]| argv.first().is_none_or(String::is_empty);
        if empty(&options.command) {
            return Err(InvalidCommand { key: "command" });
        }
        // An id comes from outside and must not choose the program.
        let unfit = |argv: &[String]| empty(argv) || argv[0].contains(ID);
        if options.done_command.as_deref().is_some_and(unfit) {
            return Err(InvalidCommand {
                key: "done_command",
            });
        }
        Ok(Self {
            command: options.command.clone(),
            done_command: options.done_command.clone(),
            timeout: options.timeout,
        })
    }

    /// Runs the program and reads its items, in the order in which they count.
    fn items(&self, project: &mut dyn Project) -> Result<Vec<Item>, SourceError> {
        let stdout = self.run("command", self.command.clone(), Vec::new(), project)?;
        let mut printed = read::items(&stdout).map_err(|what| failed("command", what))?;
        // Stable: items of one priority stay as printed, those without come last.
        printed.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
        Ok(printed
            .iter()
            .enumerate()
            .map(|(order, printed)| self.item(order, printed))
            .collect())
    }

    fn item(&self, order: usize, printed: &Printed) -> Item {
        let origin = Origin {
            kind: OriginKind::Command,
            id: Some(printed.id.clone()),
            file: None,
            line: None,
            url: printed.url.clone(),
        };
        let mut item = Item::new(&printed.id, &printed.title, &printed.text(), origin);
        item.order = order;
        if self.done_command.is_some() {
            item.completion = Completion::RunCommand;
        }
        item
    }

    /// Runs a program to its end; anything but an exit with 0 is a failure.
    fn run(
        &self,
        key: &'static str,
        argv: Vec<String>,
        stdin: Vec<u8>,
        project: &mut dyn Project,
    ) -> Result<Vec<u8>, SourceError> {
        let name = argv[0].clone();
        let ran = project.run(&Program {
            argv,
            stdin,
            timeout: self.timeout,
            limit: LIMIT,
        })?;
        match end(&ran, self.timeout) {
            None => Ok(ran.stdout),
            Some(end) => Err(failed(key, format!("{name} {end}"))),
        }
    }
}

impl WorkSource for Command {
    fn next(&self, view: &LoopView, project: &mut dyn Project) -> Result<Next, SourceError> {
        let items = self.items(project)?;
        let names = Names::new(project)?;
        for item in items {
            let name = names.of(&item, project)?;
            if let Some(found) = pick::take(&name, &item, view, project)? {
                return Ok(Next::Found(Box::new(found)));
            }
        }
        Ok(Next::Nothing(Skip::NoWork))
    }

    fn survey(
        &self,
        view: &LoopView,
        project: &mut dyn Project,
    ) -> Result<Vec<Surveyed>, SourceError> {
        let items = self.items(project)?;
        let names = Names::new(project)?;
        let mut surveyed = Vec::new();
        for item in items {
            let task = names.of(&item, project)?;
            let facts = project.task(&task)?;
            surveyed.push(Surveyed {
                standing: pick::standing(&task, facts.as_ref(), view),
                task,
                item,
            });
        }
        Ok(surveyed)
    }

    fn finish(&self, item: &Item, project: &mut dyn Project) -> Result<Finish, SourceError> {
        let Some(done) = &self.done_command else {
            return Ok(Finish::Nothing);
        };
        let argv = done.iter().map(|arg| arg.replace(ID, &item.id)).collect();
        let stdin = serde_json::json!({
            "id": item.id,
            "title": item.title,
            "body": item.body,
            "url": item.origin.url,
        });
        let stdin = format!("{stdin}\n").into_bytes();
        self.run("done_command", argv, stdin, project)?;
        Ok(Finish::Done)
    }
}

/// The names of the tasks that exist.
struct Names {
    all: Vec<String>,
}

impl Names {
    fn new(project: &mut dyn Project) -> Result<Self, SourceError> {
        let all = project.task_names()?;
        Ok(Self { all })
    }

    /// Returns the name of an item's task (shapes §9). One that exists keeps the
    /// name that it got when the item had another title.
    fn of(&self, item: &Item, project: &mut dyn Project) -> Result<String, SourceError> {
        let suffix = format!("-{}", hash::hex8(["command", &item.id]));
        let name = format!("{}{suffix}", cut(&slugify(&item.title), SLUG));
        if self.all.contains(&name) {
            return Ok(name);
        }
        for other in self.all.iter().filter(|other| other.ends_with(&suffix)) {
            let record = project.task(other)?.and_then(|facts| facts.record);
            if record.is_some_and(|record| {
                record.origin.kind == OriginKind::Command && record.origin.id == item.origin.id
            }) {
                return Ok(other.clone());
            }
        }
        Ok(name)
    }
}

/// Returns how a program went wrong, as a phrase that follows its name.
fn end(ran: &Ran, timeout: Duration) -> Option<String> {
    let said = match ran.stderr.trim() {
        "" => String::new(),
        text => format!(": {}", loop_core::text::without_controls(text)),
    };
    match ran.end {
        RunEnd::Exited(0) if ran.truncated => Some(format!("printed more than {LIMIT} bytes")),
        RunEnd::Exited(0) => None,
        RunEnd::Exited(code) => Some(format!("exited with {code}{said}")),
        RunEnd::Signaled(signal) => Some(format!("was killed by signal {signal}{said}")),
        RunEnd::TimedOut => Some(format!("took longer than {}s", timeout.as_secs())),
    }
}

fn failed(key: &'static str, what: String) -> SourceError {
    SourceError::Program { key, what }
}

#[cfg(test)]
mod recipes;
#[cfg(test)]
mod tests;
