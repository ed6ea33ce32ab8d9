//! A frozen gate between two ticks: a file of the loop, whose hash is in its
//! record, where no agent writes.

use super::freeze::Armed;
use super::{At, GateContext, GateError};
use crate::hash::sha256_hex;
use crate::kept;
use crate::setup::Setup;
use loop_core::state::Frozen;
use std::io;

/// How many digits of its own digest the name of a record has.
const DIGITS: usize = 16;

/// Keeps a frozen gate for the ticks of `task`, as `outputs/<task>-gate-<sha256>.json`.
/// A record is never overwritten by another: the loop may go on with the one that
/// it has.
///
/// # Errors
///
/// [`GateError::File`] when it cannot be written.
pub fn record(setup: &Setup, task: &str, armed: &Armed) -> Result<Frozen, GateError> {
    let outputs = setup.dir.outputs();
    let text = serde_json::to_vec(armed).map_err(io::Error::from);
    let text = text.at("write", &outputs)?;
    let digest = sha256_hex(&text);
    let path = outputs.join(format!("{task}-gate-{}.json", &digest[..DIGITS]));
    let parts = kept::write(&path, &text).at("write", &path)?;
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
        mend: "nobody knows any more what ran before the work; give it to a new task (`loop \
               set-task`), which arms its own gate",
    };
    let text = kept::read(&frozen.parts).map_err(|_| not_kept())?;
    serde_json::from_slice(&text).map_err(|_| not_kept())
}

/// Freezes the gate of `task` as it is now, for a person who has looked at it.
/// What ran before the work stays what later runs are compared with.
///
/// # Errors
///
/// [`GateError::NotKept`] when nobody knows any more what ran before the work;
/// [`GateError`] when something cannot be read or written.
pub fn freeze_again(
    context: &GateContext<'_>,
    task: &str,
    before: &Frozen,
) -> Result<Frozen, GateError> {
    let again = recorded(before)?.take_again(context)?;
    record(context.setup, task, &again)
}
