//! Red before green: what a gate says before any work.

use super::judge::{GateEnd, GateReport, GateRun};
use super::unbuilt::unbuilt;
use crate::text::{cut, without_controls};

/// The line by which the shipped gate script says that nobody has written it.
pub const UNWRITTEN: &str = "# loop:unwritten";

/// What a gate that was run before any work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// It fails, as it should. When something did not build, that is said: a
    /// test for a function that does not exist yet may be just that, so it
    /// counts, but a person has to see it.
    Red {
        /// The line that says that something did not build.
        unbuilt: Option<String>,
    },
    /// It is green: there is nothing to do, or it measures nothing.
    Green,
    /// It fails for a reason that no work can mend.
    Broken {
        /// Why, in one line.
        why: String,
    },
    /// Nobody has written it: it is the shipped default.
    Unwritten,
    /// It did not say the same twice.
    Flaky {
        /// The two exit codes, in one line.
        why: String,
    },
}

/// Tells whether a gate script is the shipped default, which is red for the
/// wrong reason (row G-13).
#[must_use]
pub fn is_unwritten(script: &str) -> bool {
    script.lines().any(|line| line.trim() == UNWRITTEN)
}

/// Classifies a run before any work, and the second one that a red gate gets.
///
/// Not red are (issue and row G-12): exit codes 126 and 127, a syntax error, a
/// missing file, a time-out, a signal. A build error is red and said so: in a
/// compiled language the test of a missing function does not compile, and no
/// text tells it from a mistake in the test.
#[must_use]
pub fn classify(run: &GateRun<'_>, report: &GateReport, second: Option<&GateReport>) -> Start {
    if let Some(second) = second
        && second.green != report.green
    {
        return Start::Flaky {
            why: format!(
                "the gate is {} with exit code {}, and then {} with {}",
                color(report),
                report.exit,
                color(second),
                second.exit
            ),
        };
    }
    let broken = |why: String| Start::Broken { why };
    match run.end {
        GateEnd::TimedOut => broken("the gate took too long (exit code 124)".to_owned()),
        GateEnd::Signaled(signal) => broken(format!("the gate was killed by signal {signal}")),
        GateEnd::Exited(124) => broken("the gate took too long (exit code 124)".to_owned()),
        GateEnd::Exited(126) => broken("the gate cannot be executed (exit code 126)".to_owned()),
        GateEnd::Exited(127) => {
            broken("a command of the gate is missing (exit code 127)".to_owned())
        }
        GateEnd::Exited(0) if report.green => Start::Green,
        GateEnd::Exited(0) if swallows(run) => broken(report.why.clone()),
        GateEnd::Exited(_) => match fault(run.output) {
            Some(line) => broken(format!("the gate cannot run: {line}")),
            None => Start::Red {
                unbuilt: unbuilt(run.output),
            },
        },
    }
}

/// Whether a gate that exited with 0 hides that something failed. Too few tests
/// hide nothing: the work is to write more.
fn swallows(run: &GateRun<'_>) -> bool {
    unbuilt(run.output).is_some() || run.tests().is_some_and(|tests| tests.failed > 0)
}

fn color(report: &GateReport) -> &'static str {
    if report.green { "green" } else { "red" }
}

/// Finds the line in which the interpreter of the gate's script, or its runner,
/// says that it never got to work.
fn fault(output: &str) -> Option<String> {
    let last = output.lines().rev().filter(|line| !line.trim().is_empty());
    // An interpreter that gives up says so last; a test's output comes before.
    last.take(5)
        .map(without_controls)
        .find(|line| is_fault(line))
        .map(|line| cut(line.trim(), 160))
}

fn is_fault(line: &str) -> bool {
    let said_by = |what: &str| {
        line.split_once(what)
            .is_some_and(|(who, _)| !who.is_empty() && is_speaker(who))
    };
    said_by(": syntax error")
        || said_by(": Syntax error:")
        // Line 0 is the script itself; elsewhere a redirection reads the work.
        || said_by(": 0: cannot open ")
        || said_by(": can't open file ")
        // unittest, of a folder that is not there or is no package
        || line.starts_with("ImportError: Start directory is not importable: ")
        || line.starts_with("ERROR: file or directory not found: ")
        || line.starts_with("ERROR: not found: ")
        || line.starts_with("make: *** No rule to make target")
        || line.starts_with("make: *** No targets specified")
        || line.starts_with("npm error Missing script:")
        || line.starts_with("npm ERR! Missing script:")
        || line.starts_with("error: no test target named")
        || line.starts_with("error: could not find `Cargo.toml`")
        || line.starts_with("Error: Cannot find module ")
}

/// Whether a line begins like a message of a shell or an interpreter:
/// `scripts/verify.sh: line 3`, `sh: 1`, `python3`.
fn is_speaker(who: &str) -> bool {
    let mut parts = who.split(": ");
    let name = parts.next().unwrap_or_default();
    let place = |part: &str| {
        let part = part.strip_prefix("line ").unwrap_or(part);
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let rest: Vec<_> = parts.collect();
    !name.contains(char::is_whitespace) && rest.iter().all(|part| place(part) || *part == "-c")
}
