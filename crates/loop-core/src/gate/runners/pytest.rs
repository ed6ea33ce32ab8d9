//! `pytest`, with and without `-v`, `-q` and `-rA`.

use super::{Tally, counted};

/// The words of a summary, and what they count.
const PASSED: [&str; 2] = ["passed", "xpassed"];
const FAILED: [&str; 4] = ["failed", "error", "errors", "subtests failed"];
const SKIPPED: [&str; 2] = ["skipped", "xfailed"];
const OTHER: [&str; 7] = [
    "deselected",
    "warning",
    "warnings",
    "rerun",
    "reruns",
    "subtests passed",
    "subtests skipped",
];

/// Sums up the summaries; `None` when there is none.
pub(super) fn read(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut names: Vec<&str> = Vec::new();
    let mut has_summary = false;
    for line in text.lines() {
        let line = line.trim_end();
        if summary(line).is_some_and(|counts| add(&mut tally, counts).is_some()) {
            has_summary = true;
        } else if let Some(name) = executed(line) {
            names.push(name);
        }
    }
    // A test that failed is named again below the tests.
    names.sort_unstable();
    names.dedup();
    names.into_iter().for_each(|name| tally.name(name));
    has_summary.then_some(tally)
}

/// The counts in `=== 3 passed, 1 warning in 0.12s ===`, or the same without
/// the rules (`-q`).
fn summary(line: &str) -> Option<&str> {
    let text = match line.strip_prefix("==") {
        Some(rest) => {
            let rest = rest.trim_start_matches('=').strip_prefix(' ')?;
            rest.trim_end_matches('=').strip_suffix(' ')?
        }
        None => line,
    };
    let (counts, time) = text.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    let is_time = seconds.starts_with(|c: char| c.is_ascii_digit())
        && seconds
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_time.then_some(counts)
}

fn add(tally: &mut Tally, counts: &str) -> Option<()> {
    if counts == "no tests ran" {
        return Some(());
    }
    let parts: Option<Vec<_>> = counts.split(", ").map(counted).collect();
    let parts = parts?;
    let known = [&PASSED[..], &FAILED, &SKIPPED, &OTHER].concat();
    if !parts.iter().all(|(_, word)| known.contains(word)) {
        return None;
    }
    for (number, word) in parts {
        let counter = if PASSED.contains(&word) {
            &mut tally.passed
        } else if FAILED.contains(&word) {
            &mut tally.failed
        } else if SKIPPED.contains(&word) {
            &mut tally.skipped
        } else {
            continue;
        };
        *counter = counter.saturating_add(number);
    }
    Some(())
}

/// The name in `tests/a.py::test_x PASSED [ 50%]`, `PASSED tests/a.py::test_x`,
/// or `[gw0] [ 50%] PASSED tests/a.py::test_x`, if the test ran.
fn executed(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("[gw") {
        Some(rest) => rest.split_once("%] ")?.1,
        None => line,
    };
    let words = ["PASSED", "FAILED", "XPASS", "ERROR"];
    let before = words.iter().find_map(|word| {
        let rest = line.strip_prefix(word)?.strip_prefix(' ')?;
        Some(rest.split_once(" - ").map_or(rest, |(name, _)| name))
    });
    let after = || {
        let (name, rest) = line.split_once(' ')?;
        let word = rest.split(' ').next()?;
        words.contains(&word).then_some(name)
    };
    before.or_else(after).filter(|name| name.contains("::"))
}
