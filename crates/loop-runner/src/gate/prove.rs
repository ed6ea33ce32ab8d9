//! A gate discriminates when it is red without the work and green with it, both
//! in a clean checkout.

use super::checkout::Checkout;
use super::freeze::Armed;
use super::run::{Ran, in_checkout};
use super::{GateContext, GateError};
use crate::holder::Wish;
use loop_core::gate::{GateReport, Start, classify};
use serde::Serialize;

/// What came of running the gate without and with the work.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// Whether it is red without and green with the work.
    pub proven: bool,
    /// In one line.
    pub why: String,
    /// The run on the base commit.
    pub base: GateReport,
    /// The run on the attempt.
    pub result: GateReport,
}

/// Runs the frozen gate in two clean checkouts, `gate.setup` first in both: the
/// base commit with only the gate's own files laid over it, which has to be red
/// for the right reason, and the attempt, which has to be green.
///
/// # Errors
///
/// [`GateError`] when a checkout cannot be made or the gate cannot be run.
pub fn prove(
    context: &GateContext<'_>,
    armed: &Armed,
    stem: &str,
    poll: &mut dyn FnMut() -> Wish,
) -> Result<Proof, GateError> {
    // What the base is measured by is only whether it is red.
    let unmeasured = Armed {
        baseline: None,
        ..armed.clone()
    };
    let base = Checkout::of_base(context)?;
    let base = in_checkout(context, &unmeasured, base, &format!("{stem}-base"), poll)?;
    let result = Checkout::of_result(context)?;
    let result = in_checkout(context, armed, result, &format!("{stem}-result"), poll)?;
    let why = objection(&base, &result);
    Ok(Proof {
        proven: why.is_none(),
        why: why.unwrap_or_else(|| {
            "proven in clean checkouts: red without the work, green with it".to_owned()
        }),
        base: base.report,
        result: result.report,
    })
}

fn objection(base: &Ran, result: &Ran) -> Option<String> {
    match classify(&base.as_run(), &base.report, None) {
        Start::Red { .. } => {}
        Start::Broken { why } => return Some(format!("not proven: without the work, {why}")),
        _ => return Some("not proven: the gate is green without the work too".to_owned()),
    }
    (!result.report.green).then(|| {
        format!(
            "not proven: in a clean checkout of the result, {}",
            result.report.why
        )
    })
}
