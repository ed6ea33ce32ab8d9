//! The cache of the state, `.state.json`.

use super::error::LogError;
use super::file::{At, FileError, draft, read_small};
use super::growth;
use super::paths::LoopDir;
use super::read::Snapshot;
use crate::fault;
use loop_core::state::State;
use serde_json::{Map, Value};
use std::io;

/// The largest cache that is read. The state is bounded, and far smaller.
const MAX_CACHE: u64 = 16 * 1024 * 1024;

/// What is found where the cache should be.
#[derive(Debug)]
pub(super) enum Cached {
    Missing,
    Unreadable { why: String },
    Found(Box<Snapshot>),
}

impl Cached {
    pub(super) fn read(dir: &LoopDir) -> Result<Self, FileError> {
        let path = dir.cache();
        let read = match read_small(&path, MAX_CACHE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Missing),
            // Something else stands there; it is replaced like a bad cache.
            Err(error) if error.kind() == io::ErrorKind::Other => Err(error.to_string()),
            bytes => parse(&bytes.at("read", &path)?).map_err(|error| error.to_string()),
        };
        Ok(match read {
            Ok(snapshot) => Self::Found(Box::new(snapshot)),
            Err(why) => Self::Unreadable { why },
        })
    }

    /// Checks that a loop without a log is a new one.
    pub(super) fn check_new(&self, dir: &LoopDir) -> Result<(), LogError> {
        let beside = match self {
            Self::Missing => match growth::segments(dir)?.pop() {
                Some(segment) => segment.path,
                None => return Ok(()),
            },
            Self::Unreadable { .. } | Self::Found(_) => dir.cache(),
        };
        Err(LogError::Missing {
            path: dir.events(),
            beside,
        })
    }

    /// Checks that the log, whose last record is `last`, has not lost its end:
    /// the cache is only written when its record is on disk.
    pub(super) fn check_against(&self, dir: &LoopDir, last: u64) -> Result<(), LogError> {
        let known = match self {
            Self::Missing => 0,
            Self::Unreadable { .. } => 1,
            Self::Found(snapshot) => snapshot.seq,
        };
        if known <= last {
            return Ok(());
        }
        Err(LogError::Cut {
            path: dir.events(),
            beside: dir.cache(),
            last,
            known,
        })
    }
}

fn parse(bytes: &[u8]) -> serde_json::Result<Snapshot> {
    use serde::de::Error;
    let mut keys: Map<String, Value> = serde_json::from_slice(bytes)?;
    let mut number = |key: &'static str| {
        keys.shift_remove(key)
            .and_then(|value| value.as_u64())
            .ok_or_else(|| serde_json::Error::missing_field(key))
    };
    let (seq, end) = (number("seq")?, number("end")?);
    let state: State = serde_json::from_value(Value::Object(keys))?;
    Ok(Snapshot { state, seq, end })
}

/// Replaces the cache. It is not synced: the log is the truth.
pub(super) fn write(dir: &LoopDir, snapshot: &Snapshot) -> Result<(), FileError> {
    let path = dir.cache();
    let text = render(snapshot)
        .map_err(io::Error::other)
        .at("write", &path)?;
    let draft = draft(dir.root(), text.as_bytes()).at("write", &path)?;
    fault::point("cache.written");
    draft
        .persist(&path)
        .map_err(|error| error.error)
        .at("replace", &path)?;
    fault::point("cache.renamed");
    Ok(())
}

fn render(snapshot: &Snapshot) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(&snapshot.state)?;
    if let Value::Object(keys) = &mut value {
        keys.insert("seq".to_owned(), snapshot.seq.into());
        keys.insert("end".to_owned(), snapshot.end.into());
    }
    let mut text = serde_json::to_string_pretty(&value)?;
    text.push('\n');
    Ok(text)
}
