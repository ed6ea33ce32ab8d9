//! Green or not, how far that can be trusted, and why.

use super::baseline::Baseline;
use super::hint::{red_hint, unbelieved_hint};
use super::level::Level;
use super::runners::{TestReport, read_tests};
use super::unbuilt::{missing_command, ran_nothing, unbuilt};
use crate::config::GatePlace;
use serde::{Deserialize, Serialize};

/// The exit code that stands for a gate that took too long, as `timeout` has it.
const TIMED_OUT: i32 = 124;
/// How many names of tests are spelled out in a line.
const NAMED: usize = 5;

/// How the gate's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateEnd {
    /// It exited with this code.
    Exited(i32),
    /// This signal, which was not the engine's, ended it.
    Signaled(i32),
    /// It took too long.
    TimedOut,
}

impl GateEnd {
    /// Returns the exit code, as a shell would have it: 124 for a gate that took
    /// too long, 128 and the number for a signal.
    #[must_use]
    pub fn exit(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128_i32.saturating_add(signal),
            Self::TimedOut => TIMED_OUT,
        }
    }
}

/// What became of the report file that the gate is to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportFile {
    /// The configuration names none; what the gate printed is read instead.
    NotAsked,
    /// This run wrote it.
    Read(TestReport),
    /// It is missing, older than the run, or cannot be read; in words.
    Unusable(String),
}

/// One run of the gate.
#[derive(Clone, Debug)]
pub struct GateRun<'a> {
    /// How it ended.
    pub end: GateEnd,
    /// What it printed, both streams in their order.
    pub output: &'a str,
    /// SHA-256 of the [masked](super::mask()) output, in hexadecimal digits.
    pub output_sha256: String,
    /// The report file.
    pub report: ReportFile,
}

impl GateRun<'_> {
    /// Returns what is known of the tests: from the report file if there is to
    /// be one, else from the output.
    #[must_use]
    pub fn tests(&self) -> Option<TestReport> {
        match &self.report {
            ReportFile::NotAsked => read_tests(self.output),
            ReportFile::Read(report) => Some(report.clone()),
            ReportFile::Unusable(_) => None,
        }
    }
}

/// What a run is measured by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected<'a> {
    /// The fewest tests that have to have run.
    pub min_tests: Option<u32>,
    /// What ran before the work; `None` when nothing was recorded.
    pub baseline: Option<&'a Baseline>,
    /// Where the gate ran.
    pub place: GatePlace,
    /// Whether at least one file that judges the work is frozen, and is as it was.
    pub frozen: bool,
    /// Whether files that the agent never saw were laid over the checkout.
    pub overlay: bool,
}

impl Expected<'_> {
    /// Returns how far a run can be trusted in which these tests ran.
    ///
    /// New tests beside the frozen ones take nothing away from it: all that were
    /// frozen ran.
    #[must_use]
    pub fn level(&self, tests: Option<&TestReport>) -> Level {
        let clean = self.place == GatePlace::Clean;
        let before = self.baseline.and_then(|baseline| baseline.names.as_ref());
        let now = tests.and_then(|tests| tests.names.as_ref());
        let same = before
            .zip(now)
            .is_some_and(|(before, now)| !before.is_empty() && before.is_subset(now));
        Level::of(self.overlay, self.frozen, clean, same)
    }
}

/// What a run of the gate says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The exit code; 124 for a gate that took too long.
    pub exit: i32,
    /// How many tests ran; null when nobody can tell.
    pub tests: Option<u64>,
    /// How far it can be trusted.
    pub level: Level,
    /// Whether the work is accepted.
    pub green: bool,
    /// Why, in one line.
    pub why: String,
    /// What the next attempt is told; null for a green gate.
    pub hint: Option<String>,
    /// What a person should know besides, a line each.
    pub flags: Vec<String>,
    /// SHA-256 of the output without durations and temporary paths.
    pub output: String,
}

impl GateReport {
    /// Takes back a green for a reason that the run itself does not show; a red
    /// gate stays as it is. `output` is what the run printed.
    #[must_use]
    pub fn refused(mut self, why: String, output: &str) -> Self {
        if self.green {
            self.green = false;
            self.hint = Some(unbelieved_hint(&why, output));
            self.why = why;
        } else {
            self.flags.push(why);
        }
        self
    }
}

/// Judges a run. Only an exit code of 0 can be green, and not every one is:
/// what the gate itself reports has to agree.
#[must_use]
pub fn judge(run: &GateRun<'_>, expected: &Expected<'_>) -> GateReport {
    let tests = run.tests();
    let objection = match run.end {
        GateEnd::Exited(0) => objection(run, tests.as_ref(), expected),
        _ => None,
    };
    let exit = run.end.exit();
    let hint = match (&objection, exit) {
        (Some(why), _) => Some(unbelieved_hint(why, run.output)),
        (None, 0) => None,
        (None, _) => Some(red_hint(exit, run.output)),
    };
    let green = hint.is_none();
    let executed = tests.as_ref().map(TestReport::executed);
    GateReport {
        exit,
        tests: executed,
        level: expected.level(tests.as_ref()),
        green,
        why: objection.unwrap_or_else(|| outcome(run.end, executed)),
        hint,
        flags: flags(run, tests.as_ref(), expected),
        output: run.output_sha256.clone(),
    }
}

