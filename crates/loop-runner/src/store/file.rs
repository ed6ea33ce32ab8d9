//! What the store does with whole files.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct FileError {
    /// What was to be done, as a verb.
    pub doing: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Says which file an I/O error is about.
pub(super) trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, FileError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, FileError> {
        self.map_err(|source| FileError {
            doing,
            path: path.to_owned(),
            source,
        })
    }
}

/// How the names of files-to-be start; readers skip them.
pub(super) const DRAFT: &str = ".draft-";

/// Makes the contents of a file-to-be.
pub(super) fn draft(folder: &Path, contents: &[u8]) -> io::Result<NamedTempFile> {
    let mut draft = tempfile::Builder::new()
        .prefix(DRAFT)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    draft.write_all(contents)?;
    Ok(draft)
}

/// Makes the names in a folder safe against a power cut.
pub(super) fn sync_folder(folder: &Path) -> Result<(), FileError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .at("sync", folder)
}

/// Removes a file; one that is gone already is fine.
pub(super) fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}
