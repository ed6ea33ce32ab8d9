//! What one path holds.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use gix::ObjectId;

use crate::hash::hex;

use super::{
    budget::Budget,
    fault::GitFault,
    listing::nested_files,
    plain_file::{self, is_absent},
    seen::{Pass, Stamp},
    snapshot::{Entry, EntryKind, SnapshotError},
    workspace::to_bytes,
};

/// How much of a file is read at once, in bytes.
const MAX_BUFFER: usize = 64 * 1024;

/// What is at a path.
pub(super) struct Found {
    pub(super) entry: Entry,
    /// Whether it was read just now and can be remembered: then by what.
    pub(super) stamp: Option<Stamp>,
}

impl From<Entry> for Found {
    fn from(entry: Entry) -> Self {
        Self { entry, stamp: None }
    }
}

/// Reads what is at `path`; `None` when nothing that counts is there.
///
/// Folders do not count, but for a nested repository, which is one entry. Devices, sockets and
/// named pipes do not count and are never opened. What is beyond the budget is not read.
pub(super) fn look(
    path: &Path,
    budget: &Budget,
    stop: &AtomicBool,
) -> Result<Option<Entry>, SnapshotError> {
    Ok(look_knowing(path, None, budget, stop)?.map(|found| found.entry))
}

/// The same, but a file that is `known` is not read again.
pub(super) fn look_knowing(
    path: &Path,
    known: Option<&Pass>,
    budget: &Budget,
    stop: &AtomicBool,
) -> Result<Option<Found>, SnapshotError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(source) => return Err(read_error(path, source)),
    };
    if meta.is_dir() {
        return Ok(nested(path, budget, stop)?.map(Found::from));
    }
    let found = if meta.is_symlink() {
        link(path)
    } else if meta.is_file() {
        file(path, &meta, known, budget, stop)
    } else {
        Ok(None)
    };
    match found {
        Err(error) if is_absent(&error) => Ok(None),
        // Whatever a read was cut off by, its part is worth nothing.
        _ if stop.load(Ordering::Relaxed) => Err(SnapshotError::Interrupted),
        found => found.map_err(|source| read_error(path, source)),
    }
}

fn read_error(path: &Path, source: io::Error) -> SnapshotError {
    SnapshotError::Read {
        path: path.to_owned(),
        source,
    }
}

fn link(path: &Path) -> io::Result<Option<Found>> {
    let target = to_bytes(&fs::read_link(path)?);
    let entry = Entry {
        kind: EntryKind::Link,
        id: blob_id(&target).map_err(io::Error::other)?,
    };
    Ok(Some(entry.into()))
}

fn file(
    path: &Path,
    meta: &Metadata,
    known: Option<&Pass>,
    budget: &Budget,
    stop: &AtomicBool,
) -> io::Result<Option<Found>> {
    if let Some(entry) = known.and_then(|known| known.find(&Stamp::of(meta))) {
        // It counts as if it had been read, so that all states know the same files.
        let is_admitted = budget.admits(meta.len());
        let entry = if is_admitted { entry } else { unread(meta)? };
        return Ok(Some(entry.into()));
    }
    let (content, meta) = match plain_file::open(path) {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(None),
        // Such a file must not stop a loop.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return unread(meta).map(|entry| Some(entry.into()));
        }
        Err(error) => return Err(error),
    };
    if !budget.admits(meta.len()) {
        return unread(&meta).map(|entry| Some(entry.into()));
    }
    let kind = if meta.permissions().mode() & 0o100 == 0 {
        EntryKind::File
    } else {
        EntryKind::Executable
    };
    let stamp = Stamp::of(&meta);
    let id = content_id(content, meta.len(), stop)?;
    Ok(Some(Found {
        entry: Entry { kind, id },
        stamp: known
            .is_some_and(|known| known.is_settled(&stamp))
            .then_some(stamp),
    }))
}

/// The entry of a file that is not read: what can be seen of it is its size.
fn unread(meta: &Metadata) -> io::Result<Entry> {
    Ok(Entry {
        kind: EntryKind::Unreadable,
        id: blob_id(&meta.len().to_le_bytes()).map_err(io::Error::other)?,
    })
}

/// Hashes a file as git hashes a blob, at the length that it had when it was opened.
///
/// The caller has to throw the answer away when `stop` was set meanwhile.
fn content_id(mut file: File, length: u64, stop: &AtomicBool) -> io::Result<ObjectId> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&gix::objs::encode::loose_header(
        gix::objs::Kind::Blob,
        length,
    ));
    // Most files are small, and to clear a large buffer takes longer than to read one of them.
    let mut buffer = vec![0; MAX_BUFFER.min(usize::try_from(length).unwrap_or(MAX_BUFFER))];
    let mut left = length;
    while left > 0 && !stop.load(Ordering::Relaxed) {
        let limit = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        match file.read(&mut buffer[..limit]) {
            Ok(0) => break,
            Ok(read) => {
                hasher.update(&buffer[..read]);
                left -= read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    hasher
        .try_finalize()
        .map_err(|error| io::Error::other(GitFault::from(error)))
}

/// Hashes bytes as git hashes a blob.
pub(super) fn blob_id(content: &[u8]) -> Result<ObjectId, GitFault> {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, content)
        .map_err(Into::into)
}

/// A folder with a `.git` in it, as one entry with a digest over all its files.
///
/// It is never opened as a repository, because what its configuration says is not ours to follow.
fn nested(path: &Path, budget: &Budget, stop: &AtomicBool) -> Result<Option<Entry>, SnapshotError> {
    if fs::symlink_metadata(path.join(".git")).is_err() {
        return Ok(None);
    }
    let mut list = String::new();
    for file in nested_files(path, stop)? {
        let full = path.join(super::workspace::to_path(file.as_ref()));
        if let Some(entry) = look(&full, budget, stop)? {
            list.push_str(&entry.line(file.as_ref()));
        }
    }
    Ok(Some(Entry {
        kind: EntryKind::Repository,
        id: blob_id(list.as_bytes())?,
    }))
}

impl Entry {
    /// Renders the entry with its path so that different entries have different lines.
    pub(super) fn line(&self, path: &gix::bstr::BStr) -> String {
        // In every state there is one for each file, so no formatter.
        let mut line = String::from(self.kind.letter());
        line.push(' ');
        line.push_str(&hex(self.id.as_bytes()));
        line.push(' ');
        line.push_str(&hex(path));
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-19
    #[test]
    fn a_stop_is_heard_inside_a_file() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("long");
        File::create(&path).unwrap().set_len(1 << 41).unwrap();
        let found = look(
            &path,
            &Budget::new(u64::MAX, u64::MAX),
            &AtomicBool::new(true),
        );
        assert!(matches!(found, Err(SnapshotError::Interrupted)));
    }

    // rows: D-19
    #[test]
    fn what_is_beyond_the_budget_is_not_read() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "1234").unwrap();
        for (limit, kind) in [(4, EntryKind::File), (3, EntryKind::Unreadable)] {
            let budget = Budget::new(limit, limit);
            let found = look(&path, &budget, &AtomicBool::new(false)).unwrap();
            assert_eq!(found.unwrap().kind, kind);
            assert_eq!(budget.is_exceeded(), kind == EntryKind::Unreadable);
        }
    }
}
