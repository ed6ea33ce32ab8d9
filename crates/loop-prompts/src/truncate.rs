//! Cuts a value down to its limit, at a character and never inside one.

use std::borrow::Cow;

/// How many characters count as one token.
pub const CHARS_PER_TOKEN: usize = 4;

/// What is put after a value that was cut.
pub const TRUNCATION_MARKER: &str = " ...[truncated]";

/// How much of a value was kept, in characters (Unicode scalar values).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Characters kept, without the marker.
    pub kept: usize,
    /// Characters left out.
    pub dropped: usize,
}

/// Cuts `text` to `max_tokens` tokens and says by how much.
///
/// A text within the limit comes back as it is, without a copy. A longer one keeps
/// its first `4 * max_tokens` characters, followed by [`TRUNCATION_MARKER`], which
/// does not count against the limit. Cutting twice is the same as cutting once.
///
/// ```
/// use loop_prompts::truncate;
///
/// let (text, cut) = truncate("twelve chars", 2);
/// assert_eq!(text, "twelve c ...[truncated]");
/// assert_eq!(cut.map(|c| c.dropped), Some(4));
/// ```
pub fn truncate<'t>(
    text: impl Into<Cow<'t, str>>,
    max_tokens: usize,
) -> (Cow<'t, str>, Option<Cut>) {
    let text = text.into();
    let kept = max_tokens.saturating_mul(CHARS_PER_TOKEN);
    let Some((end, _)) = text.char_indices().nth(kept) else {
        return (text, None);
    };
    let dropped = text[end..].chars().count();
    let short = [&text[..end], TRUNCATION_MARKER].concat();
    (Cow::Owned(short), Some(Cut { kept, dropped }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, max_tokens: usize) -> String {
        truncate(text, max_tokens).0.into_owned()
    }

    // rows: K-11, K-14, Q-30
    #[test]
    fn short_text_is_unchanged() {
        for text in ["", "abc", "abcdefgh"] {
            let (same, cut) = truncate(text, 2);
            assert!(matches!(same, Cow::Borrowed(t) if t == text));
            assert_eq!(cut, None);
        }
    }

    // rows: K-13, K-16, Q-31
    #[test]
    fn long_text_is_capped_with_the_marker() {
        assert_eq!(cut("abcdefghi", 2), "abcdefgh ...[truncated]");
        assert_eq!(TRUNCATION_MARKER.len(), 15);
        let long = "x".repeat(16_001);
        assert_eq!(cut(&long, 4000).len(), 16_015);
        assert_eq!(
            truncate(&long, 4000).1,
            Some(Cut {
                kept: 16_000,
                dropped: 1
            })
        );
    }

    // rows: K-15, K-19, Q-32
    #[test]
    fn a_limit_of_zero_leaves_the_marker_only() {
        assert_eq!(cut("a", 0), TRUNCATION_MARKER);
        assert_eq!(cut("", 0), "");
    }

    // rows: K-17; cases: 65
    #[test]
    fn characters_count_not_bytes() {
        let long = "é".repeat(16_001);
        assert_eq!(cut(&long, 4000), "é".repeat(16_000) + TRUNCATION_MARKER);
        let at_the_edge = "aaa\u{1f6e1}";
        assert_eq!(cut(at_the_edge, 1), at_the_edge);
        assert_eq!(cut("aaaa\u{1f6e1}", 1), "aaaa ...[truncated]");
    }

    #[test]
    fn an_enormous_limit_does_not_overflow() {
        assert_eq!(cut("abc", usize::MAX), "abc");
    }
}
