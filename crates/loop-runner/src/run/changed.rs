//! What a run has changed: files and lines.

use crate::kept;
use crate::scope_check::stats_since;
use crate::setup::Setup;
use loop_core::answer::FileRef;
use loop_core::run::{Changed, ChangedFile};
use std::sync::atomic::AtomicBool;

/// Counts what differs from the start of the task; `None` when nobody can tell.
pub(super) fn since_start(setup: &Setup, baseline: Option<FileRef>) -> Option<Changed> {
    let text = String::from_utf8(kept::read(&baseline?).ok()?).ok()?;
    let start = text.parse().ok()?;
    let stats = stats_since(setup, None, &start, &AtomicBool::new(false)).ok()?;
    Some(Changed::of(stats.into_iter().map(|stat| ChangedFile {
        path: stat.quoted_path(),
        added: stat.lines.map(|lines| lines.added),
        removed: stat.lines.map(|lines| lines.removed),
    })))
}
