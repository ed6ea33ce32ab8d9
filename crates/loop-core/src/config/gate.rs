//! The acceptance gate: a command whose exit code says whether the work is done.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::Argv;
use super::number::Whole;
use super::path::{AnyPath, ProjectPath};

/// The settings of the acceptance gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object that describes the gate")]
pub struct Gate {
    /// The command that exits 0 when the work is done.
    pub command: Argv,
    /// Files and patterns that judge the work and must not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frozen: Option<Vec<ProjectPath>>,
    /// The seconds that the gate may take; 1800 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout_seconds: Option<Whole<1, 604_800>>,
    /// The fewest tests that have to have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_tests: Option<Whole<1, { u32::MAX }>>,
    /// Whether the gate has to be red before the work starts; when absent, if there is no judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) must_start_red: Option<bool>,
    /// The command that prepares a fresh checkout for the gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<Argv>,
    /// Where the gate runs; in the worktree when absent.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<GatePlace>,
    /// The folder of files that the agent never sees and that are laid over the checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay: Option<AnyPath>,
    /// The test report, JUnit or TAP, that the gate writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ProjectPath>,
    /// Whether a green gate is proven in a clean checkout; false when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prove: Option<bool>,
}

impl Gate {
    /// Returns the files and patterns that judge the work and must not change.
    #[must_use]
    pub fn frozen(&self) -> &[ProjectPath] {
        self.frozen.as_deref().unwrap_or_default()
    }

    /// Returns the fewest tests that have to have run, if there is such a number.
    #[must_use]
    pub fn min_tests(&self) -> Option<u32> {
        self.min_tests.map(Whole::get)
    }

    /// Returns how long the gate may take; 30 minutes when absent.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(
            self.timeout_seconds
                .map_or(1800, |seconds| seconds.get().into()),
        )
    }

    /// Returns where the gate runs; in the worktree when absent.
    #[must_use]
    pub fn place(&self) -> GatePlace {
        self.place.unwrap_or_default()
    }

    /// Reports whether a green gate is proven in a clean checkout; false when absent.
    #[must_use]
    pub fn prove(&self) -> bool {
        self.prove.unwrap_or(false)
    }
}

/// Where the gate runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatePlace {
    /// In the tree that the agent works in.
    #[default]
    Worktree,
    /// In a clean checkout that holds only the attempt's product files.
    Clean,
}
