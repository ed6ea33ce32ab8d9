//! Text helpers that every reader of an agent's output shares.

use std::borrow::Cow;

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

/// Returns a JSON text in which each escape of half a character, as in `"\ud83d"` with nothing
/// behind it, is one of U+FFFD. JavaScript writes such halves where it has cut a text, and a
/// strict reader refuses all of the text for one.
pub(crate) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(backslash) = json[at..].find('\\').map(|offset| at + offset) {
        let next = code_unit(&json[backslash..]).map(|_| &json[backslash + UNIT..]);
        at = match (code_unit(&json[backslash..]), next.and_then(code_unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => backslash + 2 * UNIT,
            (Some(0xd800..=0xdfff), _) => {
                whole += &json[kept..backslash];
                whole += "\\ufffd";
                kept = backslash + UNIT;
                kept
            }
            // What an escape escapes is passed over: it can be a backslash.
            _ => json.ceil_char_boundary(backslash + 2),
        };
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    whole += &json[kept..];
    Cow::Owned(whole)
}

/// The length of `\u0041`.
const UNIT: usize = 6;

/// Reads the UTF-16 unit that a text starts with, in the form of an escape.
fn code_unit(json: &str) -> Option<u16> {
    let digits = json.get(..UNIT)?.strip_prefix("\\u")?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
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

    #[test]
    fn half_a_character_is_replaced_and_nothing_else_is_touched() {
        for (json, whole) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00\ud83d\uD83Dx""#, r#""\ufffd\ufffd\ufffdx""#),
            (
                r#"{"\ud83d\ude00":"\ud83d\u0041"}"#,
                r#"{"\ud83d\ude00":"\ufffd\u0041"}"#,
            ),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\ud83\ud83d\"#, r#""\ud83\ufffd\"#),
            (r#""\u+83d é\é""#, r#""\u+83d é\é""#),
        ] {
            assert_eq!(without_lone_surrogates(json), whole);
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
