//! A frozen gate between two ticks: a file of the loop, whose hash is in its
//! record, where no agent writes.

use super::freeze::{Armed, freeze};
use super::{GateContext, GateError};
use crate::kept;
use crate::setup::Setup;
use loop_core::state::Frozen;
use std::io;

/// Keeps a frozen gate for the ticks of `task`, as `outputs/<task>-gate.json`.
///
/// # Errors
///
/// [`GateError::File`] when it cannot be written.
pub fn record(setup: &Setup, task: &str, armed: &Armed) -> Result<Frozen, GateError> {
    let path = setup.dir.outputs().join(format!("{task}-gate.json"));
    let kept = serde_json::to_vec(armed)
        .map_err(io::Error::from)
        .and_then(|text| kept::write(&path, &text));
    let parts = kept.map_err(|source| GateError::File {
        doing: "write",
        path,
        source,
    })?;
    Ok(Frozen {
        fingerprint: armed.fingerprint.sha256.clone(),
        parts,
    })
}

/// Reads a frozen gate that was kept.
///
/// # Errors
///
/// [`GateError::NotKept`] when it is not as it was written.
pub fn recorded(frozen: &Frozen) -> Result<Armed, GateError> {
    let not_kept = || GateError::NotKept {
        path: frozen.parts.path.clone(),
    };
    let text = kept::read(&frozen.parts).map_err(|_| not_kept())?;
    serde_json::from_slice(&text).map_err(|_| not_kept())
}

/// Freezes the gate of `task` as it is now, for a person who has looked at it.
/// What ran before the work stays what later runs are compared with.
///
/// # Errors
///
/// [`GateError`] when something cannot be read or written.
pub fn freeze_again(
    context: &GateContext<'_>,
    task: &str,
    before: &Frozen,
) -> Result<Frozen, GateError> {
    let before = recorded(before).ok();
    let extra = before.as_ref().map_or_else(Vec::new, Armed::extra);
    let baseline = before.as_ref().and_then(|armed| armed.baseline.clone());
    record(context.setup, task, &freeze(context, &extra, baseline)?)
}
