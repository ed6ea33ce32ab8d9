//! What a gate accepts, tried out before anybody relies on it.

use super::cheats::{self, Cheat, Ground};
use super::checkout::Checkout;
use super::fingerprint::{Fingerprint, Request};
use super::freeze::Armed;
use super::run::{Place, Ran, execute, expected, in_checkout, is_clean, mark, set_up};
use super::{GateContext, GateError, in_words, process};
use crate::holder::Wish;
use loop_core::gate::{Baseline, GateReport, Level, Start, TestReport, classify};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// What a gate answered to one cheat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The fingerprint shows it; the gate would not even be run.
    Refused,
    /// The gate was run and is not green.
    Red,
    /// The gate is green.
    Accepted,
}

/// One cheat and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempted {
    /// The cheat.
    pub cheat: &'static str,
    /// What came of it.
    pub answer: Answer,
    /// Why, in one line.
    pub why: String,
}

/// What a gate answered to all cheats that apply to the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attack {
    /// What the gate says without any cheat.
    pub base: GateReport,
    /// How far the gate can be trusted as it is configured.
    pub level: Level,
    /// Why nothing was tried: the gate is not red for the right reason without
    /// any cheat, so its answers would show nothing.
    pub untried: Option<String>,
    /// The cheats, in a fixed order.
    pub attempts: Vec<Attempted>,
}

impl Attack {
    /// Returns how many cheats the gate would accept.
    #[must_use]
    pub fn accepted(&self) -> usize {
        let mut accepted = 0;
        for attempt in &self.attempts {
            accepted += usize::from(attempt.answer == Answer::Accepted);
        }
        accepted
    }
}

/// Plants canned cheats in throw-away checkouts of the base commit, one each,
/// and says which of them the gate would accept as it is configured. What it is
/// measured by is what runs on the base commit without a cheat.
///
/// # Errors
///
/// [`GateError`] when a checkout cannot be made or the gate cannot be run.
pub fn attack(
    context: &GateContext<'_>,
    armed: &Armed,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Attack, GateError> {
    let base = Checkout::of_base(context)?;
    let base = as_configured(context, armed, base, stem, poll)?;
    let armed = Armed {
        baseline: Some(Baseline::of(base.tests.as_ref())),
        ..armed.clone()
    };
    let level = level(context, &armed, &base);
    let mut attempts = Vec::new();
    if let Some(why) = useless(&base) {
        return Ok(Attack {
            base: base.report,
            level,
            untried: Some(why),
            attempts,
        });
    }
    for cheat in cheats::all() {
        context.check_stop()?;
        attempts.extend(attempt(
            context,
            &armed,
            cheat,
            base.tests.as_ref(),
            stem,
            poll,
        )?);
    }
    Ok(Attack {
        base: base.report,
        level,
        untried: None,
        attempts,
    })
}

/// Says why a gate's answers show nothing, if they do not.
fn useless(base: &Ran) -> Option<String> {
    match classify(&base.as_run(), &base.report, None) {
        Start::Red { .. } => None,
        Start::Broken { why } => Some(why),
        _ => Some("the gate is green without any cheat".to_owned()),
    }
}

fn attempt(
    context: &GateContext<'_>,
    armed: &Armed,
    cheat: &Cheat,
    tests: Option<&TestReport>,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Option<Attempted>, GateError> {
    let mut checkout = Checkout::of_base(context)?;
    checkout.lay(context, &armed.fingerprint)?;
    let project = checkout.project().to_owned();
    let planted = (cheat.plant)(&Ground {
        root: &project,
        argv: context.gate.command.as_slice(),
        frozen: &armed.fingerprint,
        tests,
        stop: context.stop,
    })?;
    if !planted {
        return Ok(None);
    }
    let answered = |answer, why| {
        Ok(Some(Attempted {
            cheat: cheat.name,
            answer,
            why,
        }))
    };
    let overlay = context.overlay()?;
    let temporary = checkout.temporary();
    let now = Fingerprint::take(&Request {
        folder: &project,
        gate: context.gate,
        environment: &process::environment(context, Some(&temporary)),
        overlay: overlay.as_deref(),
        extra: &armed.extra(),
        stop: context.stop,
    })?;
    let mismatches = armed.fingerprint.compare(&now);
    if !mismatches.is_empty() {
        return answered(Answer::Refused, in_words(&mismatches));
    }
    let ran = as_configured(context, armed, checkout, stem, poll)?;
    let answer = match ran.report.green {
        true => Answer::Accepted,
        false => Answer::Red,
    };
    answered(answer, ran.report.why)
}

/// Runs the gate on a checkout as it would run on an attempt: under the frozen
/// files and the overlay, or on the files as they are.
fn as_configured(
    context: &GateContext<'_>,
    armed: &Armed,
    mut checkout: Checkout,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Ran, GateError> {
    checkout.lay(context, &armed.fingerprint)?;
    if is_clean(context) {
        return in_checkout(context, armed, checkout, stem, poll);
    }
    set_up(context, &checkout, stem, poll)?;
    let place = Place {
        folder: checkout.project(),
        clean: None,
        judges: checkout.judges(),
    };
    let ran = execute(context, armed, &place, stem, poll)?;
    Ok(mark(ran, checkout.changed(context)?))
}

/// The level that an attempt would get in which the same tests run.
fn level(context: &GateContext<'_>, armed: &Armed, base: &Ran) -> Level {
    let place = Place {
        folder: Path::new(""),
        clean: is_clean(context).then_some(Path::new("")),
        judges: BTreeSet::new(),
    };
    expected(context, armed, &place).level(base.tests.as_ref())
}