fn outcome(end: GateEnd, tests: Option<u64>) -> String {
    match (end, tests) {
        (GateEnd::Exited(0), Some(1)) => "the gate is green (1 test ran)".to_owned(),
        (GateEnd::Exited(0), Some(tests)) => format!("the gate is green ({tests} tests ran)"),
        (GateEnd::Exited(0), None) => "the gate is green (no count of tests)".to_owned(),
        (GateEnd::Exited(code), _) => format!("the gate failed with exit code {code}"),
        (GateEnd::Signaled(signal), _) => format!("the gate was killed by signal {signal}"),
        (GateEnd::TimedOut, _) => "the gate took too long (exit code 124)".to_owned(),
    }
}

/// Says why an exit code of 0 is not believed.
fn objection(
    run: &GateRun<'_>,
    tests: Option<&TestReport>,
    expected: &Expected<'_>,
) -> Option<String> {
    if let Some(error) = unbuilt(run.output) {
        return Some(format!("the gate exited with 0, but printed: {error}"));
    }
    if let ReportFile::Unusable(what) = &run.report {
        return Some(format!("the gate exited with 0, but its report {what}"));
    }
    let failed = tests.map_or(0, |tests| tests.failed);
    if failed > 0 {
        return Some(format!(
            "the gate exited with 0, but {failed} of its tests failed"
        ));
    }
    let executed = tests.map(TestReport::executed);
    // One stage of several may run nothing; all of them together may not.
    if executed.unwrap_or(0) == 0
        && let Some(line) = ran_nothing(run.output)
    {
        return Some(format!("the gate exited with 0, but printed: {line}"));
    }
    if let Some(min) = expected.min_tests {
        match executed {
            None => {
                return Some(format!(
                    "the gate exited with 0, but how many tests ran is unknown, and gate.min_tests is {min}"
                ));
            }
            Some(ran) if ran < u64::from(min) => {
                return Some(format!(
                    "the gate exited with 0, but only {ran} tests ran, and gate.min_tests is {min}"
                ));
            }
            Some(_) => {}
        }
    }
    let baseline = expected.baseline?;
    if let Some(before) = baseline.tests.filter(|before| *before > 0)
        && executed.unwrap_or(0) == 0
    {
        return Some(format!(
            "the gate exited with 0, but no test is known to have run, and {before} ran before the work"
        ));
    }
    let missing = missing(baseline, tests);
    (!missing.is_empty()).then(|| {
        format!(
            "the gate exited with 0, but tests that ran before the work did not run: {}",
            named(&missing)
        )
    })
}

/// Lists the tests that ran before the work, and now did not.
fn missing<'a>(baseline: &'a Baseline, tests: Option<&TestReport>) -> Vec<&'a str> {
    let (Some(before), Some(tests)) = (&baseline.names, tests) else {
        return Vec::new();
    };
    let is_gone = |name: &&String| match &tests.names {
        Some(now) => !now.contains(*name),
        // Where the names are not known any more, the count has to do.
        None => tests.executed() < before.len() as u64,
    };
    before.iter().filter(is_gone).map(String::as_str).collect()
}

fn flags(run: &GateRun<'_>, tests: Option<&TestReport>, expected: &Expected<'_>) -> Vec<String> {
    let mut flags = Vec::new();
    match tests {
        None => flags.push("no count: the gate's output is of no known test runner".to_owned()),
        Some(tests) if tests.executed() == 0 => flags.push("no test ran".to_owned()),
        Some(_) => {}
    }
    let ran = tests.map(TestReport::executed);
    let before = expected.baseline.and_then(|baseline| baseline.tests);
    if let (Some(ran), Some(before)) = (ran, before)
        && ran < before
    {
        flags.push(format!(
            "fewer tests ran than before the work: {ran} of {before}"
        ));
    }
    if let (Some(before), Some(now)) = (
        expected.baseline.and_then(|b| b.names.as_ref()),
        tests.and_then(|tests| tests.names.as_ref()),
    ) {
        let new: Vec<_> = now.difference(before).map(String::as_str).collect();
        if !new.is_empty() {
            flags.push(format!("new tests ran: {}", named(&new)));
        }
    }
    if run.end != GateEnd::Exited(0)
        && let Some(error) = unbuilt(run.output)
    {
        flags.push(format!("the gate did not build: {error}"));
    }
    flags.extend(missing_command(run.output).map(|line| format!("a command was missing: {line}")));
    flags
}

fn named(names: &[&str]) -> String {
    let mut text = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED {
        text.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    text
}

#[cfg(test)]
#[path = "judge/tests.rs"]
mod tests;
