//! Values that stand in a line of their own.

use crate::text::{cut, without_controls};

/// The most characters of a value; a line of a person's file, not a log.
const MAX_LINE: usize = 2_000;

/// Puts a text that others wrote into one line, with nothing in it that a
/// terminal acts on, so that it cannot pass for another line of the file.
pub(super) fn line(text: &str) -> String {
    let clean = without_controls(text);
    let words: Vec<_> = clean.split_whitespace().collect();
    cut(&words.join(" "), MAX_LINE)
}

/// Returns the line, or `-` when there is nothing.
pub(super) fn or_dash(text: &str) -> String {
    match line(text) {
        empty if empty.is_empty() => "-".to_owned(),
        line => line,
    }
}
