//! A gate in words that a person understands.

use super::{GateReport, Level};
use crate::config::{Gate, GatePlace};

impl GateReport {
    /// Says what the gate said and how far that can be trusted, a line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let color = if self.green { "green" } else { "red" };
        let tests = match self.tests {
            None => "no count of tests".to_owned(),
            Some(1) => "1 test".to_owned(),
            Some(tests) => format!("{tests} tests"),
        };
        let mut lines = vec![
            format!("{color}, exit code {}, {tests}", self.exit),
            self.level.to_string(),
        ];
        // That there is no count is said already.
        let flags = self
            .flags
            .iter()
            .filter(|flag| !flag.starts_with("no count"));
        lines.extend(flags.cloned());
        lines
    }
}

impl Level {
    /// Returns the level that a gate can reach as it is configured, where `frozen`
    /// says whether it freezes anything. Which tests have to run is known only when
    /// it was run before the work.
    #[must_use]
    pub fn within_reach(gate: &Gate, frozen: bool, must_start_red: bool) -> Self {
        let clean = gate.place() == GatePlace::Clean;
        Self::of(gate.overlay.is_some(), frozen, clean, must_start_red)
    }

    /// Returns the level of a run: under files that the agent never saw, with what
    /// judges frozen, in a clean checkout, with the same tests as before the work.
    pub(super) fn of(overlay: bool, frozen: bool, clean: bool, same_tests: bool) -> Self {
        match () {
            () if overlay => Self::Unseen,
            () if clean && frozen => Self::Clean,
            () if frozen && same_tests => Self::SameTests,
            () => Self::ExitCode,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    // rows: D-13
    #[test]
    fn the_level_that_a_gate_can_reach_is_told_before_it_runs() {
        for (gate, frozen, level) in [
            (r#"{"command": ["x"]}"#, false, Level::ExitCode),
            (r#"{"command": ["x"]}"#, true, Level::SameTests),
            (
                r#"{"command": ["x"], "where": "clean"}"#,
                false,
                Level::ExitCode,
            ),
            (
                r#"{"command": ["x"], "where": "clean"}"#,
                true,
                Level::Clean,
            ),
            (
                r#"{"command": ["x"], "overlay": "/hidden"}"#,
                false,
                Level::Unseen,
            ),
        ] {
            let text = format!(r#"{{"name": "l", "roles": {{}}, "gate": {gate}}}"#);
            let config = Config::parse(&text).unwrap().config;
            let reach = |red| Level::within_reach(config.gate().unwrap(), frozen, red);
            assert_eq!(reach(true), level, "{gate}");
            assert_eq!(reach(false) == level, level != Level::SameTests, "{gate}");
        }
    }

    #[test]
    fn a_report_is_said_in_lines() {
        let report = GateReport {
            exit: 0,
            tests: None,
            level: Level::ExitCode,
            green: true,
            why: String::new(),
            hint: None,
            flags: vec![
                "no count: unknown".to_owned(),
                "new tests ran: a".to_owned(),
            ],
            output: String::new(),
        };
        assert_eq!(
            report.lines(),
            [
                "green, exit code 0, no count of tests",
                "level 0: an exit code in the agent's own tree",
                "new tests ran: a"
            ]
        );
        let one = GateReport {
            tests: Some(1),
            ..report
        };
        assert!(one.lines()[0].ends_with("1 test"));
    }
}
