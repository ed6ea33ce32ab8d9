//! The gate before any work: it has to be red, and for the right reason.

use super::entry::EntryKind;
use super::freeze::{Armed, freeze};
use super::kept::Kept;
use super::path_text::to_text;
use super::process::{self, Job};
use super::program::script;
use super::run::{Ran, run};
use super::{GateContext, GateError};
use crate::holder::Wish;
use loop_core::gate::{Baseline, GateEnd, Start, classify, is_unwritten};
use std::time::Duration;

/// How long a shell may take to check a script's syntax.
const SYNTAX_TIMEOUT: Duration = Duration::from_secs(30);
/// Shells that check a script without running it, with `-n`.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// A gate that was run before any work.
#[derive(Clone, Debug)]
pub struct Started {
    /// What it is.
    pub start: Start,
    /// What was frozen, with what ran. Nothing may be believed of it unless the
    /// gate is red.
    pub armed: Armed,
    /// The first run; `None` when the script alone said enough.
    pub ran: Option<Ran>,
}

/// Freezes the gate, runs it before any work, a second time when it is red, and
/// says whether it is red for the right reason.
///
/// `extra` are further paths to freeze, such as `TASK.md`. The outputs go to
/// `outputs/<stem>.log` and `outputs/<stem>-again.log`.
///
/// # Errors
///
/// [`GateError`] when the gate cannot be frozen or run at all.
pub fn first_run(
    context: &GateContext<'_>,
    extra: &[&str],
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Started, GateError> {
    let armed = freeze(context, extra, None)?;
    if let Some(start) = look_at_script(context, &armed, stem, poll)? {
        let ran = None;
        return Ok(Started { start, armed, ran });
    }
    let first = run(context, &armed, stem, poll)?;
    let mut start = classify(&first.as_run(), &first.report, None);
    if matches!(start, Start::Red { .. }) {
        let again = run(context, &armed, &format!("{stem}-again"), poll)?;
        start = classify(&first.as_run(), &first.report, Some(&again.report));
    }
    let baseline = Some(Baseline::of(first.tests.as_ref()));
    let armed = Armed { baseline, ..armed };
    armed.keep(context.setup)?;
    Ok(Started {
        start,
        armed,
        ran: Some(first),
    })
}

/// Says what a script is without running it: the shipped default, missing, or
/// not even a script.
fn look_at_script(
    context: &GateContext<'_>,
    armed: &Armed,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Option<Start>, GateError> {
    let folder = context.folder();
    let argv = context.gate.command.as_slice();
    let Some(path) = script(argv, &folder) else {
        return Ok(None);
    };
    let name = to_text(&path);
    if armed.fingerprint.overlay().contains_key(&name) {
        return Ok(None);
    }
    let entry = armed.fingerprint.files().get(&name);
    let broken = |why: String| Ok(Some(Start::Broken { why }));
    let Some(entry) = entry.filter(|entry| entry.kind != EntryKind::Absent) else {
        return broken(format!("the gate's script {name} is missing"));
    };
    if entry.kind != EntryKind::File {
        return Ok(None);
    }
    let content = Kept::of(context.setup).content(&entry.sha256);
    let content = content.ok_or_else(|| GateError::NotKept { path: name.clone() })?;
    if is_unwritten(&String::from_utf8_lossy(&content)) {
        return Ok(Some(Start::Unwritten));
    }
    let program = argv.first().map_or("", String::as_str);
    if !SHELLS.contains(&program.rsplit('/').next().unwrap_or(program)) {
        return Ok(None);
    }
    let check = [program, "-n", path.to_str().unwrap_or(&name)].map(str::to_owned);
    let checked = process::run(
        context,
        &Job {
            argv: &check,
            folder: &folder,
            stem: &format!("{stem}-syntax"),
            timeout: SYNTAX_TIMEOUT,
            clean: None,
        },
        poll,
    )?;
    match checked.end {
        GateEnd::Exited(0) => Ok(None),
        GateEnd::Exited(code @ (126 | 127)) => {
            broken(format!("{program} cannot be run (exit code {code})"))
        }
        _ => {
            let line = checked.text.lines().next().unwrap_or_default();
            broken(format!("the gate's script {name} is not valid: {line}"))
        }
    }
}
