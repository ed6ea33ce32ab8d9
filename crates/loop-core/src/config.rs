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
pub(crate) mod document;
mod effective;
mod error;
mod free;
mod gate;
mod harness;
mod money;
pub(crate) mod name;
mod notify;
pub(crate) mod number;
mod parse;
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

use crate::phase::Phases;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub use blast_radius::{BlastRadius, GitAccess, Sandbox, Watch, WorktreeFor};
pub use brakes::{Brakes, OnTrip};
pub use command::Argv;
pub use cost::UnknownUse;
pub use criteria::Criteria;
pub use effective::{Effective, Enforced, Origin};
pub use error::{ConfigError, ConfigWarning, Position, Problem};
pub use free::FreeKeys;
pub use gate::{Gate, GatePlace};
pub use harness::{
    Env, Harness, HarnessChoice, HarnessRef, PromptVia, VariableName, VariableValue,
};
pub use name::{LoopName, Malformed, PhaseName, ProfileName, TaskName};
pub use notify::{Notify, NotifyEvent};
pub use parse::{Parsed, locate};
pub use path::{AnyPath, ProjectPath};
pub use roles::{Role, Roles};
pub(crate) use schedule::{CRON_FIELDS, cron_item};
pub use schedule::{Cron, Schedule, TimeZoneName};
pub use schema::schema;
pub use unenforced::Supported;
pub use window::{DayWindow, InvalidDayWindow};
pub use work_source::{WorkSource, WorkSourceKind};

use settings::Settings;

/// The configuration of a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    #[serde(flatten)]
    settings: Settings,
    #[serde(flatten)]
    free: FreeKeys,
}

impl Config {
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

    /// Reports whether the configuration limits what an attempt may change.
    #[must_use]
    pub fn limits_changes(&self) -> bool {
        let limits = self.blast_radius();
        !limits.file_scope().is_empty() || !limits.protect().is_empty()
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
        static DEFAULT: LazyLock<Vec<PhaseName>> = LazyLock::new(|| names(&Phases::default().list));
        self.settings.phases.as_deref().unwrap_or(&DEFAULT)
    }

    /// Returns the phases that a person lets a task leave. With the default phases they have a
    /// default of their own.
    #[must_use]
    pub fn approval_phases(&self) -> &[PhaseName] {
        static DEFAULT: LazyLock<Vec<PhaseName>> =
            LazyLock::new(|| names(&Phases::default().approval));
        match &self.settings.approval_phases {
            Some(phases) => phases,
            None if self.phases() == names(&Phases::default().list) => &DEFAULT,
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

fn names(names: &[String]) -> Vec<PhaseName> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
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
