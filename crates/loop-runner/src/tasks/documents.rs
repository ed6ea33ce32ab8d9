//! The documents in a task's folder.

use super::error::{KeepError, ReadError};
use super::folder::{FileError, Folder};
use super::{RECORD, Tasks, check_name};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

/// Where a task's brief stands; the first that is there counts (row K-02).
pub(super) const BRIEFS: [&str; 2] = ["RESEARCH.md", "SPEC.md"];
/// What is read of a brief: prompts use 16,000 characters of it, which are at
/// most four bytes each.
pub(crate) const BRIEF_BYTES: u64 = 128 * 1024;
/// The longest report that becomes a document; documents are for people and
/// for version control.
const REPORT_BYTES: u64 = 16 * 1024 * 1024;

/// What came of keeping a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is in the folder now.
    Now,
    /// A document of that name was there before, and was not touched.
    Before,
}

impl Tasks {
    /// Returns the beginning of a task's brief, enough for any prompt; `None`
    /// when it has none. Bytes that are no text become replacement characters.
    ///
    /// # Errors
    ///
    /// [`ReadError`] when there is a brief that cannot be read.
    pub fn brief(&self, task: &str) -> Result<Option<String>, ReadError> {
        let folder = self.folder(task)?;
        for name in BRIEFS {
            if let Some(bytes) = folder.read(name, BRIEF_BYTES)? {
                return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        Ok(None)
    }

    /// Writes what a task is about, in place of what it was about before.
    ///
    /// # Errors
    ///
    /// [`KeepError`] when there is no such task, or the system refused.
    pub fn set_brief(&self, task: &str, text: &str) -> Result<(), KeepError> {
        let folder = self.folder(task)?.lock()?;
        Ok(folder.replace(BRIEFS[0], text.as_bytes())?)
    }

    /// Writes a document into a task's folder, unless there is one of that name.
    ///
    /// # Errors
    ///
    /// [`KeepError`] for a name that is none, and when the system refused.
    pub fn keep(
        &self,
        task: &str,
        document: &str,
        content: &mut dyn Read,
    ) -> Result<Kept, KeepError> {
        check_name(document)?;
        let folder = self.folder(task)?.lock()?;
        Ok(if folder.add(document, content)? {
            Kept::Now
        } else {
            Kept::Before
        })
    }

    /// Copies a role's output into a task's folder as `document`, unless there
    /// is one of that name.
    ///
    /// # Errors
    ///
    /// [`KeepError`] as [`Tasks::keep`], and when `output` cannot be read, has
    /// more than 16 MiB, or is not a file of its own: a link in its place could
    /// lead to what nobody wants among the documents.
    pub fn keep_report(
        &self,
        task: &str,
        document: &str,
        output: &Path,
    ) -> Result<Kept, KeepError> {
        let unreadable = |source| FileError {
            path: output.to_owned(),
            source,
        };
        let name = output.file_name().and_then(OsStr::to_str);
        let (Some(folder), Some(name)) = (output.parent(), name) else {
            return Err(unreadable(io::ErrorKind::InvalidFilename.into()).into());
        };
        let file = Folder::open(folder, false)?.open_single(name)?;
        let length = file.metadata().map_err(unreadable)?.len();
        if length > REPORT_BYTES {
            return Err(unreadable(io::Error::other("has more than 16 MiB")).into());
        }
        // It may grow meanwhile.
        self.keep(task, document, &mut file.take(REPORT_BYTES))
    }

    /// Lists the documents of a task by name, sorted: its files, without the
    /// record and what is hidden.
    ///
    /// # Errors
    ///
    /// [`ReadError`] when the folder cannot be read.
    pub fn documents(&self, task: &str) -> Result<Vec<String>, ReadError> {
        let folder = self.folder(task)?;
        let mut names = folder.files()?;
        names.retain(|name| name != RECORD && !name.starts_with('.'));
        names.sort();
        Ok(names)
    }
}
