//! What is at one frozen path.

use super::{At, GateError};
use crate::git::plain_file::{self, is_absent};
use crate::hash::{hex, sha256_hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The longest frozen file whose content is read, in bytes. Of a longer one only
/// the length counts.
pub(super) const MAX_FILE: u64 = 64 << 20;

/// What kind of thing a frozen path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link; what it leads to does not count.
    Link,
    /// A folder, where a file was named.
    Folder,
    /// Nothing.
    Absent,
    /// A regular file that may not be read, or is longer than 64 MiB.
    Unread,
    /// A named pipe, a socket or a device; never opened.
    Special,
}

/// What is at one frozen path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What kind of thing it is.
    pub kind: EntryKind,
    /// SHA-256 of a file's content or a link's target, and of the length of a
    /// file that is not read; empty for anything else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Whether its owner may execute it. It does not count: chmod is no change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl Entry {
    fn bare(kind: EntryKind) -> Self {
        Self {
            kind,
            sha256: String::new(),
            executable: false,
        }
    }

    /// The entry of a path where nothing is.
    pub(super) fn absent() -> Self {
        Self::bare(EntryKind::Absent)
    }

    /// Looks at `path` without following a link there, waiting for a pipe, or
    /// opening a device.
    pub(super) fn of(path: &Path) -> Result<Self, GateError> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if is_absent(&error) => return Ok(Self::absent()),
            Err(error) => return Err(error).at("look at", path),
        };
        if meta.is_symlink() {
            let target = fs::read_link(path).at("read", path)?;
            return Ok(Self {
                sha256: sha256_hex(target.as_os_str().as_bytes()),
                ..Self::bare(EntryKind::Link)
            });
        }
        if meta.is_dir() {
            return Ok(Self::bare(EntryKind::Folder));
        }
        if !meta.is_file() {
            return Ok(Self::bare(EntryKind::Special));
        }
        let unread = || Self {
            sha256: sha256_hex(&meta.len().to_le_bytes()),
            ..Self::bare(EntryKind::Unread)
        };
        match plain_file::open(path) {
            Ok(Some((file, meta))) if meta.len() <= MAX_FILE => {
                let sha256 = digest(file.take(MAX_FILE)).at("read", path)?;
                Ok(Self {
                    sha256,
                    executable: meta.permissions().mode() & 0o100 != 0,
                    ..Self::bare(EntryKind::File)
                })
            }
            Ok(_) => Ok(unread()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(unread()),
            Err(error) => Err(error).at("read", path),
        }
    }

    /// Whether it holds the same as `other`, whatever its permissions.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.sha256 == other.sha256
    }

    /// Whether it is a file without content.
    pub(super) fn is_empty_file(&self) -> bool {
        self.kind == EntryKind::File && self.sha256 == sha256_hex(b"")
    }
}

fn digest(mut content: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(hex(&digest.finalize())),
            Ok(read) => digest.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
