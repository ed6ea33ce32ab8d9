//! What one path holds.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
    sync::atomic::AtomicBool,
};

use gix::ObjectId;
use rustix::fs::OFlags;

use crate::hash::hex;

use super::{
    fault::GitFault,
    listing::nested_files,
    snapshot::{Entry, EntryKind, SnapshotError},
    workspace::to_bytes,
};

/// Reads what is at `path`; `None` when nothing that counts is there.
///
/// Folders do not count, but for a nested repository, which is one entry. Devices, sockets and
/// named pipes do not count and are never opened.
pub(super) fn look(path: &Path, stop: &AtomicBool) -> Result<Option<Entry>, SnapshotError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(source) => return Err(read_error(path, source)),
    };
    if meta.is_dir() {
        return nested(path, stop);
    }
    let found = if meta.is_symlink() {
        link(path)
    } else if meta.is_file() {
        file(path, &meta)
    } else {
        Ok(None)
    };
    match found {
        Err(error) if is_absent(&error) => Ok(None),
        found => found.map_err(|source| read_error(path, source)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn read_error(path: &Path, source: io::Error) -> SnapshotError {
    SnapshotError::Read {
        path: path.to_owned(),
        source,
    }
}

fn link(path: &Path) -> io::Result<Option<Entry>> {
    let target = to_bytes(&fs::read_link(path)?);
    Ok(Some(Entry {
        kind: EntryKind::Link,
        id: blob_id(&target).map_err(io::Error::other)?,
    }))
}

fn file(path: &Path, meta: &Metadata) -> io::Result<Option<Entry>> {
    let kind = if meta.permissions().mode() & 0o100 == 0 {
        EntryKind::File
    } else {
        EntryKind::Executable
    };
    match open(path) {
        Ok(content) => Ok(Some(Entry {
            kind,
            id: content_id(content)?,
        })),
        // Such a file must not stop a loop; what can be seen of it is its size.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Some(Entry {
            kind: EntryKind::Unreadable,
            id: blob_id(&meta.len().to_le_bytes()).map_err(io::Error::other)?,
        })),
        Err(error) => Err(error),
    }
}

/// Opens a regular file, without waiting and without following a link put there meanwhile.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Hashes a file as git hashes a blob, at the length that it has when it is opened.
fn content_id(mut file: File) -> io::Result<ObjectId> {
    let length = file.metadata()?.len();
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&gix::objs::encode::loose_header(
        gix::objs::Kind::Blob,
        length,
    ));
    let mut buffer = vec![0; 64 * 1024];
    let mut left = length;
    while left > 0 {
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
fn nested(path: &Path, stop: &AtomicBool) -> Result<Option<Entry>, SnapshotError> {
    if fs::symlink_metadata(path.join(".git")).is_err() {
        return Ok(None);
    }
    let mut list = String::new();
    for file in nested_files(path, stop)? {
        if let Some(entry) = look(&path.join(super::workspace::to_path(file.as_ref())), stop)? {
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
        format!("{} {} {}\n", self.kind.letter(), self.id, hex(path))
    }
}
