//! Which tests were executed, by the word of the test runner.
//!
//! Only a runner's own summary is believed, never a number in somebody's prose,
//! and what no runner summed up has no count: that is "unknown", not zero.

mod cargo;
mod go;
mod nextest;
mod pytest;

use super::{junit, mask, tap};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The program whose summary was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestRunner {
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
    /// `pytest`.
    Pytest,
    /// `go test`, with `-v` or `-json`.
    Go,
    /// Anything that prints or writes TAP.
    Tap,
    /// Anything that writes JUnit XML.
    Junit,
    /// More than one of these.
    Several,
}

/// What a test runner said of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// Who said it.
    pub runner: TestRunner,
    /// Tests that ran and passed.
    pub passed: u64,
    /// Tests that ran and failed.
    pub failed: u64,
    /// Tests that did not run, or whose failure was declared beforehand.
    pub skipped: u64,
    /// The names of the tests that ran, passed or not; `None` unless all are known.
    pub names: Option<BTreeSet<String>>,
}

/// Tells why a report file says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportFault {
    /// It is neither JUnit XML nor TAP.
    #[error("is neither JUnit XML nor TAP")]
    Unknown,
    /// It starts as JUnit XML, and is none.
    #[error("is not well-formed XML at byte {at}: {what}")]
    Xml {
        /// The offset in bytes.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
}

impl TestReport {
    /// Returns the number of tests that ran, passed or not.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

/// Reads what test runners printed; `None` when none of the known ones did, or
/// when they printed too little to count.
#[must_use]
pub fn read_tests(output: &str) -> Option<TestReport> {
    let text = crate::text::without_controls(output);
    let found = [
        (TestRunner::Cargo, cargo::read(&text)),
        (TestRunner::Nextest, nextest::read(&text)),
        (TestRunner::Pytest, pytest::read(&text)),
        (TestRunner::Go, go::read(&text)),
        (TestRunner::Tap, tap::read(&text)),
    ];
    let tallies = found
        .into_iter()
        .filter_map(|(runner, tally)| Some(tally?.report(runner)));
    tallies.reduce(merge)
}

/// Reads a report file: JUnit XML or TAP.
///
/// # Errors
///
/// [`ReportFault`] when it is neither, or is damaged. An entity of its own
/// makes a report unreadable; nothing is ever expanded.
pub fn read_report(bytes: &[u8]) -> Result<TestReport, ReportFault> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') {
        return Ok(junit::read(text)?.report(TestRunner::Junit));
    }
    let text = crate::text::without_controls(text);
    let tally = tap::read(&text).ok_or(ReportFault::Unknown)?;
    Ok(tally.report(TestRunner::Tap))
}

fn merge(one: TestReport, other: TestReport) -> TestReport {
    TestReport {
        runner: TestRunner::Several,
        passed: one.passed.saturating_add(other.passed),
        failed: one.failed.saturating_add(other.failed),
        skipped: one.skipped.saturating_add(other.skipped),
        names: one.names.zip(other.names).map(|(mut names, others)| {
            names.extend(others);
            names
        }),
    }
}

/// Counts while an output is read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) names: BTreeSet<String>,
    /// How often a name of an executed test was read; a name can come twice.
    pub(super) named: u64,
}

impl Tally {
    /// Notes the name of a test that ran. Some runners put its duration into it.
    pub(super) fn name(&mut self, name: impl Into<String>) {
        self.named += 1;
        self.names.insert(mask(&name.into(), &[]));
    }

    /// Adds a test that was named together with its result.
    pub(super) fn add(&mut self, result: TestResult, name: impl Into<String>) {
        let counter = match result {
            TestResult::Passed => &mut self.passed,
            TestResult::Failed => &mut self.failed,
            TestResult::Skipped => &mut self.skipped,
        };
        *counter += 1;
        if result != TestResult::Skipped {
            self.name(name);
        }
    }

    fn report(self, runner: TestRunner) -> TestReport {
        let executed = self.passed.saturating_add(self.failed);
        TestReport {
            runner,
            passed: self.passed,
            failed: self.failed,
            skipped: self.skipped,
            // A part of the names would look like tests that are gone.
            names: (self.named == executed).then_some(self.names),
        }
    }
}

/// What became of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestResult {
    Passed,
    Failed,
    Skipped,
}

/// Splits `12 passed` into the number and the word.
fn counted(part: &str) -> Option<(u64, &str)> {
    let (number, word) = part.trim().split_once(' ')?;
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_plain)?, word.trim()))
}

#[cfg(test)]
#[path = "runners/table.rs"]
mod table;
