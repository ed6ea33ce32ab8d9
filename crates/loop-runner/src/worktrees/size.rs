//! What a folder takes on disk.

use loop_core::time::Timestamp;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most files that are counted; a folder with more takes at least as much as is told.
const MAX_FILES: usize = 2_000_000;
/// The unit in which the system counts.
const BLOCK: u64 = 512;

/// The size of a folder.
pub(super) struct Size {
    /// What its files take on disk.
    pub(super) bytes: u64,
    /// The latest time that any of them has.
    pub(super) changed_at: Option<Timestamp>,
}

/// Adds up a folder and all below it. Links are not followed, and what cannot be read is left out.
pub(super) fn of(folder: &Path, stop: &AtomicBool) -> Size {
    let mut bytes = 0_u64;
    let mut latest: Option<i64> = None;
    let mut left = MAX_FILES;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if left == 0 || stop.load(Ordering::Relaxed) {
                break;
            }
            left -= 1;
            let Ok(meta) = entry.metadata() else {
                continue;
            };
            bytes = bytes.saturating_add(meta.blocks().saturating_mul(BLOCK));
            latest = latest.max(Some(meta.mtime()));
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Size {
        bytes,
        changed_at: latest.map(|seconds| Timestamp::from_unix_millis(seconds.saturating_mul(1000))),
    }
}
