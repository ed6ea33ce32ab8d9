//! How wide text is on a terminal, in columns.

use loop_core::text::without_controls;
use unicode_width::UnicodeWidthChar;

/// What stands where text was cut.
const CUT: char = '~';

/// Makes the character before it an emoji, which is two columns wide.
const EMOJI: char = '\u{fe0f}';

/// Returns how many columns a text takes at most. Some terminals join what others
/// show side by side, so this is never too small.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(c: char) -> usize {
    match c {
        EMOJI => 1,
        c => c.width().unwrap_or(0),
    }
}

/// Makes a text into one line of at most `limit` columns. What is cut ends in `~`.
pub(crate) fn fit(text: &str, limit: usize) -> String {
    let clean = without_controls(text).replace(['\t', '\n'], " ");
    if width(&clean) <= limit {
        return clean;
    }
    let mut left = limit.saturating_sub(1);
    let mut kept = String::new();
    for c in clean.chars() {
        let Some(rest) = left.checked_sub(columns(c)) else {
            break;
        };
        left = rest;
        kept.push(c);
    }
    if limit > 0 {
        kept.push(CUT);
    }
    kept
}

/// Fills a text up with spaces to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // cases: 65
    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        for (text, columns) in [
            ("", 0),
            ("fix", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("🛡", 1),
            ("🛡\u{fe0f}", 2),
            ("👍", 2),
            ("\u{200b}", 0),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    // cases: 65
    #[test]
    fn a_cut_never_splits_a_character() {
        for (text, limit, fitted) in [
            ("fix", 3, "fix"),
            ("fixed", 3, "fi~"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本~"),
            ("日本語", 4, "日~"),
            ("fix", 1, "~"),
            ("fix", 0, ""),
            ("a\nb\tc", 9, "a b c"),
            ("\u{1b}[31mred\u{1b}[0m", 3, "red"),
        ] {
            assert_eq!(fit(text, limit), fitted, "{text:?} in {limit}");
        }
        assert_eq!(pad("日", 4), "日  ");
        assert_eq!(pad("long", 2), "long");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_limit(text in any::<String>(), limit in 0_usize..40) {
            let fitted = fit(&text, limit);
            prop_assert!(width(&fitted) <= limit);
            prop_assert!(!fitted.chars().any(char::is_control));
        }
    }
}
