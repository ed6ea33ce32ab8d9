//! One run of the gate, where the configuration says.

use super::checkout::Checkout;
use super::freeze::Armed;
use super::process::{self, Job, Output};
use super::report_file::Before;
use super::{GateContext, GateError, Mismatch, in_words};
use crate::hash::sha256_hex;
use crate::holder::Wish;
use loop_core::config::GatePlace;
use loop_core::gate::{
    Expected, GateEnd, GateReport, GateRun, ReportFile, TestReport, judge, mask,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A gate that has run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it says.
    pub report: GateReport,
    /// How it ended.
    pub end: GateEnd,
    /// What is known of its tests.
    pub tests: Option<TestReport>,
    /// What it printed; of a long output the start and the end.
    pub output: String,
    /// What it made of its report file.
    report_file: ReportFile,
    /// The file of that.
    pub log: PathBuf,
    /// What judges and was changed while the gate ran; then it is not green.
    pub changed: Vec<Mismatch>,
    /// What a person should hear about.
    pub warnings: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs the frozen gate on the attempt as it is now: in its tree, or with
/// `gate.where` `"clean"` or an overlay in a clean checkout, after `gate.setup`.
///
/// The output goes to `outputs/<stem>.log`. `poll` is asked several times a
/// second whether it may go on.
///
/// # Errors
///
/// [`GateError::Tampered`] when what judges the work is not what was frozen: the
/// gate is not run then. [`GateError`] when it cannot be run at all.
pub fn run(
    context: &GateContext<'_>,
    armed: &Armed,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    let mismatches = armed.compare(context)?;
    if !mismatches.is_empty() {
        return Err(GateError::Tampered(mismatches));
    }
    if !is_clean(context) {
        return in_tree(context, armed, &context.folder(), stem, poll);
    }
    let checkout = Checkout::of_result(context)?;
    in_checkout(context, armed, checkout, stem, poll)
}

/// Whether the gate runs in a clean checkout. An overlay asks for one, since its
/// files may not stand in the agent's tree.
pub(super) fn is_clean(context: &GateContext<'_>) -> bool {
    context.gate.place() == GatePlace::Clean || context.gate.overlay.is_some()
}

/// Runs the gate in a checkout, under the frozen files and the overlay.
pub(super) fn in_checkout(
    context: &GateContext<'_>,
    armed: &Armed,
    mut checkout: Checkout,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    checkout.lay(context, &armed.fingerprint)?;
    checkout.lay_overlay(context, &armed.fingerprint)?;
    set_up(context, &checkout, stem, poll)?;
    let temporary = checkout.temporary();
    let place = Place {
        folder: checkout.project(),
        clean: Some(&temporary),
    };
    let mut ran = execute(context, armed, &place, stem, poll)?;
    ran.warnings.extend(checkout.warnings.iter().cloned());
    Ok(mark(ran, checkout.changed(context)?))
}

/// Runs the gate in a tree as it is.
fn in_tree(
    context: &GateContext<'_>,
    armed: &Armed,
    folder: &Path,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    let place = Place {
        folder,
        clean: None,
    };
    let ran = execute(context, armed, &place, stem, poll)?;
    Ok(mark(ran, armed.compare(context)?))
}

/// Runs `gate.setup` in a checkout, if there is one.
pub(super) fn set_up(
    context: &GateContext<'_>,
    checkout: &Checkout,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<(), GateError> {
    let Some(argv) = &context.gate.setup else {
        return Ok(());
    };
    let ended = process::run(
        context,
        &Job {
            argv: argv.as_slice(),
            folder: checkout.project(),
            stem: &format!("{stem}-setup"),
            timeout: context.gate.timeout(),
            clean: Some(&checkout.temporary()),
        },
        poll,
    )?;
    let how = match ended.end {
        GateEnd::Exited(0) => return Ok(()),
        GateEnd::Exited(code) => format!("exited with {code}"),
        GateEnd::Signaled(signal) => format!("was killed by signal {signal}"),
        GateEnd::TimedOut => "took too long".to_owned(),
    };
    Err(GateError::Setup {
        what: format!("{how}; see {}", ended.log.display()),
    })
}

/// Where a gate runs.
pub(super) struct Place<'a> {
    /// The project's folder there.
    pub(super) folder: &'a Path,
    /// The folder for temporary files, if the place is a clean checkout.
    pub(super) clean: Option<&'a Path>,
}

/// Runs the command and judges it.
pub(super) fn execute(
    context: &GateContext<'_>,
    armed: &Armed,
    place: &Place<'_>,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    let gate = context.gate;
    let before = gate
        .report
        .as_ref()
        .map(|path| Before::look(place.folder, path.as_str()));
    let Output {
        end,
        text: output,
        log,
        warnings,
        elapsed,
    } = process::run(
        context,
        &Job {
            argv: gate.command.as_slice(),
            folder: place.folder,
            stem,
            timeout: gate.timeout(),
            clean: place.clean,
        },
        poll,
    )?;
    let report_file = before.map_or(ReportFile::NotAsked, |before| before.read());
    let folder = place.folder.to_string_lossy();
    let run = GateRun {
        end,
        output: &output,
        output_sha256: sha256_hex(mask(&output, &[&folder]).as_bytes()),
        report: report_file.clone(),
    };
    let report = judge(&run, &expected(context, armed, place));
    Ok(Ran {
        report,
        end,
        tests: run.tests(),
        report_file,
        output,
        log,
        changed: Vec::new(),
        warnings,
        elapsed,
    })
}

pub(super) fn expected<'a>(
    context: &GateContext<'_>,
    armed: &'a Armed,
    place: &Place<'_>,
) -> Expected<'a> {
    Expected {
        min_tests: context.gate.min_tests(),
        baseline: armed.baseline.as_ref(),
        place: match place.clean {
            Some(_) => GatePlace::Clean,
            None => GatePlace::Worktree,
        },
        frozen: armed.fingerprint.has_files(),
        overlay: place.clean.is_some() && !armed.fingerprint.overlay().is_empty(),
    }
}

/// Takes back the green of a gate whose own files were changed while it ran.
pub(super) fn mark(mut ran: Ran, changed: Vec<Mismatch>) -> Ran {
    if !changed.is_empty() {
        let why = format!(
            "what judges the work was changed while the gate ran: {}",
            in_words(&changed)
        );
        ran.report = ran.report.refused(why, &ran.output);
        ran.changed = changed;
    }
    ran
}

impl Ran {
    /// Returns the run as loop-core sees it.
    pub(super) fn as_run(&self) -> GateRun<'_> {
        GateRun {
            end: self.end,
            output: &self.output,
            output_sha256: self.report.output.clone(),
            report: self.report_file.clone(),
        }
    }
}
