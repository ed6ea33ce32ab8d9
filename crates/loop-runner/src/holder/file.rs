//! Files in folders where a child can write too.
//!
//! A child can put a link, a pipe or another file wherever the engine is about
//! to write or read. So nothing is opened through a link, nothing waits for the
//! other end of a pipe, and what is written can be recognized.

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

/// Creates a new file at `path`; what was there, other than a folder, is gone
/// then, and was not written to.
pub(super) fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => File::create_new(path),
    }
}

/// Opens the file at `path` for reading.
pub(super) fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDONLY)
}

/// Opens the file at `path` for reading and writing; creates it if it is not
/// there.
pub(super) fn open_or_create(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDWR | OFlags::CREATE)
}

/// Opens what is a regular file with no name but this.
fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    // Without O_NONBLOCK, opening a pipe waits for its other end.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) => return Err(foreign("is a link")),
        Err(errno) => return Err(errno.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(foreign("is not a regular file"));
    }
    match metadata.nlink() {
        1 => Ok(file),
        0 => Err(io::ErrorKind::NotFound.into()),
        _ => Err(foreign("has another name elsewhere")),
    }
}

fn foreign(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Passes bytes on, and knows their number and their SHA-256.
pub(super) struct Digesting<W> {
    to: W,
    length: u64,
    digest: Sha256,
}

impl<W> Digesting<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            to,
            length: 0,
            digest: Sha256::new(),
        }
    }

    /// Returns the number of bytes and their digest in hexadecimal digits.
    pub(super) fn finish(self) -> (u64, String) {
        let digest = self.digest.finalize();
        let digits = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        (self.length, digits)
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
