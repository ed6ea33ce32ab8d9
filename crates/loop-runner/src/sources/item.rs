//! A source's item, kept as it was when its task was taken.
//!
//! What completing it means is decided by what it said then: an item that says
//! something else by now is another one.

use crate::kept;
use crate::setup::Setup;
use loop_core::answer::FileRef;
use loop_worksource::{Completion, Item};
use std::io;

/// Keeps an item as `outputs/tickN-item.json`; `None` when completing it means
/// to do nothing.
pub(super) fn keep(setup: &Setup, tick: u64, item: &Item) -> io::Result<Option<FileRef>> {
    let in_worktree = setup.config.blast_radius().use_worktree();
    let asks_for_nothing = match item.completion {
        Completion::Nothing => true,
        // The box is ticked where the work is delivered, and not in the user's
        // checkout, which does not have the work (decision D-5).
        Completion::TickBox { .. } => in_worktree,
        Completion::RunCommand => false,
    };
    if asks_for_nothing {
        return Ok(None);
    }
    let path = setup.dir.outputs().join(format!("tick{tick}-item.json"));
    let text = serde_json::to_vec(item).map_err(io::Error::other)?;
    kept::write(&path, &text).map(Some)
}

/// Reads a kept item; what is not as it was kept is none.
pub(super) fn read(kept: &FileRef) -> Result<Item, String> {
    serde_json::from_slice(&kept::read(kept)?)
        .map_err(|error| format!("{}: it is no item: {error}", kept.path))
}
