//! What a call used.

use serde::{Deserialize, Serialize};

use crate::Usd;

/// What a call used, as far as its harness said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// The tokens; `None` is unknown.
    pub tokens: Option<Tokens>,
    /// Whether `tokens` lack a part, such as a turn that told none: they are the least.
    pub uncounted: bool,
    /// The cost, rounded up to a micro-dollar; `None` is unknown.
    pub cost: Option<Usd>,
    /// Whether `cost` lacks a part, such as a turn of a model that has no price: it is the least.
    pub unpriced: bool,
}

/// Tokens of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// All that was read, cached ones included.
    pub input: u64,
    /// Those of `input` that came from a cache.
    pub cached: u64,
    /// All that was written, reasoning included.
    pub output: u64,
}

impl Tokens {
    /// Returns the input and the output together, at most [`u64::MAX`].
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds two counts; a sum past [`u64::MAX`] stays there, which trips every cap.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
        }
    }

    /// Takes away what was counted before, as a session that reports its whole past asks for.
    /// Nothing falls below zero.
    #[must_use]
    pub fn saturating_sub(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cached: self.cached.saturating_sub(earlier.cached),
            output: self.output.saturating_sub(earlier.output),
        }
    }
}
