//! Which lines of "Done when" no check covers.

use super::Plan;
use std::collections::BTreeSet;

/// Returns the acceptance lines that no check of `plan` covers, in their order.
///
/// Lines are compared by their words: upper and lower case, blanks, the mark of
/// a list, Markdown's emphasis and a full stop make no difference.
#[must_use]
pub fn uncovered(lines: &[String], plan: &Plan) -> Vec<String> {
    let covered: BTreeSet<_> = plan.covers.iter().map(|c| words(&c.line)).collect();
    let open = |line: &&String| !covered.contains(&words(line));
    lines.iter().filter(open).cloned().collect()
}

/// Reduces a line to what a planner that repeats it keeps.
fn words(line: &str) -> String {
    let line = unlisted(line.trim());
    let plain = line.replace(['*', '_', '`'], "").to_lowercase();
    let words: Vec<_> = plain.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').trim_end().to_owned()
}

/// Takes the mark of a list and its box away.
fn unlisted(line: &str) -> &str {
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = if unnumbered.len() == line.len() {
        line.strip_prefix(['-', '*', '+'])
    } else {
        unnumbered.strip_prefix(['.', ')'])
    };
    let Some(item) = marked.filter(|item| item.starts_with(char::is_whitespace)) else {
        return line;
    };
    let item = item.trim_start();
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| item.strip_prefix(mark))
        .map_or(item, str::trim_start)
}
