//! A start as text, to be kept until its task ends.
//!
//! The first line is `start 1`, each other one a word and its values, and the last one is `end`, so
//! that a cut-off text is noticed. Paths and contents are in hexadecimal.

use std::{collections::BTreeMap, fmt, str::FromStr};

use gix::{ObjectId, bstr::BString};

use crate::hash::hex;

use super::{
    guarded::Guarded,
    hash_file::blob_id,
    ignore_rules::IgnoreRules,
    snapshot::{Entry, Snapshot},
    snapshot_text::{entry_of, unhex},
    start::{Basis, Start},
};

const FIRST: &str = "start 1";
const END: &str = "end";

/// Tells that a text is not the start of a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the start of a task: line {line}")]
pub struct InvalidStart {
    /// The first line that is wrong or missing, from 1.
    pub line: usize,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST}")?;
        if let Some(head) = &self.head {
            writeln!(f, "head {head}")?;
        }
        for content in &self.rules.shared {
            writeln!(f, "shared {}", hex(content))?;
        }
        for (path, content) in &self.rules.files {
            writeln!(f, "rules {} {}", hex(path), hex(content))?;
        }
        for (path, entry) in &self.guarded {
            write!(f, "guarded {}", entry.line(path.as_ref()))?;
        }
        for content in self.kept.values() {
            writeln!(f, "kept {}", hex(content))?;
        }
        match &self.basis {
            Basis::Commit(base, already) => {
                writeln!(f, "base {base}")?;
                for (path, entry) in already {
                    match entry {
                        Some(entry) => write!(f, "already {}", entry.line(path.as_ref()))?,
                        None => writeln!(f, "gone {}", hex(path))?,
                    }
                }
            }
            Basis::Files(snapshot) => write!(f, "files {snapshot}")?,
        }
        writeln!(f, "{END}")
    }
}

impl FromStr for Start {
    type Err = InvalidStart;

    fn from_str(text: &str) -> Result<Self, InvalidStart> {
        let mut read = Reader::default();
        let mut rest = text;
        let mut line = 0;
        loop {
            line += 1;
            let Some((first, after)) = rest.split_once('\n') else {
                return Err(InvalidStart { line });
            };
            if line > 1 && first == END {
                return read.finish().ok_or(InvalidStart { line });
            }
            if line > 1 && first.starts_with("files ") {
                // The rest is the state of all files, and the last line.
                let files = rest
                    .strip_prefix("files ")
                    .and_then(|rest| rest.strip_suffix("end\n"));
                read.files = Some(
                    files
                        .and_then(|files| files.parse().ok())
                        .ok_or(InvalidStart { line })?,
                );
                return read.finish().ok_or(InvalidStart { line });
            }
            let is_read = if line == 1 {
                first == FIRST
            } else {
                read.line(first).is_some()
            };
            if !is_read {
                return Err(InvalidStart { line });
            }
            rest = after;
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    head: Option<String>,
    rules: IgnoreRules,
    guarded: Guarded,
    kept: BTreeMap<ObjectId, Vec<u8>>,
    base: Option<String>,
    already: BTreeMap<BString, Option<Entry>>,
    files: Option<Snapshot>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Option<()> {
        let (word, value) = line.split_once(' ')?;
        match word {
            "head" => self.head = Some(value.to_owned()),
            "base" => self.base = Some(value.to_owned()),
            "shared" => self.rules.shared.push(unhex(value)?.into()),
            "rules" => {
                let (path, content) = value.split_once(' ')?;
                let content = unhex(content)?.into();
                self.rules.files.insert(unhex(path)?, content);
            }
            "guarded" => {
                let (path, entry) = entry_of(&format!("{value}\n"))?;
                self.guarded.insert(path, entry);
            }
            "kept" => {
                let content: Vec<u8> = unhex(value)?.into();
                self.kept.insert(blob_id(&content).ok()?, content);
            }
            "already" => {
                let (path, entry) = entry_of(&format!("{value}\n"))?;
                self.already.insert(path, Some(entry));
            }
            "gone" => drop(self.already.insert(unhex(value)?, None)),
            _ => return None,
        }
        Some(())
    }

    fn finish(self) -> Option<Start> {
        let basis = match (self.base, self.files) {
            (Some(base), None) => Basis::Commit(base, self.already),
            (None, Some(files)) => Basis::Files(files),
            _ => return None,
        };
        Some(Start {
            head: self.head,
            rules: self.rules,
            guarded: self.guarded,
            basis,
            kept: self.kept,
        })
    }
}
