//! What a run has changed: files and lines.

use crate::baseline;
use crate::scope_check::stats_since;
use crate::setup::Setup;
use loop_core::answer::FileRef;
use loop_core::run::{Changed, ChangedFile};
use std::sync::atomic::AtomicBool;

/// Counts what differs from the start of the task; `None` when nobody can tell.
pub(super) fn since_start(setup: &Setup, kept: Option<FileRef>) -> Option<Changed> {
    let start = baseline::of(&kept?).ok()?;
    let stats = stats_since(setup, None, &start, &AtomicBool::new(false)).ok()?;
    Some(Changed::of(stats.into_iter().map(|stat| ChangedFile {
        path: stat.quoted_path(),
        added: stat.lines.map(|lines| lines.added),
        removed: stat.lines.map(|lines| lines.removed),
    })))
}
