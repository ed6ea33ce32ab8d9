//! Files that a scheduler reads, each of them made by the engine or not touched.

use super::install::InstallError;
use crate::git::plain_file;
use crate::store::draft;
use std::fs;
use std::io;
use std::path::Path;

/// What marks a file as the engine's.
pub(super) const MARK: &str =
    "Written by `loop schedule install`; `loop schedule remove` takes it away.";

/// The longest file that is looked at, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a file that the engine has made; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let text = match plain_file::read(path, LONGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(InstallError::file("read", path, source)),
    };
    let ours = |text: &Vec<u8>| {
        let mark = MARK.as_bytes();
        text.windows(mark.len()).any(|part| part == mark)
    };
    match text.filter(ours) {
        Some(text) => Ok(Some(text)),
        None => Err(InstallError::NotOurs {
            path: path.to_owned(),
        }),
    }
}

/// Writes a file in one move.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<(), InstallError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    fs::create_dir_all(folder).map_err(|source| InstallError::file("make", folder, source))?;
    let written = draft(folder, text)
        .and_then(|draft| draft.persist(path).map(drop).map_err(|failed| failed.error));
    written.map_err(|source| InstallError::file("write", path, source))
}

/// Removes a file; one that is gone already is fine.
pub(super) fn remove(path: &Path) -> Result<(), InstallError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(InstallError::file("remove", path, error))
        }
        _ => Ok(()),
    }
}
