//! What was frozen, kept as it was.
//!
//! The files lie in the loop's folder under their own digest, so nobody can put
//! another content in their place without being noticed.

use super::entry::{EntryKind, MAX_FILE};
use super::fingerprint::Fingerprint;
use super::path_text::to_path;
use super::{At, GateError};
use crate::git::plain_file;
use crate::hash::sha256_hex;
use crate::setup::Setup;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folder in which a loop keeps what is frozen.
#[derive(Clone, Debug)]
pub struct Kept {
    folder: PathBuf,
}

impl Kept {
    /// Names the folder of a loop.
    #[must_use]
    pub fn of(setup: &Setup) -> Self {
        Self {
            folder: setup.dir.root().join("gate"),
        }
    }

    /// Keeps every file and link that a fingerprint covers in the project at
    /// `project`; files that are kept already stay.
    ///
    /// # Errors
    ///
    /// [`GateError`] when a file is not what it was when the fingerprint was
    /// taken, or cannot be read or written.
    pub fn keep(&self, project: &Path, frozen: &Fingerprint) -> Result<(), GateError> {
        for (name, entry) in frozen.files() {
            let path = project.join(to_path(name));
            let content = match entry.kind {
                EntryKind::File => plain_file::read(&path, MAX_FILE).at("read", &path)?,
                EntryKind::Link => {
                    let target = fs::read_link(&path).at("read", &path)?;
                    Some(target.as_os_str().as_bytes().to_vec())
                }
                _ => continue,
            };
            let content = content.filter(|content| sha256_hex(content) == entry.sha256);
            let content = content.ok_or_else(|| GateError::not_kept(name))?;
            if self.content(&entry.sha256).is_none() {
                self.write(&entry.sha256, &content)?;
            }
        }
        Ok(())
    }

    /// Returns the content with this digest; `None` when it is not kept, or is
    /// not what it was.
    #[must_use]
    pub fn content(&self, sha256: &str) -> Option<Vec<u8>> {
        let content = self.read(sha256, MAX_FILE)?;
        (sha256_hex(&content) == sha256).then_some(content)
    }

    /// Reads a file of the folder.
    pub(super) fn read(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        plain_file::read(&self.folder.join(name), limit)
            .ok()
            .flatten()
    }

    /// Writes a file of the folder, whole or not at all.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), GateError> {
        let path = self.folder.join(name);
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.folder)?;
            let mut draft = tempfile::NamedTempFile::new_in(&self.folder)?;
            draft.write_all(content)?;
            draft.as_file().sync_all()?;
            draft.persist(&path)?;
            Ok(())
        };
        write().at("write", &path)
    }
}
