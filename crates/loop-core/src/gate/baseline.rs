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
    /// Takes what two runs before any work reported for the baseline. Names that
    /// are not the same in both, such as those with an address in them, would
    /// look like tests that are gone: then only the count is known.
    #[must_use]
    pub fn of_both(first: Option<&TestReport>, second: Option<&TestReport>) -> Self {
        let mut baseline = Self::of(first);
        if baseline.names != Self::of(second).names {
            baseline.names = None;
        }
        baseline
    }

    /// Takes what a first run reported for the baseline.
    #[must_use]
    pub fn of(tests: Option<&TestReport>) -> Self {
        Self {
            tests: tests.map(TestReport::executed),
            names: tests.and_then(|tests| tests.names.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::read_tests;

    // rows: D-13
    // cases: 129
    #[test]
    fn names_that_change_from_run_to_run_are_not_known() {
        let run = |first: &str| read_tests(&format!("not ok 1 {first}\nok 2 - prints\n1..2\n"));
        for (first, second, is_known) in [
            ("parses", "parses", true),
            ("parses in 406ms", "parses in 12ms", true),
            ("frees <x at 0x7f3a>", "frees <x at 0x55d0>", false),
        ] {
            let baseline = Baseline::of_both(run(first).as_ref(), run(second).as_ref());
            assert_eq!(baseline.tests, Some(2));
            assert_eq!(baseline.names.is_some(), is_known, "{first}");
        }
        assert_eq!(Baseline::of_both(run("a").as_ref(), None).names, None);
    }
}
