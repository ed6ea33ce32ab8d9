//! A gate that is frozen: what it is, and what ran when it was.

use super::above::settings_above;
use super::fingerprint::{Fingerprint, Mismatch};
use super::kept::Kept;
use super::{GateContext, GateError};
use loop_core::gate::Baseline;
use serde::{Deserialize, Serialize};

/// A frozen gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Armed {
    /// Version of the shape: 1.
    pub v: u32,
    /// What judges the work.
    pub fingerprint: Fingerprint,
    /// What ran before the work; `None` when the gate was not run.
    pub baseline: Option<Baseline>,
    /// Further paths that are frozen with it, such as `TASK.md`.
    pub extra: Vec<String>,
}

impl Armed {
    /// Takes the gate as it is now: its fingerprint, and a copy of its files.
    /// It lasts from tick to tick when it is [recorded](super::record).
    ///
    /// # Errors
    ///
    /// [`GateError`] when something cannot be read or written.
    pub fn take(context: &GateContext<'_>, extra: &[&str]) -> Result<Self, GateError> {
        let fingerprint = Fingerprint::of(context, extra)?;
        Kept::of(context.setup).keep(&context.folder(), &fingerprint)?;
        Ok(Self {
            v: 1,
            fingerprint,
            baseline: None,
            extra: extra.iter().map(ToString::to_string).collect(),
        })
    }

    /// Takes the fingerprint again, and lists what is different now, and what lies
    /// in the engine's folders above the tree and decides what a test run means.
    /// What could be read when it was frozen and cannot be read now is different,
    /// too.
    ///
    /// # Errors
    ///
    /// [`GateError::Stopped`] when interrupted.
    pub fn compare(&self, context: &GateContext<'_>) -> Result<Vec<Mismatch>, GateError> {
        match Fingerprint::of(context, &self.extra()) {
            Ok(now) => {
                let mut found = self.fingerprint.compare(&now);
                found.extend(settings_above(context));
                Ok(found)
            }
            Err(GateError::Stopped) => Err(GateError::Stopped),
            Err(error) => Ok(vec![Mismatch {
                path: "the gate".to_owned(),
                what: format!("cannot be read any more: {error}"),
            }]),
        }
    }

    pub(super) fn extra(&self) -> Vec<&str> {
        self.extra.iter().map(String::as_str).collect()
    }
}

/// Freezes the gate as it is now, with what ran before the work.
///
/// # Errors
///
/// [`GateError`] when something cannot be read or written.
pub fn freeze(
    context: &GateContext<'_>,
    extra: &[&str],
    baseline: Option<Baseline>,
) -> Result<Armed, GateError> {
    Ok(Armed {
        baseline,
        ..Armed::take(context, extra)?
    })
}
