//! Constructions in a gate script that lose an exit code.

mod shell;

use serde::Serialize;
use shell::{Command, Joint, commands};

/// One place where an exit code is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line of the script, from 1.
    pub line: usize,
    /// What is wrong there, and what to do.
    pub what: String,
}

/// Looks for constructions in a shell script that lose an exit code: `| tee`
/// without pipefail, `|| true`, and a success at the end whatever came before.
///
/// Words in comments, quotes and here-documents are no commands.
#[must_use]
pub fn lint_script(script: &str) -> Vec<Finding> {
    let first = script.lines().next().unwrap_or_default();
    let mut options = Options::default();
    if let Some(interpreter) = first.strip_prefix("#!") {
        options.add(interpreter.split_whitespace().skip(1));
    }
    lint(script, options)
}

/// Looks through the script in a gate's command, such as that of `bash -c`.
#[must_use]
pub fn lint_argv(argv: &[String]) -> Vec<Finding> {
    let Some((program, arguments)) = argv.split_first() else {
        return Vec::new();
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    if !matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash") {
        return Vec::new();
    }
    let is_script =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let Some(at) = arguments.iter().position(is_script) else {
        return Vec::new();
    };
    let mut options = Options::default();
    options.add(arguments[..=at].iter().map(String::as_str));
    arguments
        .get(at + 1)
        .map_or_else(Vec::new, |script| lint(script, options))
}

/// The options that decide what an exit code of a part does to the whole.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    /// A pipeline fails when any part of it does.
    pipefail: bool,
    /// A failure ends the script.
    errexit: bool,
}

impl Options {
    fn add<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        let mut turns_on = None;
        for word in words {
            if let Some(name_follows) = turns_on.take() {
                match word {
                    "pipefail" => self.pipefail = name_follows,
                    "errexit" => self.errexit = name_follows,
                    _ => {}
                }
                continue;
            }
            let on = word.starts_with('-');
            let Some(letters) = word.strip_prefix(['-', '+']) else {
                continue;
            };
            if letters.contains('e') && !letters.starts_with('-') {
                self.errexit = on;
            }
            if letters.ends_with('o') {
                turns_on = Some(on);
            }
        }
    }
}

fn lint(script: &str, mut options: Options) -> Vec<Finding> {
    let commands = commands(script);
    let mut findings = Vec::new();
    for command in &commands {
        if command.name() == "set" {
            options.add(command.words.iter().skip(1).map(String::as_str));
        }
        if let Some(what) = lost(command, options) {
            findings.push(Finding {
                line: command.line,
                what,
            });
        }
    }
    if let [.., before, last] = &commands[..]
        && last.joint == Joint::Next
        && succeeds(last)
        && !options.errexit
        && !matches!(before.name(), "exit" | "exec")
    {
        findings.push(Finding {
            line: last.line,
            what: format!(
                "`{}` at the end makes the gate green whatever failed before; take it out, or \
                 start with `set -e`",
                last.words.join(" ")
            ),
        });
    }
    findings
}

fn lost(command: &Command, options: Options) -> Option<String> {
    match command.joint {
        Joint::Pipe if command.name() == "tee" && !options.pipefail => Some(
            "`| tee` hides the exit code of what is before it; add `set -o pipefail` (bash)"
                .to_owned(),
        ),
        Joint::Or if succeeds(command) => Some(format!(
            "`|| {}` makes a failure a success; take it out unless it does not matter to the check",
            command.words.join(" ")
        )),
        _ => None,
    }
}

/// Whether a command does nothing but succeed.
fn succeeds(command: &Command) -> bool {
    let words: Vec<_> = command.words.iter().map(String::as_str).collect();
    matches!(words[..], ["true" | ":"] | ["exit" | "return", "0"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(script: &str) -> Vec<usize> {
        lint_script(script)
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    // rows: D-13
    // cases: 56
    #[test]
    fn lost_exit_codes_are_found_by_line() {
        for (script, found) in [
            ("cargo test | tee log\n", &[1][..]),
            ("#!/bin/sh\ncargo test 2>&1 |tee log", &[2]),
            ("cargo test |& tee log", &[1]),
            ("cargo test |\n  tee log", &[2]),
            ("cargo test || true", &[1]),
            ("cargo test ||true\ncargo fmt || :", &[1, 2]),
            ("cargo test || exit 0", &[1]),
            ("cargo test; true", &[1]),
            ("cargo test\nexit 0\n", &[2]),
            ("cargo test\n\n# done\n:\n", &[4]),
            ("(cargo test || true) && echo ok", &[1]),
            ("set +e\ncargo test\nexit 0", &[3]),
            ("set -eo pipefail\nset +o pipefail\na | tee b", &[3]),
        ] {
            assert_eq!(lines(script), found, "{script:?}");
        }
    }

    // rows: D-13
    // cases: 56
    #[test]
    fn what_loses_nothing_is_no_finding() {
        for script in [
            "set -o pipefail\ncargo test | tee log\n",
            "set -euo pipefail\ncargo test | tee log\nexit 0\n",
            "#!/bin/bash -e\ncargo test\ntrue\n",
            "# cargo test || true\ncargo test\n",
            "echo 'a || true'\necho \"b | tee c; true\"\nfalse",
            "echo a\\|\\| true b",
            "cat <<EOF\nx || true\nexit 0\nEOF\nfalse",
            "cat <<-'END' > f\n\ty | tee z\n\tEND\nfalse",
            "cargo test && exit 0\nexit 1",
            "if cargo test; then exit 0; fi\nexit 1",
            "case $x in a) true ;; esac\nfalse",
            "exit 0",
            "true",
            "",
            "x=$(a || true)\nfalse",
            "echo ${#x} a#b\nfalse",
            "teeth | teepee",
        ] {
            assert_eq!(lines(script), [0; 0], "{script:?}");
        }
    }

    // rows: D-13
    // cases: 56
    #[test]
    fn the_script_in_a_command_is_looked_through_too() {
        let found = |argv: &[&str]| {
            let argv: Vec<_> = argv.iter().map(ToString::to_string).collect();
            lint_argv(&argv).len()
        };
        assert_eq!(found(&["bash", "-c", "a | tee b"]), 1);
        assert_eq!(found(&["/bin/sh", "-ec", "a\nexit 0"]), 0);
        assert_eq!(found(&["bash", "-o", "pipefail", "-c", "a | tee b"]), 0);
        assert_eq!(found(&["bash", "-c", "a || true", "x"]), 1);
        assert_eq!(found(&["cargo", "test", "-c", "a || true"]), 0);
        assert_eq!(found(&["bash", "verify.sh"]), 0);
        assert_eq!(found(&[]), 0);
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_through(script in "[a-z |&;()<>'\"\\\\#$\n{}-]{0,80}") {
            let lines = script.lines().count().max(1);
            for finding in lint_script(&script) {
                prop_assert!((1..=lines + 1).contains(&finding.line));
            }
        }
    }
}
