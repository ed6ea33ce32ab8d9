//! How far the work of an agent may reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::Argv;
use super::path::{AnyPath, ProjectPath};

/// The limits of what an agent's work may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with the limits of the blast radius"
)]
pub struct BlastRadius {
    /// Whether the work is done in a worktree of its own; false when absent.
    #[serde(alias = "worktree", skip_serializing_if = "Option::is_none")]
    pub(super) use_worktree: Option<bool>,
    /// What a worktree is for; when absent, the loop for a backlog and else a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worktree_for: Option<WorktreeFor>,
    /// The command that is run once in a new worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<Argv>,
    /// Files and patterns that are copied into a new worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) copy: Option<Vec<ProjectPath>>,
    /// The paths and patterns in which changes may land; anywhere when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_scope: Option<Vec<ProjectPath>>,
    /// The paths and patterns that must not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protect: Option<Vec<ProjectPath>>,
    /// Whether the operating system confines the agent; off when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<Sandbox>,
    /// The paths beside the worktree that a confined agent may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) writable: Option<Vec<AnyPath>>,
    /// The paths that a confined agent may not even read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deny_read: Option<Vec<AnyPath>>,
    /// What a confined agent may do to the repository's own data; read it when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<GitAccess>,
    /// What a change outside the worktree does; when absent, it stops the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) watch: Option<Watch>,
}

impl BlastRadius {
    /// Reports whether the work is done in a worktree of its own; false when absent.
    #[must_use]
    pub fn use_worktree(&self) -> bool {
        self.use_worktree.unwrap_or(false)
    }

    /// Returns the files and patterns that are copied into a new worktree.
    #[must_use]
    pub fn copy(&self) -> &[ProjectPath] {
        self.copy.as_deref().unwrap_or_default()
    }

    /// Returns the paths and patterns in which changes may land; anywhere when empty.
    #[must_use]
    pub fn file_scope(&self) -> &[ProjectPath] {
        self.file_scope.as_deref().unwrap_or_default()
    }

    /// Returns the paths and patterns that must not change.
    #[must_use]
    pub fn protect(&self) -> &[ProjectPath] {
        self.protect.as_deref().unwrap_or_default()
    }

    /// Returns the paths beside the worktree that a confined agent may write.
    #[must_use]
    pub fn writable(&self) -> &[AnyPath] {
        self.writable.as_deref().unwrap_or_default()
    }

    /// Returns the paths that a confined agent may not even read.
    #[must_use]
    pub fn deny_read(&self) -> &[AnyPath] {
        self.deny_read.as_deref().unwrap_or_default()
    }

    /// Returns whether the operating system confines the agent; off when absent.
    #[must_use]
    pub fn sandbox(&self) -> Sandbox {
        self.sandbox.unwrap_or_default()
    }

    /// Returns what a confined agent may do to the repository's own data; read it when absent.
    #[must_use]
    pub fn git(&self) -> GitAccess {
        self.git.unwrap_or_default()
    }

    /// Returns what a change outside the worktree does; when absent, it stops the task.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watch.unwrap_or_default()
    }
}

/// What a worktree is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeFor {
    /// Each task has its own.
    Task,
    /// All tasks of the loop share one, because they build on each other.
    Loop,
}

/// Whether the operating system confines the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// It runs with the user's own rights.
    #[default]
    Off,
    /// It may write the worktree and what `writable` names, and nothing else.
    On,
}

/// What a confined agent may do to the repository's own data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitAccess {
    /// Read it.
    #[default]
    Read,
    /// Write it, as a commit does.
    Write,
}

/// What a change outside the worktree does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Watch {
    /// It stops the task.
    #[default]
    Stop,
    /// It is reported.
    Warn,
}
