//! Appending to the log, `events.jsonl`.

use super::error::HeldError;
use super::file::{At, FileError, open_to_write};
use crate::fault;
use loop_core::record::{Body, Record};
use loop_core::time::Timestamp;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest `answer` record: answers are small, raw text stays in files.
const MAX_ANSWER: usize = 32 * 1024;

/// The end of the log, where its one writer appends.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    /// Number of the last record; 0 for none.
    seq: u64,
    /// Where the last record ends, in bytes.
    end: u64,
    /// Whether a failed write could not be taken back.
    broken: bool,
}

/// Opens the log for appending and reading; it is made if it is missing.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    open_to_write(path, OpenOptions::new().read(true).append(true))
}

impl Log {
    /// Goes on behind record `seq`, which ends at byte `end`.
    pub(super) fn new(file: File, path: PathBuf, seq: u64, end: u64) -> Self {
        Self {
            file,
            path,
            seq,
            end,
            broken: false,
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Appends a record, and waits for the disk where the record asks for it.
    /// On an error the log is as it was.
    pub(super) fn append(&mut self, at: Timestamp, body: Body) -> Result<Record, HeldError> {
        let record = Record {
            seq: self.seq + 1,
            at,
            body,
        };
        let line = self.line(&record)?;
        self.check_usable()?;
        fault::point("append.before");
        if let Err(error) = self.write(&line, record.body.needs_sync()) {
            self.take_back();
            return Err(error).at("write", &self.path)?;
        }
        self.seq = record.seq;
        self.end += line.len() as u64;
        Ok(record)
    }

    fn line(&self, record: &Record) -> Result<Vec<u8>, HeldError> {
        let mut line = serde_json::to_vec(record)
            .map_err(io::Error::other)
            .at("write", &self.path)?;
        line.push(b'\n');
        let answer = matches!(record.body, Body::Answer(_));
        if answer && line.len() > MAX_ANSWER {
            return Err(HeldError::TooLarge {
                bytes: line.len(),
                max: MAX_ANSWER,
            });
        }
        Ok(line)
    }

    fn check_usable(&self) -> Result<(), HeldError> {
        if self.broken {
            return Err(HeldError::Broken {
                path: self.path.clone(),
            });
        }
        // What is written to a file without a name is lost.
        if self.file.metadata().at("read", &self.path)?.nlink() == 0 {
            return Err(HeldError::StateRemoved {
                path: self.path.clone(),
            });
        }
        Ok(())
    }

    fn write(&mut self, line: &[u8], sync: bool) -> io::Result<()> {
        self.file.write_all(line)?;
        fault::point("append.written");
        if sync {
            if let Err(error) = self.file.sync_data() {
                // What the disk holds now is unknown, even after a later success.
                self.broken = true;
                return Err(error);
            }
            fault::point("append.synced");
        }
        Ok(())
    }

    /// Waits until every record is on disk.
    pub(super) fn sync(&mut self) -> Result<(), FileError> {
        self.file.sync_data().at("sync", &self.path)
    }

    /// Cuts off what follows the last record.
    pub(super) fn cut_behind_end(&mut self) -> Result<(), FileError> {
        self.file.set_len(self.end).at("cut", &self.path)?;
        self.file.sync_all().at("sync", &self.path)
    }

    /// Cuts off what a failed write left behind.
    fn take_back(&mut self) {
        self.broken |= self.file.set_len(self.end).is_err();
    }
}
