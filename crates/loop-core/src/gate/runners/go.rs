//! `go test`, with `-v` or `-json`. Without either it names only packages, so
//! there is no count.

use super::{Tally, TestResult};
use serde::Deserialize;
use std::borrow::Cow;

/// Reads the results; `None` when there are none.
pub(super) fn read(text: &str) -> Option<Tally> {
    from_json(text).or_else(|| from_lines(text))
}

/// One event of `go test -json`.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "Action", borrow)]
    action: Cow<'a, str>,
    #[serde(rename = "Package", borrow, default)]
    package: Cow<'a, str>,
    #[serde(rename = "Test", borrow)]
    test: Option<Cow<'a, str>>,
}

fn from_json(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut has_package = false;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let Ok(event) = serde_json::from_str::<Event<'_>>(line) else {
            continue;
        };
        let result = match &*event.action {
            "pass" => TestResult::Passed,
            "fail" => TestResult::Failed,
            "skip" => TestResult::Skipped,
            _ => continue,
        };
        match event.test {
            Some(test) => tally.add(result, format!("{}.{test}", event.package)),
            None => has_package |= !event.package.is_empty(),
        }
    }
    has_package.then_some(tally)
}

fn from_lines(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let (mut is_verbose, mut packages, mut empty) = (false, 0_u32, 0_u32);
    for line in text.lines() {
        is_verbose |= line.starts_with("=== RUN ");
        if is_package(line) {
            packages += 1;
            empty += u32::from(line.ends_with("[no tests to run]"));
        } else if line.starts_with("?   \t") && line.ends_with("[no test files]") {
            packages += 1;
            empty += 1;
        } else if let Some((result, name)) = one(line) {
            tally.add(result, name);
        }
    }
    let is_counted = packages > 0 && (is_verbose || packages == empty);
    is_counted.then_some(tally)
}

/// `ok` or `FAIL`, and with tabs between them the package and the time.
fn is_package(line: &str) -> bool {
    line.starts_with("ok  \t") || line.starts_with("FAIL\t")
}

/// `--- PASS: TestA/sub (0.00s)`, indented below its parent.
fn one(line: &str) -> Option<(TestResult, &str)> {
    let rest = line.trim_start_matches(' ').strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let name = rest.split(" (").next()?;
    let result = match word {
        "PASS" => TestResult::Passed,
        "FAIL" => TestResult::Failed,
        "SKIP" => TestResult::Skipped,
        _ => return None,
    };
    Some((result, name))
}
