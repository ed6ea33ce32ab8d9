//! Finds what is likely wrong with a prompt before it costs anything.

/// Tells whether a text holds nothing to act on.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}
