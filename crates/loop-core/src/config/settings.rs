//! The keys of `loop.json` that mean something to the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BlastRadius, Brakes, Criteria, Gate, HarnessChoice, LoopName, Notify, PhaseName, Roles,
    Schedule, WorkSource,
};

/// The configuration of a loop: its work, who does it, who judges it, and what stops it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Config")]
pub(super) struct Settings {
    /// The address of this file's JSON Schema; for editors, no effect.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub(super) schema: Option<String>,
    /// The name of the loop, which is also the name of its folder.
    pub(super) name: LoopName,
    /// What the loop is for, in a person's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// Where the work comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) work_source: Option<WorkSource>,
    /// What "done" means, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) acceptance_criteria: Option<Criteria>,
    /// The roles of a tick.
    pub(super) roles: Roles,
    /// The harness of every role that has none of its own; the default command when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) harness: Option<HarnessChoice>,
    /// The acceptance gate; none when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gate: Option<Gate>,
    /// What stops the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) brakes: Option<Brakes>,
    /// How far the work may reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blast_radius: Option<BlastRadius>,
    /// When the loop ticks by itself; never when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schedule: Option<Schedule>,
    /// The phases of a task, in order; `complete` follows the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phases: Option<Vec<PhaseName>>,
    /// The phases that a person lets a task leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval_phases: Option<Vec<PhaseName>>,
    /// Who is told what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notify: Option<Vec<Notify>>,
}
