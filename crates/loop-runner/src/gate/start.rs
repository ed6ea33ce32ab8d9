//! The gate before any work: it has to be red, and for the right reason.

use super::entry::EntryKind;
use super::freeze::Armed;
use super::kept::Kept;
use super::named::empty_entries;
use super::path_text::to_text;
use super::process::{self, Job};
use super::program::script;
use super::run::{Ran, run, run_first};
use super::walk::is_real;
use super::{GateContext, GateError, in_words};
use crate::git::plain_file;
use crate::holder::Wish;
use loop_core::gate::{Baseline, Finding, GateEnd, Start, classify, is_unwritten, lint_script};
use std::time::Duration;

/// The longest script that is looked through, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;
/// How long a shell may take to check a script's syntax.
const SYNTAX_TIMEOUT: Duration = Duration::from_secs(30);
/// Shells that check a script without running it, with `-n`.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// A gate that was run before any work.
#[derive(Clone, Debug)]
pub struct Started {
    /// What it is.
    pub start: Start,
    /// The gate, with what ran; to be [recorded](super::record()) when it is red.
    pub armed: Armed,
    /// The first run; `None` when the script alone said enough.
    pub ran: Option<Ran>,
}

/// Takes the gate, runs it before any work, a second time when it is red, and
/// says whether it is red for the right reason.
///
/// `extra` are further paths to freeze, such as `TASK.md`. The outputs go to
/// `outputs/<stem>.log` and `outputs/<stem>-again.log`.
///
/// # Errors
///
/// [`GateError`] when the gate cannot be read or run at all.
pub fn first_run(
    context: &GateContext<'_>,
    extra: &[&str],
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Started, GateError> {
    let mut armed = Armed::take(context, extra)?;
    let broken = |why| Start::Broken { why };
    if let Err(error) = empty_entries(context)?.refuse() {
        let (start, ran) = (broken(error.to_string()), None);
        return Ok(Started { start, armed, ran });
    }
    if let Some(start) = look_at_script(context, &armed, stem, poll)? {
        let ran = None;
        return Ok(Started { start, armed, ran });
    }
    let first = run_first(context, &mut armed, stem, poll)?;
    let mut start = match disturbs(&first) {
        Some(why) => broken(why),
        None => classify(&first.as_run(), &first.report, None),
    };
    let mut baseline = Baseline::of(first.tests.as_ref());
    if matches!(start, Start::Red { .. }) {
        let again = run(context, &armed, &format!("{stem}-again"), poll)?;
        start = match disturbs(&again) {
            Some(why) => broken(why),
            None => classify(&first.as_run(), &first.report, Some(&again.report)),
        };
        baseline = Baseline::of_both(first.tests.as_ref(), again.tests.as_ref());
    }
    let baseline = Some(baseline);
    let armed = Armed { baseline, ..armed };
    Ok(Started {
        start,
        armed,
        ran: Some(first),
    })
}

/// Says what a gate changes of itself before there is any work. It would be taken
/// for tampering in every tick.
fn disturbs(ran: &Ran) -> Option<String> {
    let changes = in_words(&ran.changed);
    (!changes.is_empty()).then(|| format!("the gate changes what is frozen: {changes}"))
}

/// Looks for lost exit codes in the script of the gate, if that is a shell's.
/// Returns its path and what was found.
#[must_use]
pub fn lint_script_of(context: &GateContext<'_>) -> Option<(String, Vec<Finding>)> {
    let folder = context.folder();
    let path = script(context.gate.command.as_slice(), &folder)?;
    if !is_real(&folder, &path) {
        return None;
    }
    let content = plain_file::read(&folder.join(&path), MAX_SCRIPT).ok()??;
    let text = String::from_utf8(content).ok()?;
    let first = text.lines().next().unwrap_or_default();
    let named = context.gate.command.as_slice().first();
    let named = named.and_then(|program| program.rsplit('/').next());
    let is_shell = |name: &str| SHELLS.contains(&name);
    let by_first = first
        .strip_prefix("#!")
        .is_some_and(|line| line.split([' ', '/']).any(is_shell));
    if !(by_first || named.is_some_and(is_shell)) {
        return None;
    }
    Some((to_text(&path), lint_script(&text)))
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
    let content = content.ok_or_else(|| GateError::not_kept(&name))?;
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
