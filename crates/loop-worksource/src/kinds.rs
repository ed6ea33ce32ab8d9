//! The kinds of work sources, by name.

use crate::audit::Audit;
use crate::backlog::{Backlog, InvalidArea};
use crate::command::{Command, InvalidCommand};
use crate::single::Single;
use crate::source::WorkSource;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The kind that a loop has when it names none.
const DEFAULT: &str = "single";
/// How long a source's program may run when nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A loop's `work_source`, without the project, which is the driver's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceOptions {
    /// The kind's name.
    pub kind: Option<String>,
    /// `single`: the task that the loop starts with.
    pub task: Option<String>,
    /// `backlog`: the area, `design/<area>/BACKLOG.md`.
    pub area: Option<String>,
    /// `backlog`: the heading under which items count.
    pub section: Option<String>,
    /// `backlog`: whether a finished item's box is ticked.
    pub tick_when_done: bool,
    /// `command`: the program that prints items.
    pub command: Vec<String>,
    /// `command`: the program that completes one.
    pub done_command: Option<Vec<String>>,
    /// `command`: how long either may run.
    pub timeout: Duration,
    /// What a registered kind of an embedder's own understands.
    pub other: Map<String, Value>,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self {
            kind: None,
            task: None,
            area: None,
            section: None,
            tick_when_done: true,
            command: Vec::new(),
            done_command: None,
            timeout: TIMEOUT,
            other: Map::new(),
        }
    }
}

/// Options that make no source: an error in the loop's configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The area would lead out of the project's design folder.
    #[error(transparent)]
    Area(#[from] InvalidArea),
    /// The program cannot be run as given.
    #[error(transparent)]
    Command(#[from] InvalidCommand),
    /// A kind of an embedder's own refused.
    #[error("{what}")]
    Other {
        /// What is wrong, naming the key.
        what: String,
    },
}

type Make = Box<dyn Fn(&SourceOptions) -> Result<Box<dyn WorkSource>, OptionError> + Send + Sync>;

/// The kinds that a loop may name.
pub struct Kinds {
    by_name: BTreeMap<String, Make>,
}

/// A source, and what people should know about the choice.
#[derive(Debug)]
pub struct Chosen {
    /// The source.
    pub source: Box<dyn WorkSource>,
    /// A warning for the loop's log: the kind is missing or unknown.
    pub warning: Option<String>,
}

impl Default for Kinds {
    /// The four kinds of this crate.
    fn default() -> Self {
        let mut kinds = Self {
            by_name: BTreeMap::new(),
        };
        kinds.register(DEFAULT, |options| {
            Ok(Box::new(Single {
                task: options.task.clone(),
            }))
        });
        kinds.register("audit", |_| Ok(Box::new(Audit)));
        kinds.register("backlog", |options| Ok(Box::new(Backlog::new(options)?)));
        kinds.register("command", |options| Ok(Box::new(Command::new(options)?)));
        kinds
    }
}

impl Kinds {
    /// Registers a kind, in place of one of the same name.
    pub fn register(
        &mut self,
        name: &str,
        make: impl Fn(&SourceOptions) -> Result<Box<dyn WorkSource>, OptionError>
        + Send
        + Sync
        + 'static,
    ) {
        self.by_name.insert(name.to_owned(), Box::new(make));
    }

    /// Whether a loop may name this kind without a warning.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Makes the source that a loop asks for. A missing or unknown kind is
    /// `single`, with a warning (rows S-03, S-04).
    ///
    /// # Errors
    ///
    /// [`OptionError`] when a known kind's options make no source.
    pub fn choose(&self, options: &SourceOptions) -> Result<Chosen, OptionError> {
        let kind = options.kind.as_deref();
        let (source, warning) = match kind.and_then(|kind| self.by_name.get(kind)) {
            Some(make) => (make(options)?, None),
            None => {
                let known = self.by_name.keys().cloned().collect::<Vec<_>>().join(", ");
                let problem = match kind {
                    Some(kind) => format!("`{kind}` is no kind of work source"),
                    None => "there is none".to_owned(),
                };
                let warning =
                    format!("work_source.kind: {problem} (known: {known}); `{DEFAULT}` is taken");
                let single = Single {
                    task: options.task.clone(),
                };
                (Box::new(single) as Box<dyn WorkSource>, Some(warning))
            }
        };
        Ok(Chosen { source, warning })
    }
}

impl std::fmt::Debug for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, view};
    use crate::source::to_work;
    use loop_core::Work;

    fn taken(kind: Option<&str>) -> (Option<String>, Work) {
        let options = SourceOptions {
            kind: kind.map(str::to_owned),
            ..SourceOptions::default()
        };
        let chosen = Kinds::default().choose(&options).unwrap();
        let mut fake = Fake::default();
        fake.by_hand("t", true);
        let mut view = view("l");
        view.current_task = Some("t".to_owned());
        let work = to_work(&chosen.source.next(&view, &mut fake));
        (chosen.warning, work)
    }

    // rows: S-01
    #[test]
    fn every_kind_has_its_name() {
        let mut options = SourceOptions {
            command: vec!["x".to_owned()],
            ..SourceOptions::default()
        };
        for kind in ["single", "audit", "backlog", "command"] {
            options.kind = Some(kind.to_owned());
            let chosen = Kinds::default().choose(&options).unwrap();
            assert_eq!(chosen.warning, None);
            let shown = format!("{:?}", chosen.source).to_lowercase();
            assert!(shown.starts_with(kind), "{shown}");
        }
    }

    // rows: S-02, S-04, Q-17
    #[test]
    fn missing_work_source_falls_back_to_single() {
        let (warning, work) = taken(None);
        assert!(warning.unwrap().contains("work_source.kind: there is none"));
        assert_eq!(work, taken(Some("single")).1);
    }

    // rows: S-03, Q-18
    #[test]
    fn unknown_kind_warns_and_falls_back() {
        let (warning, work) = taken(Some("magic"));
        assert!(
            warning
                .unwrap()
                .contains("`magic` is no kind of work source")
        );
        assert_eq!(work, taken(Some("single")).1);
    }

    // rows: S-27
    #[test]
    fn options_that_make_no_source_are_refused() {
        let refused = |kind: &str, area: &str| {
            let options = SourceOptions {
                kind: Some(kind.to_owned()),
                area: Some(area.to_owned()),
                ..SourceOptions::default()
            };
            Kinds::default().choose(&options).unwrap_err().to_string()
        };
        assert!(refused("backlog", "../x").contains("work_source.area: `../x`"));
        assert!(refused("command", "x").contains("work_source.command"));
    }

    #[test]
    fn an_embedder_registers_a_kind_of_its_own() {
        let mut kinds = Kinds::default();
        kinds.register("queue", |options| match options.other.get("topic") {
            Some(Value::String(topic)) => Ok(Box::new(Single {
                task: Some(topic.clone()),
            })),
            _ => Err(OptionError::Other {
                what: "work_source.topic: is missing".to_owned(),
            }),
        });
        let mut options = SourceOptions {
            kind: Some("queue".to_owned()),
            ..SourceOptions::default()
        };
        assert!(kinds.choose(&options).is_err());
        options.other.insert("topic".to_owned(), "t".into());
        assert_eq!(kinds.choose(&options).unwrap().warning, None);
        assert!(kinds.knows("queue") && !kinds.knows("magic"));
    }
}
