//! What a person asks of a loop: `loop.json`, read strictly.
//!
//! A limit that is silently off costs more than any other mistake, so nothing here is guessed: a
//! key that is not known, a number that is not a plain decimal, or a rule that two keys break
//! together is an error that names its line, column and key and says what to do. A key that is
//! `null` is as if it were not there.
//!
//! ```
//! use loop_core::config::Config;
//!
//! let text = r#"{"name": "nightly", "roles": {}, "brakes": {"max_iteratons": 3}}"#;
//! let error = Config::parse(text).unwrap_err();
//! assert_eq!(
//!     error.with_file("loop.json").to_string(),
//!     "loop.json:1:45: brakes.max_iteratons: unknown key; did you mean max_iterations?",
//! );
//! ```

mod blast_radius;
mod brakes;
mod check;
mod command;
mod cost;
mod criteria;
mod document;
mod effective;
mod error;
mod free;
mod gate;
mod harness;
mod money;
mod name;
mod notify;
mod number;
mod path;
mod roles;
mod schedule;
mod schema;
mod settings;
mod unenforced;
mod window;
mod work_source;

use std::fmt;
use std::sync::LazyLock;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub use blast_radius::{BlastRadius, GitAccess, Sandbox, Watch, WorktreeFor};
pub use brakes::{Brakes, OnTrip};
pub use command::{Argv, HarnessCommand};
pub use cost::UnknownCost;
pub use criteria::Criteria;
pub use effective::{Effective, Enforced, Origin};
pub use error::{ConfigError, ConfigWarning, Position, Problem};
pub use free::FreeKeys;
pub use gate::{Gate, GatePlace};
pub use harness::{
    Env, Harness, HarnessChoice, HarnessRef, PromptVia, VariableName, VariableValue,
};
pub use money::PositiveUsd;
pub use name::{LoopName, Malformed, PhaseName, ProfileName, TaskName};
pub use notify::{Notify, NotifyEvent};
pub use number::{Limit, Whole};
pub use path::{AnyPath, ProjectPath};
pub use roles::{Role, Roles};
pub use schedule::{Cron, Schedule, TimeZoneName};
pub use schema::schema;
pub use unenforced::Supported;
pub use window::{DayWindow, InvalidDayWindow, ScoreWindow};
pub use work_source::{WorkSource, WorkSourceKind};

use document::Document;
use settings::Settings;

/// The configuration of a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    #[serde(flatten)]
    settings: Settings,
    #[serde(flatten)]
    free: FreeKeys,
}

/// A configuration, and what a person should know about how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The configuration.
    pub config: Config,
    /// What was accepted, but perhaps not meant.
    pub warnings: Vec<ConfigWarning>,
}

const WORK_SOURCE: &str = "work_source";
const DEFAULT_PHASES: [&str; 5] = ["research", "spec", "implement", "code_review", "bug_find"];
const DEFAULT_APPROVAL_PHASES: [&str; 2] = ["spec", "bug_find"];

impl Config {
    /// Reads the text of a `loop.json`. A byte order mark in front of it is passed over.
    ///
    /// # Errors
    ///
    /// The first fault that is found, with its place, its key and what to do.
    pub fn parse(text: &str) -> Result<Parsed, ConfigError> {
        let document = Document::new(text)?;
        let mut warnings = Vec::new();
        let unknown_kind = unknown_kind(&document, &mut warnings);
        old_spelling(&document, &mut warnings)?;
        // Nobody knows which keys an unknown kind has, so that object is not read at all.
        let config: Self = document
            .read(unknown_kind.then_some(WORK_SOURCE))
            .map_err(ConfigError::look_elsewhere)?;
        check::check(&config).map_err(|(path, problem)| document.error_at(&path, problem))?;
        if config
            .settings
            .work_source
            .as_ref()
            .is_some_and(|source| source.kind.is_none())
        {
            let message = "there is no kind; the work source is single".to_owned();
            warnings.extend(warning(&document, WORK_SOURCE, message));
        }
        Ok(Parsed { config, warnings })
    }

    /// Returns the address of the file's JSON Schema, which is for editors only.
    #[must_use]
    pub fn schema_url(&self) -> Option<&str> {
        self.settings.schema.as_deref()
    }

    /// Returns the name of the loop, which is also the name of its folder.
    #[must_use]
    pub fn name(&self) -> &LoopName {
        &self.settings.name
    }

    /// Gives the loop another name, as creating one from a template does.
    pub fn set_name(&mut self, name: LoopName) {
        self.settings.name = name;
    }

