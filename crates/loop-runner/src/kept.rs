//! Files of the loop that later steps rely on, known by their hash.
//!
//! They lie in the loop's folder, which an agent can reach: one that is not as
//! the engine wrote it is never read as if it were.

use crate::git::plain_file;
use crate::hash::sha256_hex;
use crate::store::draft;
use loop_core::answer::FileRef;
use std::fs;
use std::io;
use std::path::Path;

/// The longest file of the loop's own making that is named, in bytes.
const LONGEST: u64 = 256 << 20;

/// Writes a file in one move, for what stands there may be a link or a pipe.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<FileRef> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    draft(folder, content)?
        .persist(path)
        .map_err(|error| error.error)?;
    Ok(of(path, content))
}

/// Names a file that the engine has just written.
pub(crate) fn name(path: &Path) -> io::Result<FileRef> {
    let content = plain_file::read(path, LONGEST)?;
    let content = content.ok_or_else(|| io::Error::other("it is no plain file"))?;
    Ok(of(path, &content))
}

/// Reads a file that was kept.
///
/// # Errors
///
/// One that says what is wrong when it is not as it was written.
pub(crate) fn read(kept: &FileRef) -> Result<Vec<u8>, String> {
    let changed = |what: &dyn std::fmt::Display| format!("{}: {what}", kept.path);
    plain_file::read(Path::new(&kept.path), kept.bytes)
        .map_err(|error| changed(&error))?
        .filter(|content| sha256_hex(content) == kept.sha256)
        .ok_or_else(|| changed(&"it is not as the engine wrote it"))
}

fn of(path: &Path, content: &[u8]) -> FileRef {
    FileRef {
        path: path.to_string_lossy().into_owned(),
        bytes: content.len() as u64,
        sha256: sha256_hex(content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: X-08
    #[test]
    fn only_what_was_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("outputs").join("kept.txt");
        let kept = write(&path, b"as it was").unwrap();
        assert_eq!(name(&path).unwrap(), kept);
        assert_eq!(read(&kept).unwrap(), b"as it was");

        fs::write(&path, "as it is!").unwrap();
        assert!(read(&kept).unwrap_err().contains("not as the engine wrote"));
        fs::remove_file(&path).unwrap();
        assert!(read(&kept).unwrap_err().contains("No such file"));
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(read(&kept).is_err());
        // A link is replaced, not written through.
        let again = write(&path, b"as it was").unwrap();
        assert_eq!(read(&again).unwrap(), b"as it was");
    }
}
