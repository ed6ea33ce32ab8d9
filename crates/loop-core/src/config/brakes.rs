//! The brakes: what stops a loop.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::money::PositiveUsd;
use super::number::{Limit, Whole};
use super::window::ScoreWindow;
use crate::{Score, Usd};

/// The brakes of a loop. Every one that counts has a finite default.
///
/// Each is read through the method of its name, so that an absent key cannot be taken for an
/// absent brake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with the brakes")]
pub struct Brakes {
    /// The most attempts at a task; 10 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_iterations: Option<Limit<1_000_000>>,
    /// The number of scores without a rise that stops a task; 0 is off, 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score_plateau_window: Option<ScoreWindow>,
    /// The rise that a score needs to count as one; 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score_plateau_delta: Option<Score>,
    /// The score below which a pass is none; 0.7 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_score: Option<Score>,
    /// The failures of a harness in a row that stop a task; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_harness_failures: Option<Whole<1, 1_000>>,
    /// The attempts in a row without progress that stop a task; 0 is off, 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) no_progress_window: Option<Whole<0, 32>>,
    /// The most seconds that a task's ticks may run in sum; 28800 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_wall_seconds: Option<Limit<31_622_400>>,
    /// The most ticks on one day; no cap when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_ticks_per_day: Option<Whole<1, 86_400>>,
    /// The most that the loop may cost; no cap when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_cost_usd: Option<PositiveUsd>,
    /// The most tokens that the loop may use; no cap when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<Whole<1, { u32::MAX }>>,
    /// What happens to a task that a brake stops; the loop halts when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) on_trip: Option<OnTrip>,
}

/// What happens when a brake stops a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTrip {
    /// The loop waits for a person.
    #[default]
    Halt,
    /// The task is put aside with its reason, and the next one is taken.
    Park,
}

impl Brakes {
    /// Returns the most attempts at a task; 10 when absent, `None` when unlimited.
    #[must_use]
    pub fn max_iterations(&self) -> Option<u32> {
        self.max_iterations.map_or(Some(10), Limit::get)
    }

    /// Returns the number of scores without a rise that stops a task; 3 when absent, `None` when
    /// off.
    #[must_use]
    pub fn score_plateau_window(&self) -> Option<u32> {
        self.score_plateau_window.map_or(Some(3), ScoreWindow::get)
    }

    /// Returns the rise that a score needs to count as one; 0 when absent.
    #[must_use]
    pub fn score_plateau_delta(&self) -> Score {
        self.score_plateau_delta.unwrap_or(Score::ZERO)
    }

    /// Returns the score below which a pass is none; 0.7 when absent.
    #[must_use]
    pub fn min_score(&self) -> Score {
        self.min_score.unwrap_or(Score::from_hundredths(70))
    }

    /// Returns the failures of a harness in a row that stop a task; 3 when absent.
    #[must_use]
    pub fn max_harness_failures(&self) -> u32 {
        self.max_harness_failures.map_or(3, Whole::get)
    }

    /// Returns the attempts in a row without progress that stop a task; 3 when absent, `None`
    /// when off.
    #[must_use]
    pub fn no_progress_window(&self) -> Option<u32> {
        let window = self.no_progress_window.map_or(3, Whole::get);
        (window > 0).then_some(window)
    }

    /// Returns how long a task's ticks may run in sum; 8 hours when absent, `None` when
    /// unlimited.
    #[must_use]
    pub fn max_wall(&self) -> Option<Duration> {
        let seconds = self.max_wall_seconds.map_or(Some(28_800), Limit::get);
        seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }

    /// Returns the most ticks on one day, if there is a cap.
    #[must_use]
    pub fn max_ticks_per_day(&self) -> Option<u32> {
        self.max_ticks_per_day.map(Whole::get)
    }

    /// Returns the most tokens that the loop may use, if there is a cap.
    #[must_use]
    pub fn max_tokens(&self) -> Option<u32> {
        self.max_tokens.map(Whole::get)
    }

    /// Returns the most that the loop may cost, if there is a cap.
    #[must_use]
    pub fn max_cost(&self) -> Option<Usd> {
        self.max_cost_usd.map(PositiveUsd::get)
    }

    /// Returns what happens to a task that a brake stops; the loop halts when absent.
    #[must_use]
    pub fn on_trip(&self) -> OnTrip {
        self.on_trip.unwrap_or_default()
    }
}