    /// Returns what the loop is for, in a person's words.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.settings.description.as_deref()
    }

    /// Returns the roles of a tick.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.settings.roles
    }

    /// Returns the harness of every role that has none of its own; the default command when
    /// absent.
    #[must_use]
    pub fn harness(&self) -> Option<&HarnessChoice> {
        self.settings.harness.as_ref()
    }

    /// Gives the loop another harness, as creating one with `--harness` does.
    pub fn set_harness(&mut self, harness: HarnessChoice) {
        self.settings.harness = Some(harness);
    }

    /// Returns the acceptance gate, if there is one.
    #[must_use]
    pub fn gate(&self) -> Option<&Gate> {
        self.settings.gate.as_ref()
    }

    /// Returns when the loop ticks by itself, if it does.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        self.settings.schedule.as_ref()
    }

    /// Returns the acceptance criteria, if there are any.
    #[must_use]
    pub fn acceptance_criteria(&self) -> Option<&Criteria> {
        self.settings.acceptance_criteria.as_ref()
    }

    /// Returns the keys that start with `x-`, which have no effect.
    #[must_use]
    pub fn free(&self) -> &FreeKeys {
        &self.free
    }

    /// Returns the settings of the work source.
    #[must_use]
    pub fn work_source(&self) -> &WorkSource {
        static ABSENT: LazyLock<WorkSource> = LazyLock::new(WorkSource::default);
        self.settings.work_source.as_ref().unwrap_or(&ABSENT)
    }

    /// Returns the brakes.
    #[must_use]
    pub fn brakes(&self) -> &Brakes {
        static ABSENT: LazyLock<Brakes> = LazyLock::new(Brakes::default);
        self.settings.brakes.as_ref().unwrap_or(&ABSENT)
    }

    /// Returns the limits of the blast radius.
    #[must_use]
    pub fn blast_radius(&self) -> &BlastRadius {
        static ABSENT: LazyLock<BlastRadius> = LazyLock::new(BlastRadius::default);
        self.settings.blast_radius.as_ref().unwrap_or(&ABSENT)
    }

    /// Returns the phases of a task without the implied last one, `complete`.
    #[must_use]
    pub fn phases(&self) -> &[PhaseName] {
        static DEFAULT: LazyLock<Vec<PhaseName>> = LazyLock::new(|| names(&DEFAULT_PHASES));
        self.settings.phases.as_deref().unwrap_or(&DEFAULT)
    }

    /// Returns the phases that a person lets a task leave. With the default phases they have a
    /// default of their own.
    #[must_use]
    pub fn approval_phases(&self) -> &[PhaseName] {
        static DEFAULT: LazyLock<Vec<PhaseName>> =
            LazyLock::new(|| names(&DEFAULT_APPROVAL_PHASES));
        match &self.settings.approval_phases {
            Some(phases) => phases,
            None if self.phases() == names(&DEFAULT_PHASES) => &DEFAULT,
            None => &[],
        }
    }

    /// Returns who is told what.
    #[must_use]
    pub fn notify(&self) -> &[Notify] {
        self.settings.notify.as_deref().unwrap_or_default()
    }

    /// Returns the acceptance criteria as they stand in a prompt; empty when absent.
    #[must_use]
    pub fn criteria_text(&self) -> String {
        self.settings
            .acceptance_criteria
            .as_ref()
            .map(Criteria::to_string)
            .unwrap_or_default()
    }

    /// Reports whether attempts are judged by a role: always without a gate, and with one if the
    /// role is described.
    #[must_use]
    pub fn has_judge(&self) -> bool {
        self.settings.gate.is_none() || self.settings.roles.verify.is_some()
    }

    /// Reports whether the gate has to be red before the work starts; when the key is absent, if
    /// there is no judge. False without a gate.
    #[must_use]
    pub fn must_start_red(&self) -> bool {
        self.settings
            .gate
            .as_ref()
            .is_some_and(|gate| gate.must_start_red.unwrap_or_else(|| !self.has_judge()))
    }

    /// Returns what a worktree is for; when the key is absent, the loop for a backlog and else a
    /// task.
    #[must_use]
    pub fn worktree_for(&self) -> WorktreeFor {
        let default = match self.work_source().kind() {
            WorkSourceKind::Backlog => WorktreeFor::Loop,
            WorkSourceKind::Single | WorkSourceKind::Audit | WorkSourceKind::Command => {
                WorktreeFor::Task
            }
        };
        self.blast_radius().worktree_for.unwrap_or(default)
    }
}

fn names(names: &[&str]) -> Vec<PhaseName> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn warning(document: &Document<'_>, key: &str, message: String) -> Option<ConfigWarning> {
    let position = document.key_position(key)?;
    Some(ConfigWarning {
        position,
        key: key.to_owned(),
        message,
    })
}

/// Reports whether the work source is of a kind that nobody knows, with a warning.
fn unknown_kind(document: &Document<'_>, warnings: &mut Vec<ConfigWarning>) -> bool {
    let Some(kind) = document.string("work_source.kind") else {
        return false;
    };
    if WorkSourceKind::NAMES.contains(&kind.as_str()) {
        return false;
    }
    let known = WorkSourceKind::NAMES.join(", ");
    let message = format!("{kind:?} is not one of {known}; the work source is single");
    warnings.extend(warning(document, "work_source.kind", message));
    true
}

/// Warns of the old name of `use_worktree`, which is still understood.
fn old_spelling(
    document: &Document<'_>,
    warnings: &mut Vec<ConfigWarning>,
) -> Result<(), ConfigError> {
    const OLD: &str = "blast_radius.worktree";
    let Some(position) = document.key_position(OLD) else {
        return Ok(());
    };
    if document.key_position("blast_radius.use_worktree").is_some() {
        let problem = Problem::Invalid("use_worktree is there too; remove this one".to_owned());
        return Err(ConfigError {
            position,
            key: OLD.to_owned(),
            problem,
        });
    }
    let message = "read as use_worktree; rename it".to_owned();
    warnings.push(ConfigWarning {
        position,
        key: OLD.to_owned(),
        message,
    });
    Ok(())
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ConfigVisitor)
    }
}

struct ConfigVisitor;

impl<'de> Visitor<'de> for ConfigVisitor {
    type Value = Config;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that describes a loop")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Config, A::Error> {
        let mut free = FreeKeys::new();
        let known = free::Known {
            fields,
            free: &mut free,
        };
        let settings = Settings::deserialize(MapAccessDeserializer::new(known))?;
        Ok(Config { settings, free })
    }
}
