//! A source's item, kept as it was when its task was taken.
//!
//! What completing it means is decided by what it said then: an item that says
//! something else by now is another one.

use crate::git::plain_file;
use crate::hash::sha256_hex;
use crate::setup::Setup;
use loop_core::answer::FileRef;
use loop_worksource::{Completion, Item};
use std::fs;
use std::io;
use std::path::Path;

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
    let outputs = setup.dir.outputs();
    fs::create_dir_all(&outputs)?;
    let path = outputs.join(format!("tick{tick}-item.json"));
    let text = serde_json::to_vec(item).map_err(io::Error::other)?;
    let file = FileRef {
        path: path.to_string_lossy().into_owned(),
        bytes: text.len() as u64,
        sha256: sha256_hex(&text),
    };
    replace(&path, &text)?;
    Ok(Some(file))
}

/// Writes a file in one move: what stands there may be a link or a pipe.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut draft, text)?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Reads a kept item; what is not as it was kept is none.
pub(super) fn read(kept: &FileRef) -> Result<Item, String> {
    let changed = |what: &dyn std::fmt::Display| format!("{} {what}", kept.path);
    let bytes = plain_file::read(Path::new(&kept.path), kept.bytes)
        .map_err(|error| changed(&format_args!("cannot be read: {error}")))?
        .filter(|bytes| sha256_hex(bytes) == kept.sha256)
        .ok_or_else(|| changed(&"is not as it was written"))?;
    serde_json::from_slice(&bytes).map_err(|error| changed(&format_args!("is no item: {error}")))
}
