//! Signs in an output that what should have been tested was never built.
//!
//! A sign counts only where its tool writes it, at the start of a line: the
//! same words inside a line are somebody talking about them.

use crate::text::{cut, without_controls};

/// How much of a line is quoted, in characters.
const QUOTED: usize = 160;

/// Returns the first line that says that something did not compile, or that
/// tests could not be collected.
#[must_use]
pub fn unbuilt(output: &str) -> Option<String> {
    find(output, is_unbuilt)
}

/// Returns the first line in which pytest says that it ran nothing. One of
/// several stages may do so, such as one whose tests are all deselected.
pub(super) fn ran_nothing(output: &str) -> Option<String> {
    find(output, |line| {
        let rest = line.trim_start_matches('=');
        let text = match rest.len() == line.len() {
            true => Some(line),
            false => rest.strip_prefix(' '),
        };
        text.is_some_and(|text| text.starts_with("no tests ran in "))
    })
}

/// Returns the first line in which a shell says that a command was not there.
pub(super) fn missing_command(output: &str) -> Option<String> {
    find(output, |line| {
        let mut parts = line.split(": ");
        let name = parts.next().unwrap_or_default();
        !name.contains(' ') && !name.is_empty() && line.ends_with(": command not found")
    })
}

fn find(output: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    output.lines().find_map(|line| {
        let clean = without_controls(line);
        is_it(clean.trim_end()).then(|| cut(clean.trim(), QUOTED))
    })
}

fn is_unbuilt(line: &str) -> bool {
    let starts = [
        // cargo and rustc
        "error: could not compile",
        "error: aborting due to",
        // pytest
        "ERROR collecting ",
        // unittest
        "ImportError: Failed to import test module",
    ];
    starts.iter().any(|start| line.starts_with(start))
        || is_pytest_rule(line)
        || is_go(line)
        || is_suite(line)
        || is_typescript(line)
        || is_c(line)
}

/// `____ ERROR collecting tests/a.py ____`, `!!! Interrupted: 1 error during
/// collection !!!`.
fn is_pytest_rule(line: &str) -> bool {
    let inside = |fill: char| {
        let inner = line.strip_prefix(fill)?.trim_start_matches(fill);
        inner.strip_prefix(' ')
    };
    inside('_').is_some_and(|text| text.starts_with("ERROR collecting "))
        || inside('!').is_some_and(|text| text.contains("during collection"))
}

/// `FAIL`, a tab, and `example.org/pkg [build failed]`.
fn is_go(line: &str) -> bool {
    line.starts_with("FAIL\t")
        && (line.ends_with(" [build failed]") || line.ends_with(" [setup failed]"))
}

/// `  ● Test suite failed to run`, as jest prints it.
fn is_suite(line: &str) -> bool {
    let text = line.trim_start();
    let text = text.strip_prefix("● ").unwrap_or(text);
    text.starts_with("Test suite failed to run")
}

/// `src/a.ts(1,2): error TS2304: ...` and `src/a.ts:1:2 - error TS2304: ...`.
fn is_typescript(line: &str) -> bool {
    let Some((place, rest)) = line.split_once("error TS") else {
        return false;
    };
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let path = place
        .strip_suffix(": ")
        .or_else(|| place.strip_suffix(" - "));
    digits > 0
        && rest[digits..].starts_with(':')
        && path.is_some_and(|path| {
            is_place(path) && path.ends_with(|c: char| c == ')' || c.is_ascii_digit())
        })
}

/// `a.c:3:9: error: ...` of gcc, clang and javac.
fn is_c(line: &str) -> bool {
    let place = line
        .split_once(": error: ")
        .or_else(|| line.split_once(": fatal error: "))
        .map(|(place, _)| place);
    place.is_some_and(|place| {
        let mut parts = place.split(':');
        let path = parts.next().unwrap_or_default();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let mut numbers = 0;
        let all = parts.all(|part| {
            numbers += 1;
            is_number(part)
        });
        is_place(path) && path.contains('.') && all && numbers > 0
    })
}

fn is_place(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-13
    // cases: 56
    #[test]
    fn a_build_or_collection_error_is_seen_where_its_tool_writes_it() {
        for line in [
            "error: could not compile `app` (lib) due to 1 previous error",
            "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: could not compile `app`",
            "error: aborting due to 2 previous errors",
            "ERROR collecting tests/test_a.py",
            "________ ERROR collecting tests/test_a.py ________",
            "!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!",
            "ImportError: Failed to import test module: test_a",
            "FAIL\texample.org/app [build failed]",
            "FAIL\texample.org/app [setup failed]",
            "  ● Test suite failed to run",
            "src/a.ts(4,7): error TS2304: Cannot find name 'x'.",
            "src/a.ts:4:7 - error TS2304: Cannot find name 'x'.",
            "a.c:3:9: error: expected ';' before 'return'",
            "Main.java:3: error: ';' expected",
            "lib/x.h:1:10: fatal error: y.h: No such file or directory",
        ] {
            let output = format!("starting\n{line}\r\nfinished\n");
            let found = unbuilt(&output);
            assert!(found.is_some(), "{line:?}");
            assert!(output.replace('\u{1b}', "").len() >= found.unwrap().len());
        }
    }

    // rows: D-13
    // cases: 44
    #[test]
    fn talk_about_errors_is_no_error() {
        for line in [
            "the fix for `error: could not compile` is in",
            "  error: could not compile (quoted)",
            "test prints_no_tests_ran ... ok",
            "there were no tests ran in the past",
            "assert message: error: x",
            "warning: unused; see error TS2304 in the docs",
            "see also: error: nothing",
            "INFO 12:30:10: error: retried",
            "ok  \texample.org/app\t0.01s",
            "FAIL\texample.org/app\t0.01s",
            "",
        ] {
            assert_eq!(unbuilt(line), None, "{line:?}");
        }
    }

    // rows: D-13
    // cases: 56
    #[test]
    fn a_stage_that_ran_nothing_is_told_apart() {
        for (line, ran_nothing_in) in [
            ("============ no tests ran in 0.01s ============", true),
            ("no tests ran in 0.00s", true),
            ("there were no tests ran in the past", false),
            ("=no tests ran in 0.00s", false),
        ] {
            assert_eq!(ran_nothing(line).is_some(), ran_nothing_in, "{line}");
            assert_eq!(unbuilt(line), None, "{line}");
        }
    }

    #[test]
    fn a_missing_command_is_told_apart() {
        let output = "x\nscripts/verify.sh: line 3: pytset: command not found\n";
        assert_eq!(
            missing_command(output).as_deref(),
            Some("scripts/verify.sh: line 3: pytset: command not found")
        );
        assert_eq!(missing_command("it said: command not found"), None);
        assert_eq!(unbuilt(output), None);
    }
}
