//! Whether a call failed, and what is to blame.

use super::heard::{Heard, Trouble};
use crate::answer::CallEnd;
use crate::profile::faults::{FaultRule, Stream};
use crate::profile::file::File;
use crate::profile::reset::Reset;
use crate::profile::said::Fault;
use crate::text::{cut, without_controls};

/// How much of the end of standard error is looked at, in bytes.
const STDERR: usize = 64 * 1024;
/// The longest error that is shown, in characters.
const LONGEST_SHOWN: usize = 500;

/// Why a call failed.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// The error that the harness ended in.
    pub(super) error: Option<String>,
    /// What around the loop is to blame.
    pub(super) fault: Option<Fault>,
}

/// Says why a call failed, if it did.
pub(super) fn blame(file: &File, heard: &mut Heard<'_>, end: &CallEnd, stderr: &[u8]) -> Blame {
    // A tool that exits with an error although an answer came means the error before it. One
    // that was ended from outside was at something else by then.
    let exited_badly = matches!(end, CallEnd::Exited(code) if *code != 0);
    if heard.trouble.error.is_none() && exited_badly {
        heard.trouble = std::mem::take(&mut heard.overcome);
    }
    if end.failure().is_none() && heard.trouble.error.is_none() {
        return Blame::default();
    }
    // Standard error tells of what is not told otherwise, and of the end: what stands there of a
    // call that worked, and ended in an error of its own or was ended, is an old story.
    let is_old = heard.worked && (heard.trouble.error.is_some() || !exited_badly);
    let stderr = match is_old {
        true => String::new(),
        false => last_lines(stderr),
    };
    let trouble = &heard.trouble;
    let rules = file.faults.iter().flatten().enumerate();
    let mut faults = rules.filter_map(|(index, rule)| apply(rule, index, trouble, end, &stderr));
    Blame {
        fault: faults.next(),
        error: trouble.error.as_deref().map(one_line),
    }
}

/// Makes the fault of a rule, if all that it asks for holds.
fn apply(
    rule: &FaultRule,
    index: usize,
    trouble: &Trouble,
    end: &CallEnd,
    stderr: &str,
) -> Option<Fault> {
    let error = trouble.error.as_deref().unwrap_or_default();
    let mut what = error;
    let mut reset = None;
    if rule.place.is_some() {
        reset = trouble.faults.get(index)?.clone()?;
    }
    if let Some(codes) = &rule.exit {
        let CallEnd::Exited(code) = end else {
            return None;
        };
        codes.contains(code).then_some(())?;
    }
    if let Some(pattern) = &rule.pattern {
        let on_error = || pattern.find(error);
        let on_stderr = || pattern.find(stderr);
        let found = match rule.stream {
            Some(Stream::Stdout) => on_error(),
            Some(Stream::Stderr) => on_stderr(),
            None => on_error().or_else(on_stderr),
        }?;
        what = found.line;
        let group = rule.reset.as_deref().and_then(|name| found.group(name));
        reset = group.map(str::to_owned);
    }
    Some(Fault {
        class: rule.class,
        reset: Reset::find(reset.as_deref().unwrap_or(what)),
        what: match one_line(what) {
            empty if empty.is_empty() => end.failure().unwrap_or_default(),
            what => what,
        },
    })
}

/// Returns the whole lines at the end of standard error, without controls.
fn last_lines(stderr: &[u8]) -> String {
    let start = stderr.len().saturating_sub(STDERR);
    let end = &stderr[start..];
    // The rest of a line that was cut must not pass for the start of one.
    let whole = match end.iter().position(|byte| *byte == b'\n') {
        Some(newline) if start > 0 => &end[newline + 1..],
        None if start > 0 => &[],
        _ => end,
    };
    without_controls(&String::from_utf8_lossy(whole))
}

/// Puts a text into one line that fits into a record.
fn one_line(text: &str) -> String {
    let clean = without_controls(text);
    let words: Vec<&str> = clean.split_whitespace().collect();
    cut(&words.join(" "), LONGEST_SHOWN)
}
