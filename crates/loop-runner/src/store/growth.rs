//! Putting a grown log aside, so that a cold start reads one tick.

use super::file::{At, DRAFT, FileError, open_to_read, remove, sync_folder};
use super::held::Held;
use super::log::Log;
use super::paths::LoopDir;
use super::scan::find_back;
use crate::fault;
use serde::Deserialize;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The size from which on a log is put aside when its tick is closed.
pub(super) const GROWN: u64 = 16 * 1024 * 1024;

/// A part of the log that was put aside.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) path: PathBuf,
}

/// Returns what was put aside, oldest first.
pub(super) fn segments(dir: &LoopDir) -> Result<Vec<Segment>, FileError> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(dir.root()).at("read", dir.root())? {
        let name = entry.at("read", dir.root())?.file_name();
        let numbers = name.to_str().and_then(numbers);
        if let Some((first, last)) = numbers {
            let path = dir.segment(first, last);
            segments.push(Segment { first, last, path });
        }
    }
    segments.sort_by_key(|segment| (segment.first, segment.last));
    Ok(segments)
}

fn numbers(name: &str) -> Option<(u64, u64)> {
    let middle = name.strip_prefix("events-")?.strip_suffix(".jsonl")?;
    let (first, last) = middle.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Clears what a crash of the lock's holder can leave behind: here and while it
/// wrote a whole file.
pub(super) fn clear_leftovers(dir: &LoopDir) -> Result<(), FileError> {
    remove(&dir.next_events())?;
    for entry in fs::read_dir(dir.root()).at("read", dir.root())? {
        let name = entry.at("read", dir.root())?.file_name();
        if name.as_encoded_bytes().starts_with(DRAFT.as_bytes()) {
            remove(&dir.root().join(name))?;
        }
    }
    let id = |file: fs::Metadata| (file.dev(), file.ino());
    let Ok(live) = dir.events().symlink_metadata().map(id) else {
        return Ok(());
    };
    for segment in segments(dir)? {
        if segment.path.symlink_metadata().map(id).ok() == Some(live) {
            remove(&segment.path)?;
        }
    }
    Ok(())
}

impl Held {
    /// Starts a new log with the `closed` record that has just been written, if
    /// the old one has grown. Between any two steps the log is whole.
    pub(super) fn put_aside_if_grown(&mut self) -> Result<(), FileError> {
        if self.log.end() <= self.grown {
            return Ok(());
        }
        let (live, next) = (self.dir.events(), self.dir.next_events());
        let segment = self.dir.segment(self.first_seq()?, self.log.seq());
        let (_, closed) = find_back(self.log.file(), |_| true).at("read", &live)?;

        remove(&next)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&next)
            .at("make", &next)?;
        file.write_all(&closed).at("write", &next)?;
        file.sync_all().at("sync", &next)?;
        fault::point("growth.copied");
        fs::hard_link(&live, &segment).at("link", &segment)?;
        fault::point("growth.linked");
        if let Err(error) = fs::rename(&next, &live) {
            remove(&segment)?;
            return Err(error).at("replace", &live);
        }
        fault::point("growth.renamed");
        self.log = Log::new(file, live, self.log.seq(), closed.len() as u64);
        sync_folder(self.dir.root())?;
        fault::point("growth.synced");
        self.save_cache();
        Ok(())
    }

    fn first_seq(&self) -> Result<u64, FileError> {
        #[derive(Deserialize)]
        struct First {
            seq: u64,
        }
        let path = self.log.path();
        let mut line = String::new();
        open_to_read(path)
            .and_then(|file| BufReader::new(file).read_line(&mut line))
            .at("read", path)?;
        let first: First = serde_json::from_str(&line)
            .map_err(io::Error::other)
            .at("read", path)?;
        Ok(first.seq)
    }
}
