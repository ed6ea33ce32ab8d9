//! Text helpers that every reader of an agent's output shares.

/// What stands at the end of text that was cut (the seeds' marker).
pub const TRUNCATED: &str = " ...[truncated]";

/// Returns the first `limit` characters of `text`, with [`TRUNCATED`] behind
/// them when anything was cut. Never splits a character.
#[must_use]
pub fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}{TRUNCATED}", &text[..end]),
        None => text.to_owned(),
    }
}

/// Says how many there are of something: `1 file`, `2 files`.
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// Removes what a terminal would act on: escape sequences, and control
/// characters other than tab and newline. A carriage return goes too.
#[must_use]
pub fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\t' | '\n' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Skips the rest of an escape sequence: CSI up to its final byte, OSC and the
/// other strings up to BEL or ST, anything else one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next_if(|c| !c.is_control()) {
        Some('[') => {
            while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            let _final = chars.next_if(|c| matches!(c, '@'..='~'));
        }
        Some(']' | 'P' | '^' | '_' | 'X') => {
            // A string that never ends must not eat the text: stop at a line's end.
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{7}' || c == '\u{9c}' {
                    break;
                }
                if c == '\u{1b}' {
                    let _st = chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        _ => {}
    }
}

/// Returns the last line of `text` that is not blank, without its end.
#[must_use]
pub fn last_line(text: &str) -> Option<&str> {
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // cases: 65
    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("aé🛡b", 3), format!("aé🛡{TRUNCATED}"));
        assert_eq!(cut("aé🛡b", 4), "aé🛡b");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("x", 0), TRUNCATED);
    }

    #[test]
    fn escapes_and_controls_go_and_text_stays() {
        for (raw, shown) in [
            ("\u{1b}[0m\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("a\u{8}b\rc\u{0}\td\n", "abc\td\n"),
            ("\u{1b}]never ends\nnext", "\nnext"),
            ("\u{9b}31m", "31m"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(without_controls(raw), shown, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_a_terminal_acts_on_is_left(text in any::<String>()) {
            let shown = without_controls(&text);
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(without_controls(&shown), shown);
        }
    }
}
