//! What the store does with whole files.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
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

/// Opens a file of the loop for reading, and only a regular one: an agent can
/// put a link in its place, or a pipe that would wait for a writer.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

/// Opens a file of the loop for writing, and makes it if it is missing. It has
/// to have one name: what is written to it must not end up in a file of the user.
pub(crate) fn open_to_write(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = open_regular(path, options.create(true).truncate(false))?;
    if file.metadata()?.nlink() > 1 {
        return Err(io::Error::other("it has a second name (a hard link)"));
    }
    Ok(file)
}

/// Checks that a folder of the loop is no link: through one that came with a clone,
/// what is elsewhere would be read, moved and removed as the loop's.
pub(super) fn is_own_folder(path: &Path) -> Result<(), FileError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => {
            Err(io::Error::other("it is a link to another place; remove it")).at("use", path)
        }
        // What else is wrong with it is told by whoever needs it.
        _ => Ok(()),
    }
}

fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) => io::Error::other("it is a link"),
            Some(Errno::NXIO) => io::Error::other(NOT_REGULAR),
            _ => error,
        })?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other(NOT_REGULAR))
    }
}

const NOT_REGULAR: &str = "it is not a regular file";

/// Reads a small file of the loop; a larger one is refused, as no engine wrote it.
pub(super) fn read_small(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_to_read(path)?.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("over {max} bytes")));
    }
    Ok(bytes)
}

/// How the names of files-to-be start; readers skip them.
pub(super) const DRAFT: &str = ".draft-";

/// Makes the contents of a file-to-be.
pub(crate) fn draft(folder: &Path, contents: &[u8]) -> io::Result<NamedTempFile> {
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
