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
    /// Returns the level that a gate can reach as it is configured. Which tests
    /// have to run is known only when it was run before the work.
    #[must_use]
    pub fn within_reach(gate: &Gate, must_start_red: bool) -> Self {
        let clean = gate.place() == GatePlace::Clean;
        let has_baseline = must_start_red && !gate.frozen().is_empty();
        match (&gate.overlay, clean, has_baseline) {
            (Some(_), _, _) => Self::Unseen,
            (None, true, _) => Self::Clean,
            (None, false, true) => Self::SameTests,
            (None, false, false) => Self::ExitCode,
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
        for (gate, level) in [
            (r#"{"command": ["x"]}"#, Level::ExitCode),
            (
                r#"{"command": ["x"], "frozen": ["tests"]}"#,
                Level::SameTests,
            ),
            (r#"{"command": ["x"], "where": "clean"}"#, Level::Clean),
            (r#"{"command": ["x"], "overlay": "/hidden"}"#, Level::Unseen),
        ] {
            let text = format!(r#"{{"name": "l", "roles": {{}}, "gate": {gate}}}"#);
            let config = Config::parse(&text).unwrap().config;
            let reach = |red| Level::within_reach(config.gate().unwrap(), red);
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
