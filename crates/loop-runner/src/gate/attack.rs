//! What a gate accepts, tried out before anybody relies on it.

use super::cheats::{self, Cheat, Ground};
use super::checkout::Checkout;
use super::fingerprint::{Fingerprint, Request};
use super::freeze::Armed;
use super::run::{Place, Ran, execute, in_checkout, is_clean, mark, set_up};
use super::{GateContext, GateError, in_words, process};
use crate::holder::Wish;
use loop_core::gate::{Baseline, GateReport, Start, classify};
use serde::Serialize;

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
    let base = in_checkout(context, armed, base, stem, poll)?;
    let mut attempts = Vec::new();
    if let Some(why) = useless(&base) {
        return Ok(Attack {
            base: base.report,
            untried: Some(why),
            attempts,
        });
    }
    let armed = Armed {
        baseline: Some(Baseline::of(base.tests.as_ref())),
        ..armed.clone()
    };
    for cheat in cheats::all() {
        context.check_stop()?;
        attempts.extend(attempt(context, &armed, cheat, stem, poll)?);
    }
    Ok(Attack {
        base: base.report,
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
    let clean = is_clean(context);
    if clean {
        checkout.lay(context, &armed.fingerprint)?;
        checkout.lay_overlay(context, &armed.fingerprint)?;
    }
    set_up(context, &checkout, stem, poll)?;
    let place = Place {
        folder: &project,
        clean: clean.then_some(&*temporary),
    };
    let ran = execute(context, armed, &place, stem, poll)?;
    let ran = mark(ran, checkout.changed(context)?);
    let answer = match ran.report.green {
        true => Answer::Accepted,
        false => Answer::Red,
    };
    answered(answer, ran.report.why)
}
