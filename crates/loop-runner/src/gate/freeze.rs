//! A gate that is frozen: what it is, and what ran when it was.

use super::above::settings_above;
use super::entry::EntryKind;
use super::fingerprint::{Fingerprint, Mismatch};
use super::kept::Kept;
use super::named::empty_entries;
use super::{GateContext, GateError};
use loop_core::gate::Baseline;
use serde::{Deserialize, Serialize};

/// How many files of its own a gate may make among the frozen ones.
const MAX_PRODUCTS: usize = 1_000;

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
    /// Files among the frozen ones that the gate itself made before any work, such
    /// as logs; they are not frozen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<String>,
}

impl Armed {
    /// Takes the gate as it is now: its fingerprint, and a copy of its files.
    /// It lasts from tick to tick when it is [recorded](super::record).
    ///
    /// # Errors
    ///
    /// [`GateError`] when something cannot be read or written.
    pub fn take(context: &GateContext<'_>, extra: &[&str]) -> Result<Self, GateError> {
        Self {
            v: 1,
            fingerprint: Fingerprint::of(context, extra)?,
            baseline: None,
            extra: extra.iter().map(ToString::to_string).collect(),
            products: Vec::new(),
        }
        .keep(context)
    }

    /// Takes it again as it is now. What ran before the work stays what later runs
    /// are compared with, and what the gate itself makes is not frozen now.
    pub(super) fn take_again(&self, context: &GateContext<'_>) -> Result<Self, GateError> {
        empty_entries(context)?.refuse()?;
        Self {
            fingerprint: self.now(context)?,
            ..self.clone()
        }
        .keep(context)
    }

    fn keep(self, context: &GateContext<'_>) -> Result<Self, GateError> {
        Kept::of(context.setup).keep(&context.folder(), &self.fingerprint)?;
        Ok(self)
    }

    fn now(&self, context: &GateContext<'_>) -> Result<Fingerprint, GateError> {
        Ok(Fingerprint::of(context, &self.extra())?.without(&self.products))
    }

    /// Notes which files among the frozen ones the run that has just ended has
    /// made. It has to be a run before any work: later it could be anybody's.
    pub(super) fn note_products(&mut self, context: &GateContext<'_>) -> Result<(), GateError> {
        let now = Fingerprint::of(context, &self.extra())?;
        let before = self.fingerprint.files();
        let made = now
            .files()
            .iter()
            .filter(|(name, entry)| entry.kind == EntryKind::File && !before.contains_key(*name));
        let made = made.map(|(name, _)| name.clone());
        self.products = made.take(MAX_PRODUCTS).collect();
        Ok(())
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
        match self.now(context) {
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
/// [`GateError::Nothing`] when a path of `gate.frozen` leads nowhere;
/// [`GateError`] when something cannot be read or written.
pub fn freeze(
    context: &GateContext<'_>,
    extra: &[&str],
    baseline: Option<Baseline>,
) -> Result<Armed, GateError> {
    empty_entries(context)?.refuse()?;
    Ok(Armed {
        baseline,
        ..Armed::take(context, extra)?
    })
}
