//! The Test Anything Protocol, versions 12 to 14. Tests below other tests, which
//! are indented, belong to their parent and are not counted.

use super::runners::{Tally, TestResult};

/// Reads TAP; `None` for a text without a plan.
pub(super) fn read(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut planned = None;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(plan) = plan(line) {
            planned = Some(plan);
        } else if line.starts_with("Bail out!") {
            tally.failed += 1;
        } else if let Some((result, name)) = point(line) {
            tally.add(result, name);
        }
    }
    let planned: u64 = planned?;
    let seen = tally.passed + tally.failed + tally.skipped;
    // A plan alone is a line that any program can print.
    if seen == 0 && planned > 0 && !text.starts_with("TAP version ") {
        return None;
    }
    // Planned tests that never came have not passed.
    tally.failed = tally.failed.saturating_add(planned.saturating_sub(seen));
    Some(tally)
}

/// `1..5`, perhaps with a comment.
fn plan(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("1..")?;
    let (number, comment) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_plan = comment.is_empty() || comment.starts_with('#');
    number.parse().ok().filter(|_| is_plan)
}

/// `ok 3 - it works`, `not ok 4 - later # TODO`.
fn point(line: &str) -> Option<(TestResult, &str)> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    // A word such as `okay` is none.
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let (text, directive) = match rest.split_once(" # ") {
        Some((text, directive)) => (text, directive.to_ascii_lowercase()),
        None => (rest, String::new()),
    };
    let text = text.trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = text[digits..].trim_start();
    let name = after.strip_prefix("- ").unwrap_or(after);
    let result = match is_ok {
        _ if directive.starts_with("skip") || directive.starts_with("todo") => TestResult::Skipped,
        true => TestResult::Passed,
        false => TestResult::Failed,
    };
    // A test without a description is known by its number.
    Some((
        result,
        if name.is_empty() {
            &text[..digits]
        } else {
            name
        },
    ))
}
