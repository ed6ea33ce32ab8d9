//! Reading the log back from its end.

use super::error::LogError;
use super::file::At;
use loop_core::record::{Body, Record};
use loop_core::replay::{Bare, ReplayError, Replayed, replay, replay_foreign};
use loop_core::state::State;
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How much of the end is looked at first; it grows fourfold until the line is
/// found. A tick's records seldom take more.
const FIRST_LOOK: u64 = 64 * 1024;

/// The part of a log that matters now: from its latest `closed` record on, or
/// all of it when there is none.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The records that can be read; only the first can be a `closed` one.
    pub(super) records: Vec<Record>,
    /// What another version of the engine wrote, if one opened the latest tick.
    pub(super) foreign: Option<Foreign>,
    /// Number of the last record; 0 for none.
    pub(super) seq: u64,
    /// Where the last record ends, in bytes.
    pub(super) end: u64,
    /// What follows it, and is no record.
    pub(super) torn: Vec<u8>,
}

/// The records behind the latest `closed` one, when another version of the
/// engine opened a tick there.
#[derive(Debug)]
pub(super) struct Foreign {
    pub(super) engine: String,
    pub(super) records: Vec<Bare>,
}

/// Reads the part of a log that matters now, for an engine of version `engine`.
pub(super) fn read_tail(file: &File, path: &Path, engine: &str) -> Result<Tail, LogError> {
    let (start, bytes) = find_back(file, is_closed).at("read", path)?;
    let mut tail = Tail {
        records: Vec::new(),
        foreign: Foreign::find(&bytes, engine),
        seq: 0,
        end: start,
        torn: Vec::new(),
    };
    let mut torn: Option<String> = None;
    let mut at = start;
    let whole = |line: &&[u8]| line.ends_with(b"\n");
    for line in bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take_while(whole)
    {
        let here = at;
        at += line.len() as u64;
        match (tail.read(line), torn.take()) {
            (Ok(line), None) => {
                let found = line.seq();
                tail.take(line).map_err(|expected| LogError::Gap {
                    path: path.to_owned(),
                    line: line_number(file, here),
                    expected,
                    found,
                })?;
                tail.end = at;
            }
            // Only the last lines can be torn by a crash.
            (Ok(_), Some(why)) => return Err(bad_line(file, path, tail.end, why)),
            (Err(NoRecord::Other(why)), before) => {
                let (at, why) = before.map_or((here, why), |why| (tail.end, why));
                return Err(bad_line(file, path, at, why));
            }
            (Err(NoRecord::Garbage(why)), before) => torn = Some(before.unwrap_or(why)),
        }
    }
    let kept = usize::try_from(tail.end - start).unwrap_or(usize::MAX);
    tail.torn = bytes.get(kept..).unwrap_or_default().to_vec();
    Ok(tail)
}

impl Tail {
    /// Replays the records; what another version wrote is only counted.
    pub(super) fn fold(&self) -> Result<Replayed, ReplayError> {
        let (state, rest) = match self.records.split_first() {
            Some((first, rest)) => match &first.body {
                Body::Closed(closed) => (closed.state.clone(), rest),
                _ => (State::new(), &self.records[..]),
            },
            None => (State::new(), &[][..]),
        };
        match &self.foreign {
            Some(foreign) => Ok(replay_foreign(state, &foreign.records, &foreign.engine)),
            None => replay(state, rest),
        }
    }

    /// Returns the version of the engine that opened the latest tick.
    pub(super) fn engine(&self) -> Option<&str> {
        self.records
            .iter()
            .rev()
            .find_map(|record| match &record.body {
                Body::Opened(opened) => Some(opened.engine.as_str()),
                _ => None,
            })
    }

    /// Reads a line. Where another version wrote, its number is enough.
    fn read(&self, line: &[u8]) -> Result<Line, NoRecord> {
        let known = parse(line);
        let bare = match (&self.foreign, &known) {
            (None, _) | (_, Err(NoRecord::Garbage(_))) => None,
            (Some(_), _) => Bare::read(line),
        };
        match (known, bare) {
            (Ok(record), bare) => Ok(Line::Known(Box::new(record), bare)),
            (Err(_), Some(bare)) if self.seq > 0 || bare.seq == 1 => Ok(Line::Foreign(bare)),
            (Err(error), _) => Err(error),
        }
    }

