//! One run of the gate, where the configuration says.

use super::checkout::Checkout;
use super::fingerprint::OVERLAY;
use super::freeze::Armed;
use super::process::{self, Job, Output};
use super::report_file::Before;
use super::window::Window;
use super::{GateContext, GateError, Mismatch, in_words};
use crate::hash::sha256_hex;
use crate::holder::Wish;
use loop_core::config::GatePlace;
use loop_core::gate::{
    Expected, GateEnd, GateReport, GateRun, ReportFile, TestReport, judge, mask,
};
use std::collections::BTreeSet;
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
    check_frozen(context, armed)?;
    if !is_clean(context) {
        let ran = in_tree(context, armed, stem, poll)?;
        return Ok(mark(ran, armed.compare(context)?));
    }
    let checkout = Checkout::of_result(context)?;
    in_checkout(context, armed, checkout, stem, poll)
}

/// Runs it before any work. What it makes among the frozen files is its own, and
/// not frozen from then on.
pub(super) fn run_first(
    context: &GateContext<'_>,
    armed: &mut Armed,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    if is_clean(context) {
        return run(context, armed, stem, poll);
    }
    check_frozen(context, armed)?;
    let ran = in_tree(context, armed, stem, poll)?;
    armed.note_products(context)?;
    Ok(mark(ran, armed.compare(context)?))
}

fn check_frozen(context: &GateContext<'_>, armed: &Armed) -> Result<(), GateError> {
    let mismatches = armed.compare(context)?;
    match mismatches.is_empty() {
        true => Ok(()),
        false => Err(GateError::Tampered(mismatches)),
    }
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
    set_up(context, &checkout, stem, poll)?;
    // What is set up is the product's: it may have written anything, and the
    // overlay was not there to be read.
    checkout.lay_again(context, &armed.fingerprint)?;
    checkout.lay_overlay(context, &armed.fingerprint)?;
    let temporary = checkout.temporary();
    let place = Place {
        folder: checkout.project(),
        clean: Some(&temporary),
        judges: checkout.judges(),
    };
    let mut ran = execute(context, armed, &place, stem, poll)?;
    ran.warnings.extend(checkout.warnings.iter().cloned());
    if !checkout.links_out.is_empty() {
        let links = checkout.links_out.join(", ");
        let flag = format!("links that lead out of the project are left out: {links}");
        ran.report.flags.push(flag);
    }
    Ok(mark(ran, checkout.changed(context)?))
}

/// Runs the gate in the attempt's tree as it is.
fn in_tree(
    context: &GateContext<'_>,
    armed: &Armed,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    let place = Place {
        folder: &context.folder(),
        clean: None,
        judges: armed.fingerprint.paths(),
    };
    execute(context, armed, &place, stem, poll)
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
    /// The files there that judge the work.
    pub(super) judges: BTreeSet<PathBuf>,
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
    let window = Window::open(place.folder, &place.judges);
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
    let rewritten = window.changed();
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
        changed: rewritten,
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

/// Takes back the green of a gate whose own files were changed while it ran:
/// those whose contents are `changed`, and those that were rewritten and are the
/// same again.
pub(super) fn mark(mut ran: Ran, mut changed: Vec<Mismatch>) -> Ran {
    for rewritten in std::mem::take(&mut ran.changed) {
        let is_told = |told: &Mismatch| told.path.trim_start_matches(OVERLAY) == rewritten.path;
        if !changed.iter().any(is_told) {
            changed.push(rewritten);
        }
    }
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
