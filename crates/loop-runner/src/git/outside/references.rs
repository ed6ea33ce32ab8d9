//! Branches, tags and the stash.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use gix::bstr::{BString, ByteSlice};

use crate::git::{
    plain_file::{self, is_absent},
    snapshot::SnapshotError,
    workspace::{to_bytes, to_path},
};

use super::{OutsideChange, shown};

/// The longest reference, in bytes.
const MAX_REFERENCE: u64 = 1 << 16;
/// The longest file of packed references, or log of stashes, in bytes.
const MAX_PACKED: u64 = 256 << 20;
/// The most references that are read.
const MAX_REFERENCES: usize = 1_000_000;

/// What belongs to a person; remote branches come and go by themselves.
const KEPT: [&str; 4] = ["refs/heads/", "refs/tags/", "refs/replace/", "refs/stash"];
/// How the branches of loops begin.
const LOOPS: [&str; 2] = ["refs/heads/loop/", "refs/heads/loop-"];

/// What each reference names, by its full name.
#[derive(Debug)]
pub(super) struct References {
    names: BTreeMap<BString, Vec<u8>>,
    /// All stashes: the reference names the latest only.
    stashes: Option<Vec<u8>>,
}

impl References {
    /// Reads those that are packed, and those that are files, which stand above them.
    pub(super) fn take(common_dir: &Path) -> Result<Self, SnapshotError> {
        let mut names = BTreeMap::new();
        let packed = read(&common_dir.join("packed-refs"), MAX_PACKED)?;
        for line in packed.unwrap_or_default().lines() {
            if let Some((id, name)) = line.split_once_str(" ")
                && is_kept(name)
            {
                names.insert(BString::from(name), id.to_owned());
            }
        }
        let mut open = vec![PathBuf::from("refs")];
        while let Some(folder) = open.pop() {
            let full = common_dir.join(&folder);
            let failed = |source| SnapshotError::Read {
                path: full.clone(),
                source,
            };
            let entries = match fs::read_dir(&full) {
                Err(error) if is_absent(&error) => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let path = folder.join(entry.file_name());
                if entry.file_type().map_err(failed)?.is_dir() {
                    open.push(path);
                    continue;
                }
                let name = to_bytes(&path);
                if is_kept(&name) && !name.ends_with(b".lock") {
                    let value = read(&entry.path(), MAX_REFERENCE)?;
                    let value = value.map(|value| value.trim().to_owned());
                    names.insert(name, value.unwrap_or_else(|| b"unreadable".to_vec()));
                }
                if names.len() + open.len() > MAX_REFERENCES {
                    return Err(failed(io::Error::other("there are too many references")));
                }
            }
        }
        Ok(Self {
            names,
            stashes: read(&common_dir.join("logs/refs/stash"), MAX_PACKED)?,
        })
    }

    pub(super) fn compare(&self, after: &Self, changes: &mut Vec<OutsideChange>) {
        let stash = b"refs/stash".as_bstr();
        let names = self.names.keys().chain(after.names.keys());
        let names: BTreeSet<_> = names.filter(|name| **name != stash).collect();
        for name in names {
            let (was, is) = (self.names.get(name), after.names.get(name));
            // A fetch brings tags by itself, and editors fetch by themselves.
            let is_fetched = was.is_none() && name.starts_with(b"refs/tags/");
            if was != is && !is_fetched {
                let what = format!("{} {}", called(name), fate(was, is));
                changes.push(OutsideChange::new(what));
            }
        }
        if self.names.get(stash) != after.names.get(stash) || self.stashes != after.stashes {
            changes.push(OutsideChange::new("the stash was changed".to_owned()));
        }
    }
}

/// Reads a file; `None` when there is none, or something else in its place.
fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, SnapshotError> {
    match plain_file::read(path, limit) {
        Ok(content) => Ok(content),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(SnapshotError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

fn is_kept(name: &[u8]) -> bool {
    KEPT.iter().any(|start| name.starts_with(start.as_bytes()))
        && !LOOPS.iter().any(|start| name.starts_with(start.as_bytes()))
}

/// Says which reference it is.
fn called(name: &BString) -> String {
    for (kind, start) in [("branch", &b"refs/heads/"[..]), ("tag", b"refs/tags/")] {
        if let Some(short) = name.strip_prefix(start) {
            return format!("the {kind} {}", shown(to_path(short.as_bstr())));
        }
    }
    format!("the reference {}", shown(to_path(name.as_ref())))
}

/// Says what became of it.
fn fate(was: Option<&Vec<u8>>, is: Option<&Vec<u8>>) -> String {
    match (was, is) {
        (Some(was), Some(is)) => format!("was moved from {} to {}", brief(was), brief(is)),
        (Some(was), None) => format!("was deleted; it was at {}", brief(was)),
        (None, Some(is)) => format!("was made at {}", brief(is)),
        (None, None) => "is not there".to_owned(),
    }
}

/// The start of an id, or another reference's name.
fn brief(value: &[u8]) -> String {
    let value = value
        .strip_prefix(b"ref: ")
        .unwrap_or_else(|| &value[..value.len().min(12)]);
    shown(to_path(value.as_bstr()))
}