    /// Takes a line in, or returns the number that has to come.
    fn take(&mut self, line: Line) -> Result<(), u64> {
        let (seq, expected) = (line.seq(), self.seq + 1);
        let (known, bare) = match line {
            Line::Known(record, bare) => (Some(*record), bare),
            Line::Foreign(bare) => (None, Some(bare)),
        };
        let closed = known
            .as_ref()
            .is_some_and(|record| matches!(record.body, Body::Closed(_)));
        if seq != expected && !(closed && self.seq == 0) {
            return Err(expected);
        }
        self.seq = seq;
        self.records.extend(known);
        if let (Some(foreign), Some(bare), false) = (&mut self.foreign, bare, closed) {
            foreign.records.push(bare);
        }
        Ok(())
    }
}

/// A line that has its place in the log.
enum Line {
    /// A record; with it what every version understands, where that is needed.
    Known(Box<Record>, Option<Bare>),
    /// A record that only another version understands as a whole.
    Foreign(Bare),
}

impl Line {
    fn seq(&self) -> u64 {
        match self {
            Self::Known(record, _) => record.seq,
            Self::Foreign(bare) => bare.seq,
        }
    }
}

impl Foreign {
    /// Looks for an `opened` record that is not of version `engine`. Behind the
    /// latest `closed` record there is one at the most.
    fn find(bytes: &[u8], engine: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Opened {
            kind: String,
            engine: String,
        }
        let opened = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Opened>(line).ok())
            .find(|line| line.kind == "opened")?;
        (opened.engine != engine).then(|| Self {
            engine: opened.engine,
            records: Vec::new(),
        })
    }
}

fn bad_line(file: &File, path: &Path, offset: u64, why: String) -> LogError {
    LogError::BadLine {
        path: path.to_owned(),
        line: line_number(file, offset),
        why,
    }
}

/// Why a line is no record.
pub(super) enum NoRecord {
    /// It is no JSON object, as a crash can leave it.
    Garbage(String),
    /// Somebody wrote it: another engine, or a person.
    Other(String),
}

/// Reads one line, with or without its end.
pub(super) fn parse(line: &[u8]) -> Result<Record, NoRecord> {
    serde_json::from_slice(line).map_err(|error| {
        let why = error.to_string();
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(_)) => NoRecord::Other(why),
            _ => NoRecord::Garbage(why),
        }
    })
}

fn is_closed(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    serde_json::from_slice::<Kind>(line).is_ok_and(|line| line.kind == "closed")
}

/// Returns the file's bytes from the last whole line on that `wanted` picks, and
/// where they start; all of them when it picks none.
pub(super) fn find_back(file: &File, wanted: impl Fn(&[u8]) -> bool) -> io::Result<(u64, Vec<u8>)> {
    let len = file.metadata()?.len();
    let mut look = FIRST_LOOK;
    loop {
        let start = len.saturating_sub(look);
        let bytes = read_from(file, start, len)?;
        if let Some(at) = last_line(&bytes, start == 0, &wanted) {
            return Ok((start + at as u64, bytes[at..].to_vec()));
        }
        if start == 0 {
            return Ok((0, bytes));
        }
        look = look.saturating_mul(4);
    }
}

/// Returns where the last whole line starts that `wanted` picks. The first line
/// counts only when the bytes begin with it.
fn last_line(bytes: &[u8], from_start: bool, wanted: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let newline_before = |end: usize| bytes[..end].iter().rposition(|byte| *byte == b'\n');
    let mut end = newline_before(bytes.len())?;
    loop {
        let before = newline_before(end);
        let start = match before {
            Some(newline) => newline + 1,
            None if from_start => 0,
            None => return None,
        };
        if wanted(&bytes[start..end]) {
            return Some(start);
        }
        end = before?;
    }
}

/// Reads up to `end`, or less if the file was cut meanwhile.
fn read_from(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], start + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Returns the number of the line at `offset`, from 1. Only an error needs it.
fn line_number(file: &File, offset: u64) -> u64 {
    let before = read_from(file, 0, offset).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}
