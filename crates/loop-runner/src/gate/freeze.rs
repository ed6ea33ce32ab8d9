//! A gate that is frozen: what it is, and what ran when it was.

use super::fingerprint::{Fingerprint, Mismatch};
use super::kept::Kept;
use super::{GateContext, GateError};
use crate::hash::sha256_hex;
use crate::setup::Setup;
use loop_core::gate::Baseline;
use serde::{Deserialize, Serialize};

/// The name of the document about the latest frozen gate.
const LATEST: &str = "frozen.json";
/// The longest such document, in bytes.
const MAX_DOCUMENT: u64 = 64 << 20;

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
    /// Nothing is frozen by it until [`Armed::keep`].
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

    /// Returns one value for all of it, 64 hexadecimal digits. Recorded where an
    /// agent cannot write, it tells whether the document is what it was.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256_hex(&self.document())
    }

    /// Takes the fingerprint again, and lists what is different now. What could
    /// be read when it was frozen and cannot be read now is different, too.
    ///
    /// # Errors
    ///
    /// [`GateError::Stopped`] when interrupted.
    pub fn compare(&self, context: &GateContext<'_>) -> Result<Vec<Mismatch>, GateError> {
        match Fingerprint::of(context, &self.extra()) {
            Ok(now) => Ok(self.fingerprint.compare(&now)),
            Err(GateError::Stopped) => Err(GateError::Stopped),
            Err(error) => Ok(vec![Mismatch {
                path: "the gate".to_owned(),
                what: format!("cannot be read any more: {error}"),
            }]),
        }
    }

    /// Writes it into the loop's folder, as the latest one. Whoever decides by it
    /// records [`Armed::sha256`] too.
    ///
    /// # Errors
    ///
    /// [`GateError`] when it cannot be written.
    pub fn keep(&self, setup: &Setup) -> Result<(), GateError> {
        Kept::of(setup).write(LATEST, &self.document())
    }

    pub(super) fn extra(&self) -> Vec<&str> {
        self.extra.iter().map(String::as_str).collect()
    }

    fn document(&self) -> Vec<u8> {
        // Strings, numbers and maps with strings as keys always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
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
    let armed = Armed {
        baseline,
        ..Armed::take(context, extra)?
    };
    armed.keep(context.setup)?;
    Ok(armed)
}

/// Returns the latest frozen gate of a loop; `None` when there is none that can
/// be believed.
#[must_use]
pub fn frozen_now(setup: &Setup) -> Option<Armed> {
    let document = Kept::of(setup).read(LATEST, MAX_DOCUMENT)?;
    let armed: Armed = serde_json::from_slice(&document).ok()?;
    let fingerprint = serde_json::to_vec(&armed.fingerprint).ok()?;
    Fingerprint::parse(&fingerprint).is_some().then_some(armed)
}
