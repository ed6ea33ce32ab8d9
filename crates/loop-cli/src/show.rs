//! How facts look: to people, and to programs.

use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
pub(crate) use loop_core::text::counted as count;
use loop_core::text::without_controls;
use serde::Serialize;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Whether facts could not be printed, as on a disk that is full.
static UNSAID: AtomicBool = AtomicBool::new(false);

/// Whether some of the facts did not get to where they were to go.
pub(crate) fn is_unsaid() -> bool {
    UNSAID.load(Ordering::Relaxed)
}

/// Prints a line of facts to standard output. A reader that is gone is no error; of
/// every other the command tells at its end.
pub(crate) fn line(text: impl AsRef<str>) {
    keep(try_line(text));
}

fn keep(printed: io::Result<()>) {
    if printed.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) {
        UNSAID.store(true, Ordering::Relaxed);
    }
}

/// Prints a line of facts to standard output.
///
/// # Errors
///
/// What the system said: as a rule that the reader is gone.
pub(crate) fn try_line(text: impl AsRef<str>) -> io::Result<()> {
    writeln!(anstream::stdout(), "{}", without_controls(text.as_ref()))
}

/// Prints a line about what is going on to standard error.
pub(crate) fn note(text: impl AsRef<str>) {
    let _gone = writeln!(anstream::stderr(), "{}", without_controls(text.as_ref()));
}

/// Prints a warning, in one line.
pub(crate) fn warning(text: &str) {
    let text = one_line(text);
    let _gone = writeln!(anstream::stderr(), "{YELLOW}warning:{YELLOW:#} {text}");
}

/// Prints why a command failed, in one line.
pub(crate) fn error(failure: &Failure) {
    let text = one_line(&failure.to_string());
    let _gone = writeln!(anstream::stderr(), "{RED}error:{RED:#} {text}");
}

/// Prints a heading and its text.
pub(crate) fn field(name: &str, text: impl AsRef<str>) {
    let text = one_line(text.as_ref());
    keep(writeln!(
        anstream::stdout(),
        "{BOLD}{name:<10}{BOLD:#} {text}"
    ));
}

/// Prints exactly one JSON document, on one line.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    line(json_text(value)?);
    Ok(())
}

/// Writes a value as one line of JSON that is safe to show.
pub(crate) fn json_text(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::of(&error))?;
    Ok(escape_controls(&text))
}

/// Escapes the control characters that JSON lets stand and a terminal acts on.
fn escape_controls(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Puts a text into one line without anything that a terminal acts on.
pub(crate) fn one_line(text: &str) -> String {
    let clean = without_controls(text);
    let words: Vec<_> = clean
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    words.join(" ")
}

/// Writes a text as one word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // cases: 58
    #[test]
    fn a_shell_reads_a_quoted_text_as_it_was() {
        for (text, word) in [
            ("loop/fix/fix", "loop/fix/fix"),
            ("a b", "'a b'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }

    #[test]
    fn one_is_no_plural() {
        let told = [0, 1, 2].map(|number| count(number, "file"));
        assert_eq!(told, ["0 files", "1 file", "2 files"]);
    }

    // cases: 115
    #[test]
    fn json_has_no_controls_and_means_the_same() {
        let json = serde_json::to_string("a\u{7f}\u{9b}31m\n").unwrap();
        let escaped = escape_controls(&json);
        assert_eq!(escaped, r#""a\u007f\u009b31m\n""#);
        let back: String = serde_json::from_str(&escaped).unwrap();
        assert_eq!(back, "a\u{7f}\u{9b}31m\n");
    }

    #[test]
    fn one_line_has_no_controls() {
        assert_eq!(one_line("a\n\u{1b}[31m b\r\n\nc"), "a b c");
    }
}
