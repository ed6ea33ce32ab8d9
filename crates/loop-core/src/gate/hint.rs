//! What the next attempt is told of a gate that is not green.

use crate::text::without_controls;

/// The most lines of output in a hint.
const LINES: usize = 60;
/// The most characters of output in a hint.
const CHARACTERS: usize = 3000;

/// Returns the hint of a red gate (decision D-13): its exit code and the last 60
/// lines of its output, at most 3,000 characters, without control sequences.
#[must_use]
pub fn red_hint(exit: i32, output: &str) -> String {
    with_tail(
        &format!("The acceptance gate failed with exit code {exit}."),
        output,
    )
}

/// Returns the hint of a gate whose exit code of 0 is not believed.
pub(super) fn unbelieved_hint(why: &str, output: &str) -> String {
    let mut characters = why.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    let text = first.unwrap_or_default() + characters.as_str();
    with_tail(
        &format!("The acceptance gate is not green. {text}."),
        output,
    )
}

fn with_tail(first: &str, output: &str) -> String {
    let tail = tail(output);
    if tail.is_empty() {
        first.to_owned()
    } else {
        format!("{first}\n\n{tail}")
    }
}

/// The last lines of an output, whole ones as far as they fit.
fn tail(output: &str) -> String {
    let text = without_controls(output);
    let text = text.trim_end();
    let lines: Vec<_> = text.lines().rev().take(LINES).collect();
    let joined: Vec<_> = lines.into_iter().rev().collect();
    let joined = joined.join("\n");
    let excess = joined.chars().count().saturating_sub(CHARACTERS);
    match joined.char_indices().nth(excess) {
        Some((at, _)) if excess > 0 => {
            // Half a line misleads, unless there is only that line.
            let rest = &joined[at..];
            let whole = rest.split_once('\n').map_or(rest, |(_, whole)| whole);
            whole.to_owned()
        }
        _ => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // rows: D-13
    // cases: 65
    #[test]
    fn a_red_gate_is_told_by_its_code_and_its_last_lines() {
        assert_eq!(
            red_hint(2, ""),
            "The acceptance gate failed with exit code 2."
        );
        let output: String = (0..100).map(|n| format!("line {n}\r\n")).collect();
        let hint = red_hint(1, &output);
        let lines: Vec<_> = hint.lines().collect();
        assert_eq!(lines[0], "The acceptance gate failed with exit code 1.");
        assert_eq!((lines[1], lines[2]), ("", "line 40"));
        assert_eq!(lines.last(), Some(&"line 99"));
        assert_eq!(
            red_hint(1, "\u{1b}[31mred\u{1b}[0m\u{7}\n").lines().last(),
            Some("red")
        );
        let long = format!("first\n{}\nlast", "🛡".repeat(2_990));
        assert!(
            red_hint(1, &long).ends_with("code 1.\n\nlast") || red_hint(1, &long).contains('🛡')
        );
    }

    proptest! {
        // cases: 65
        #[test]
        fn a_hint_is_bounded_and_has_no_control_characters(output in any::<String>(), exit in any::<i32>()) {
            let long = output.repeat(20);
            let hint = red_hint(exit, &long);
            let first = format!("The acceptance gate failed with exit code {exit}.");
            prop_assert!(hint.starts_with(&first));
            let tail = hint[first.len()..].trim_start_matches('\n');
            prop_assert!(tail.chars().count() <= CHARACTERS);
            prop_assert!(tail.lines().count() <= LINES);
            prop_assert!(!hint.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
