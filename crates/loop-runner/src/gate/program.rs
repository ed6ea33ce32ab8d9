//! Which files a command runs: its program, and the script that this reads.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Programs that take a script as their first argument.
const INTERPRETERS: [&str; 19] = [
    "ash", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "node", "perl", "php", "pwsh",
    "python", "ruby", "Rscript", "sh", "tclsh", "tsx", "zsh",
];
/// Options after which the script is a text of the command itself.
const INLINE: [&str; 5] = ["-c", "-e", "--eval", "-m", "-r"];

/// Returns the script of a command, relative to the project: the program itself
/// when it is given as a path below the project, else the first argument of an
/// interpreter. It need not be there.
///
/// An argument of another program, such as a file that `grep` looks into, is
/// none: it is rather what the work is about.
pub(super) fn script(argv: &[String], folder: &Path) -> Option<PathBuf> {
    let (program, arguments) = skip_env(argv)?;
    if program.contains('/')
        && let Some(path) = below(program, folder)
    {
        return Some(path);
    }
    let name = Path::new(program).file_name()?.to_str()?;
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !INTERPRETERS.contains(&plain) {
        return None;
    }
    for argument in arguments {
        if is_inline(argument) {
            return None;
        }
        if !argument.starts_with('-') && !is_subcommand(argument) {
            return below(argument, folder);
        }
    }
    None
}

/// Passes by `env NAME=VALUE`.
fn skip_env(argv: &[String]) -> Option<(&str, &[String])> {
    let (program, mut rest) = argv.split_first()?;
    if Path::new(program).file_name() != Some(OsStr::new("env")) {
        return Some((program, rest));
    }
    while let Some((word, more)) = rest.split_first() {
        if !word.contains('=') && !word.starts_with('-') {
            return Some((word, more));
        }
        rest = more;
    }
    None
}

fn is_inline(argument: &str) -> bool {
    // `-ec` is `-e -c`.
    let letters = argument
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'));
    INLINE.contains(&argument)
        || letters.is_some_and(|letters| letters.len() > 1 && letters.ends_with('c'))
}

/// `deno run x.ts`, `bun test`, `node --test`.
fn is_subcommand(argument: &str) -> bool {
    matches!(argument, "run" | "test" | "exec" | "pipefail" | "errexit")
}

/// Returns a path relative to the project, if it leads nowhere else.
pub(super) fn below(text: &str, folder: &Path) -> Option<PathBuf> {
    let path = Path::new(text);
    let inside = match path.is_absolute() {
        true => path.strip_prefix(folder).ok()?,
        false => path,
    };
    let mut clean = PathBuf::new();
    for part in inside.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir if clean.pop() => {}
            _ => return None,
        }
    }
    (!clean.as_os_str().is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-13
    #[test]
    fn the_script_of_a_command_is_found_and_nothing_else() {
        for (argv, expected) in [
            (
                &["bash", "scripts/verify.sh"][..],
                Some("scripts/verify.sh"),
            ),
            (
                &["bash", "-eu", "-o", "pipefail", "./v.sh", "x"],
                Some("v.sh"),
            ),
            (&["/usr/bin/python3.12", "check.py"], Some("check.py")),
            (&["env", "A=b", "sh", "v.sh"], Some("v.sh")),
            (&["./verify"], Some("verify")),
            (&["scripts/../verify"], Some("verify")),
            (&["/p/verify"], Some("verify")),
            (&["deno", "run", "-A", "x.ts"], Some("x.ts")),
            (&["sh", "-c", "cat answer.txt"], None),
            (&["bash", "-ec", "x"], None),
            (&["python3", "-m", "pytest"], None),
            (&["grep", "-q", "x", "answer.txt"], None),
            (&["test", "-f", "done.txt"], None),
            (&["cargo", "test"], None),
            (&["/bin/true"], None),
            (&["sh", "../outside.sh"], None),
            (&["env"], None),
            (&[], None),
        ] {
            let argv: Vec<_> = argv.iter().map(ToString::to_string).collect();
            let found = script(&argv, Path::new("/p"));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{argv:?}");
        }
    }
}
