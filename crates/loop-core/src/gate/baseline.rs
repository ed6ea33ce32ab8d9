//! What the gate was like before any work.

use super::runners::TestReport;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What was executed when the gate was frozen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// How many tests ran, passed or not; `None` when nobody could tell.
    pub tests: Option<u64>,
    /// Which tests ran, passed or not; `None` when nobody could tell.
    pub names: Option<BTreeSet<String>>,
}

impl Baseline {
    /// Takes what a first run reported for the baseline.
    #[must_use]
    pub fn of(tests: Option<&TestReport>) -> Self {
        Self {
            tests: tests.map(TestReport::executed),
            names: tests.and_then(|tests| tests.names.clone()),
        }
    }
}
