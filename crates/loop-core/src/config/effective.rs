//! Every setting as it is in effect, in words: what it is, where it came from, whether it holds.

mod rows;
mod table;

use std::fmt;

use super::{Config, Supported};
use crate::harness::Harnesses;
use rows::rows;

/// One setting as it is in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The path of the key, such as `brakes.max_iterations`.
    pub key: String,
    /// The value as it is shown to people.
    pub value: String,
    /// Where the value came from.
    pub from: Origin,
    /// Whether the setting holds.
    pub enforced: Enforced,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file gives it.
    File,
    /// The file does not, so the default applies.
    Default,
}

/// Whether a setting holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// It does.
    Yes,
    /// It does not, and why.
    No(String),
    /// There is nothing to hold: no cap, a brake that is off, a key without effect.
    Off,
}

/// Shows the setting as `key: value`, with the reason if it does not hold.
impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.value)?;
        match &self.enforced {
            Enforced::No(why) => write!(f, " (not enforced: {why})"),
            Enforced::Yes | Enforced::Off => Ok(()),
        }
    }
}

impl Config {
    /// Returns every setting as it is in effect under what `supported` has, in the order of the
    /// file's documentation. Keys that are absent and have no default are left out, but for caps
    /// and brakes, whose absence is what people have to see.
    #[must_use]
    pub fn effective(&self, supported: &Supported, harnesses: &Harnesses) -> Vec<Effective> {
        rows(self, supported, harnesses)
    }

    /// Says in words which caps the loop runs without, one line for each.
    #[must_use]
    pub fn uncapped(&self, harnesses: &Harnesses) -> Vec<String> {
        let brakes = self.brakes();
        let missing = [
            (
                brakes.max_cost().is_none(),
                format!("cost: {}", self.no_cost_cap(harnesses)),
            ),
            (brakes.max_tokens().is_none(), "tokens: no cap".to_owned()),
            (
                brakes.max_ticks_per_day().is_none(),
                "ticks per day: no cap".to_owned(),
            ),
            (
                brakes.max_iterations().is_none(),
                "iterations: unlimited".to_owned(),
            ),
            (
                brakes.max_wall().is_none(),
                "running time: unlimited".to_owned(),
            ),
        ];
        missing
            .into_iter()
            .filter_map(|(is_missing, line)| is_missing.then_some(line))
            .collect()
    }

    fn no_cost_cap(&self, harnesses: &Harnesses) -> String {
        match self.cost_known(harnesses) {
            Ok(()) => "no cap".to_owned(),
            Err(_) => "no cap; this harness reports none".to_owned(),
        }
    }
}
