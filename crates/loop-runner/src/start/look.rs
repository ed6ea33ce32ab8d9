//! A cheap look at what others have done to a loop meanwhile.

use crate::store::{LoopDir, ReadError, read_state, records_after};
use loop_core::control::Request;
use loop_core::record::Body;
use loop_core::state::State;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How a loop's record and inbox look from outside. As long as it is the same,
/// nothing has to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    events: Option<Stamp>,
    inbox: Option<Stamp>,
}

/// Which file it is, how long, and when it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    seconds: i64,
    nanos: i64,
}

impl Mark {
    pub(super) fn of(dir: &LoopDir) -> Self {
        Self {
            events: stamp(&dir.events()),
            inbox: stamp(&dir.control()),
        }
    }
}

#[cfg(test)]
impl Mark {
    /// Makes one that differs from every other with another number.
    pub(super) fn fake(bytes: u64) -> Self {
        let stamp = Stamp {
            inode: 0,
            bytes,
            seconds: 0,
            nanos: 0,
        };
        Self {
            events: Some(stamp),
            inbox: None,
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let of = |found: Metadata| Stamp {
        inode: found.ino(),
        bytes: found.len(),
        seconds: found.mtime(),
        nanos: found.mtime_nsec(),
    };
    path.symlink_metadata().ok().map(of)
}

/// What is found where something changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) state: State,
    /// Number of the last record.
    pub(super) seq: u64,
    /// Whether a request waits for a tick to take it in.
    pub(super) request_waits: bool,
}

impl Found {
    pub(super) fn read(dir: &LoopDir) -> Result<Self, ReadError> {
        let snapshot = read_state(dir)?;
        Ok(Self {
            state: snapshot.state,
            seq: snapshot.seq,
            request_waits: request_waits(dir),
        })
    }
}

fn request_waits(dir: &LoopDir) -> bool {
    let Ok(entries) = dir.control().read_dir() else {
        return false;
    };
    // A name with a dot is a request in the making.
    entries
        .flatten()
        .any(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
}

/// Whether the pause of a loop came from `loop stop`: the records behind number
/// `seq` tell.
pub(super) fn was_stopped(dir: &LoopDir, seq: u64) -> bool {
    let Ok(records) = records_after(dir, seq) else {
        return false;
    };
    let pauses = records.map_while(Result::ok).filter_map(|record| {
        let Body::Control(requested) = record.body else {
            return None;
        };
        match requested.control.request {
            Request::Stop if requested.accepted => Some(true),
            Request::Pause | Request::Resume if requested.accepted => Some(false),
            _ => None,
        }
    });
    pauses.last().unwrap_or(false)
}
