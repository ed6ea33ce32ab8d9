//! Reads a text file without trusting it: regular files only, never more than a
//! limit, any bytes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Why a file gave no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// Nothing is there.
    #[error("no such file")]
    Absent,
    /// A symbolic link whose target does not exist.
    #[error("a dangling link")]
    DanglingLink,
    /// A directory, a pipe, a device: reading it could fail or never end.
    #[error("not a regular file")]
    NotAFile,
    /// More bytes than are accepted.
    #[error("over {} MiB", limit >> 20)]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Everything that the system says no to.
    #[error("{kind}")]
    Io {
        /// What it said.
        kind: ErrorKind,
    },
}

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Where the first byte was that is not UTF-8, if any.
    pub(crate) invalid_at: Option<usize>,
}

/// Reads the file at `path`, links followed, up to `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Text, ReadFault> {
    // Looked at before it is opened, because opening a pipe can wait for ever.
    let metadata = fs::metadata(path).map_err(|error| fault(path, &error))?;
    if !metadata.is_file() {
        return Err(ReadFault::NotAFile);
    }
    if metadata.len() > limit {
        return Err(ReadFault::TooLarge { limit });
    }
    let file = File::open(path).map_err(|error| fault(path, &error))?;
    let mut bytes = Vec::new();
    // The file may have grown since, or lie about its size: the limit is on what is read.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| fault(path, &error))?;
    if bytes.len() as u64 > limit {
        return Err(ReadFault::TooLarge { limit });
    }
    Ok(decode(bytes))
}

fn fault(path: &Path, error: &io::Error) -> ReadFault {
    match error.kind() {
        ErrorKind::NotFound if path.is_symlink() => ReadFault::DanglingLink,
        // The last two: a name that no file can have names no file.
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput => ReadFault::Absent,
        kind => ReadFault::Io { kind },
    }
}

fn decode(bytes: Vec<u8>) -> Text {
    match String::from_utf8(bytes) {
        Ok(text) => Text {
            text,
            invalid_at: None,
        },
        Err(error) => {
            let invalid_at = Some(error.utf8_error().valid_up_to());
            Text {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                invalid_at,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn fault_of(path: &Path) -> ReadFault {
        read_text(path, 100).unwrap_err()
    }

    // rows: P-30, P-32, P-45
    #[test]
    fn what_is_not_a_modest_regular_file_has_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("full"), [b'x'; 100]).unwrap();
        fs::write(path("over"), [b'x'; 101]).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        symlink("full", path("link")).unwrap();
        symlink("ring", path("ring")).unwrap();

        assert_eq!(read_text(&path("full"), 100).unwrap().text.len(), 100);
        assert_eq!(read_text(&path("link"), 100).unwrap().text.len(), 100);
        assert_eq!(fault_of(&path("over")), ReadFault::TooLarge { limit: 100 });
        assert_eq!(fault_of(&path("none")), ReadFault::Absent);
        assert_eq!(fault_of(&path("full/below")), ReadFault::Absent);
        assert_eq!(fault_of(&path(&"n".repeat(300))), ReadFault::Absent);
        assert_eq!(fault_of(&path("nul\0")), ReadFault::Absent);
        assert_eq!(fault_of(&path("dangling")), ReadFault::DanglingLink);
        assert!(matches!(fault_of(&path("ring")), ReadFault::Io { .. }));
        assert_eq!(fault_of(dir.path()), ReadFault::NotAFile);
        assert_eq!(fault_of(Path::new("/dev/zero")), ReadFault::NotAFile);
    }

    // rows: P-45
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_lies_about_its_size_is_still_limited() {
        let path = Path::new("/proc/self/status");
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        assert_eq!(fault_of(path), ReadFault::TooLarge { limit: 100 });
    }

    // rows: P-34
    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let text = decode(b"a\xffb\xc3".to_vec());
        assert_eq!(text.text, "a\u{fffd}b\u{fffd}");
        assert_eq!(text.invalid_at, Some(1));
        assert_eq!(decode("é\0".into()).invalid_at, None);
    }
}
