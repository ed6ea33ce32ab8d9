//! Where a loop's work comes from.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::Argv;
use super::name::TaskName;
use super::number::Whole;
use super::path::{AnyPath, ProjectPath};

/// The kinds of work source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkSourceKind {
    /// The loop's one current task.
    #[default]
    Single,
    /// The worst violation that the audit reports.
    Audit,
    /// The topmost open item of a backlog in Markdown.
    Backlog,
    /// The items that a command prints.
    Command,
}

impl WorkSourceKind {
    /// All kinds, as they are written.
    pub const NAMES: [&'static str; 4] = ["single", "audit", "backlog", "command"];

    /// Returns the kind as it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The settings of the work source; which of them matter depends on the kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that describes the work source"
)]
pub struct WorkSource {
    /// The kind of work source; single when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<WorkSourceKind>,
    /// The project that is audited; the loop's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<AnyPath>,
    /// The folder below `design/` that holds the backlog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<ProjectPath>,
    /// The heading of the backlog below which items count; all items when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The task of a single loop as long as its state names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskName>,
    /// The command that prints the open items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Argv>,
    /// The command that is told that an item is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_command: Option<Argv>,
    /// The seconds that either command may take; 60 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout_seconds: Option<Whole<1, 86_400>>,
    /// Whether finishing an item ticks its box; true when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tick_when_done: Option<bool>,
}

impl WorkSource {
    /// Returns the kind; single when absent.
    #[must_use]
    pub fn kind(&self) -> WorkSourceKind {
        self.kind.unwrap_or_default()
    }

    /// Returns how long `command` and `done_command` may take; a minute when absent.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(
            self.timeout_seconds
                .map_or(60, |seconds| seconds.get().into()),
        )
    }

    /// Reports whether finishing an item ticks its box; true when absent.
    #[must_use]
    pub fn tick_when_done(&self) -> bool {
        self.tick_when_done.unwrap_or(true)
    }
}
