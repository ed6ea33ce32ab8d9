//! A state as text, to be kept from one tick to the next.
//!
//! The first line is `snapshot 1 project` or `snapshot 1 repository`, each other one
//! `<kind> <id> <path in hexadecimal>`, and the last one is `end`, so that a cut-off text is noticed.

use std::{collections::BTreeMap, fmt, str::FromStr};

use gix::{ObjectId, bstr::BString};

use super::snapshot::{Entry, EntryKind, Reach, Snapshot};

/// The last line.
const END: &str = "end";

/// Tells that a text is not the state of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a snapshot: line {line}")]
pub struct InvalidSnapshot {
    /// The first line that is wrong or missing, from 1.
    pub line: usize,
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", header(self.reach))?;
        for (path, entry) in &self.entries {
            f.write_str(&entry.line(path.as_ref()))?;
        }
        writeln!(f, "{END}")
    }
}

impl FromStr for Snapshot {
    type Err = InvalidSnapshot;

    fn from_str(text: &str) -> Result<Self, InvalidSnapshot> {
        let mut lines = text.split_inclusive('\n').zip(1..);
        let reach = lines
            .next()
            .and_then(|(line, _)| reach_of(line))
            .ok_or(InvalidSnapshot { line: 1 })?;
        let mut entries = BTreeMap::new();
        let mut last = 1;
        for (line, number) in lines {
            if line.strip_suffix('\n') == Some(END) {
                return Ok(Self { reach, entries });
            }
            let (path, entry) = entry_of(line).ok_or(InvalidSnapshot { line: number })?;
            entries.insert(path, entry);
            last = number;
        }
        Err(InvalidSnapshot { line: last + 1 })
    }
}

fn header(reach: Reach) -> &'static str {
    match reach {
        Reach::Project => "snapshot 1 project",
        Reach::Repository => "snapshot 1 repository",
    }
}

fn reach_of(line: &str) -> Option<Reach> {
    let line = line.strip_suffix('\n')?;
    [Reach::Project, Reach::Repository]
        .into_iter()
        .find(|reach| header(*reach) == line)
}

/// Reads what [`Entry::line`] writes.
pub(super) fn entry_of(line: &str) -> Option<(BString, Entry)> {
    let mut words = line.strip_suffix('\n')?.split(' ');
    let letter = words.next()?;
    let kind = EntryKind::ALL
        .into_iter()
        .find(|kind| letter == kind.letter().to_string())?;
    let id = ObjectId::from_hex(words.next()?.as_bytes()).ok()?;
    let path = unhex(words.next()?)?;
    words.next().is_none().then_some((path, Entry { kind, id }))
}

pub(super) fn unhex(text: &str) -> Option<BString> {
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    bytes
        .filter(|_| text.len().is_multiple_of(2))
        .map(Into::into)
}
