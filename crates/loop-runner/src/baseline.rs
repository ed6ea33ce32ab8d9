//! The state of a tree as its task started, kept from tick to tick.

use crate::git::Start;
use crate::kept;
use crate::setup::Setup;
use crate::workplace::Unready;
use loop_core::answer::{FileRef, StepFault};
use loop_core::outcome::Error;

/// Keeps `start` for the ticks of `task`, as `outputs/<task>-baseline.txt`.
pub(crate) fn keep(setup: &Setup, task: &str, start: &Start) -> Result<FileRef, Unready> {
    let path = setup.dir.outputs().join(format!("{task}-baseline.txt"));
    kept::write(&path, start.to_string().as_bytes()).map_err(|error| {
        Unready::Fault(StepFault::Error {
            reason: Error::OutputsUnwritable,
            what: format!("{}: {error}", path.display()),
        })
    })
}

/// Reads a state that was kept. One that is not as it was written would hide
/// what has changed since.
pub(crate) fn read(kept: &FileRef) -> Result<Start, Unready> {
    of(kept).map_err(|what| Unready::Fault(StepFault::Tampered { what }))
}

/// Does the same, and says in words what is wrong.
pub(crate) fn of(kept: &FileRef) -> Result<Start, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", kept.path);
    let text = String::from_utf8(kept::read(kept)?).map_err(|error| wrong(&error))?;
    text.parse().map_err(|error| wrong(&error))
}
