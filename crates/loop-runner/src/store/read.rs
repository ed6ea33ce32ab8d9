//! Reading a loop without its lock.

use super::cache::Cached;
use super::error::{LogError, ReadError};
use super::file::{At, FileError, open_to_read};
use super::growth::segments;
use super::paths::LoopDir;
use super::scan::{NoRecord, parse, read_tail};
use loop_core::record::Record;
use loop_core::state::{Running, State};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The version of this engine; what another one has written is only counted.
const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// A loop's state as of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// Number of the record; 0 for a new loop.
    pub seq: u64,
    /// Where that record ends in `events.jsonl`, in bytes.
    pub end: u64,
}

/// Reads a loop's state: the cache alone when it is as new as the log, else the
/// log's tail. A last line without its end is still being written and does not
/// count.
///
/// # Errors
///
/// [`ReadError`] when the log is missing beside other files of the loop, or
/// cannot be read or trusted.
pub fn read_state(dir: &LoopDir) -> Result<Snapshot, ReadError> {
    read_state_as(dir, ENGINE)
}

/// Does the same for an engine of version `engine`.
pub(super) fn read_state_as(dir: &LoopDir, engine: &str) -> Result<Snapshot, ReadError> {
    let cached = Cached::read(dir)?;
    let path = dir.events();
    let file = match open_to_read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            cached.check_new(dir)?;
            return Ok(Snapshot {
                state: State::new(),
                seq: 0,
                end: 0,
            });
        }
        file => file.at("open", &path)?,
    };
    let len = file.metadata().at("read", &path)?.len();
    match cached {
        Cached::Found(snapshot) if snapshot.end == len => Ok(*snapshot),
        cached => {
            let tail = read_tail(&file, &path, engine)?;
            cached.check_against(dir, tail.seq)?;
            let replayed = tail
                .fold()
                .map_err(|source| ReadError::Replay { path, source })?;
            Ok(Snapshot {
                state: replayed.machine.state().clone(),
                seq: tail.seq,
                end: tail.end,
            })
        }
    }
}

/// Reads all of a loop's records, oldest first.
///
/// # Errors
///
/// [`ReadError`] when the loop's folder cannot be read.
pub fn records(dir: &LoopDir) -> Result<Records, ReadError> {
    records_after(dir, 0)
}

/// Reads a loop's records that follow number `seq`.
///
/// # Errors
///
/// [`ReadError`] when the loop's folder cannot be read.
pub fn records_after(dir: &LoopDir, seq: u64) -> Result<Records, ReadError> {
    let mut records = Records {
        dir: dir.clone(),
        older: VecDeque::new(),
        live: None,
        reading: None,
        seq,
        failed: false,
    };
    records.look()?;
    Ok(records)
}

/// The records of a loop, through every part of its log.
///
/// After the last record it gives `None`; asked again later, it goes on with
/// what was written meanwhile. An error ends it for good.
#[derive(Debug)]
pub struct Records {
    dir: LoopDir,
    /// Parts that were put aside and are still to be read.
    older: VecDeque<PathBuf>,
    /// The live log, to be read after those.
    live: Option<Lines>,
    reading: Option<Lines>,
    /// Number of the last record that was given.
    seq: u64,
    /// Whether an error was given, which is the last thing that is.
    failed: bool,
}

impl Records {
    /// Returns the number of the last record that was given, from where
    /// [`records_after`] goes on.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.seq
    }

    /// Looks which files hold what comes next. The live log is opened first: if
    /// it is put aside meanwhile, it is read twice rather than not at all.
    fn look(&mut self) -> Result<(), FileError> {
        self.live = Lines::open(self.dir.events())?;
        self.reading = None;
        self.older = segments(&self.dir)?
            .into_iter()
            .filter(|segment| segment.last > self.seq)
            .map(|segment| segment.path)
            .collect();
        Ok(())
    }

    fn read_on(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            if self.reading.is_none() {
                self.reading = match self.older.pop_front() {
                    Some(path) => Lines::open(path)?,
                    None => self.live.take(),
                };
            }
            let Some(lines) = &mut self.reading else {
                if self.older.is_empty() {
                    // Nothing is there yet; it may be the next time.
                    self.live = Lines::open(self.dir.events())?;
                    return Ok(None);
                }
                continue;
            };
            if let Some(record) = lines.next()? {
                // A part begins with the record that the one before ends with.
                if record.seq <= self.seq {
                    continue;
                }
                if self.seq > 0 && record.seq != self.seq + 1 {
                    return Err(lines.gap(self.seq + 1, record.seq).into());
                }
                self.seq = record.seq;
                return Ok(Some(record));
            }
            if self.live.is_some() || !self.older.is_empty() {
                self.reading = None;
            } else if lines.is_at(&self.dir.events()) {
                return Ok(None);
            } else {
                self.look()?;
            }
        }
    }
}

impl Iterator for Records {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.read_on().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

/// The whole lines of one file.
#[derive(Debug)]
struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    /// Where the next line starts.
    at: u64,
    number: u64,
    /// Number of the last record that was read.
    last: Option<u64>,
}

impl Lines {
    /// Opens a file; `None` when there is none.
    fn open(path: PathBuf) -> Result<Option<Self>, FileError> {
        match open_to_read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Ok(Some(Self {
                reader: BufReader::new(file.at("open", &path)?),
                path,
                at: 0,
                number: 0,
                last: None,
            })),
        }
    }

    /// Reads a line; `None` when none is there as a whole.
    fn next(&mut self) -> Result<Option<Record>, LogError> {
        let mut line = Vec::new();
        self.reader
            .read_until(b'\n', &mut line)
            .at("read", &self.path)?;
        if !line.ends_with(b"\n") {
            // It may be taken back, or be written to its end.
            let back = SeekFrom::Start(self.at);
            self.reader.seek(back).at("read", &self.path)?;
            return Ok(None);
        }
        self.at += line.len() as u64;
        self.number += 1;
        match parse(&line) {
            Ok(record) => {
                self.check_number(record.seq)?;
                Ok(Some(record))
            }
            Err(NoRecord::Garbage(why) | NoRecord::Other(why)) => Err(LogError::BadLine {
                path: self.path.clone(),
                line: self.number,
                why,
            }),
        }
    }

    /// Refuses a number that does not follow from the one before it in this file.
    fn check_number(&mut self, seq: u64) -> Result<(), LogError> {
        match self.last.replace(seq) {
            Some(last) if seq != last + 1 => Err(self.gap(last + 1, seq)),
            _ => Ok(()),
        }
    }

    fn gap(&self, expected: u64, found: u64) -> LogError {
        LogError::Gap {
            path: self.path.clone(),
            line: self.number,
            expected,
            found,
        }
    }

    /// Whether `path` still names this file, or nothing.
    fn is_at(&self, path: &Path) -> bool {
        let id = |file: std::fs::Metadata| (file.dev(), file.ino());
        match (self.reader.get_ref().metadata(), path.metadata()) {
            (Ok(here), Ok(there)) => id(here) == id(there),
            _ => true,
        }
    }
}

impl Snapshot {
    /// Returns the step that is running: what the state names, if the process
    /// that drives it is alive. One that was killed had no time to say so.
    #[must_use]
    pub fn running(&self) -> Option<Running> {
        let running = self.state.running?;
        let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw)?;
        let alive = !matches!(test_kill_process(pid), Err(Errno::SRCH));
        alive.then_some(running)
    }
}
