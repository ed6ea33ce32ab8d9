//! What a role said, taken from where it may have put it and kept for good.
//!
//! The agent can write to the loop's folder, so nothing there is believed by
//! its name: a link, a pipe or a second name of a file is no output, and what
//! is kept is written anew and put into place.

use crate::hash::hex;
use crate::holder::Captured;
use loop_core::answer::FileRef;
use rustix::fs::{CWD, Mode, OFlags, openat};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The most of a role's text that is read for a verdict or a claim, from its
/// end, in bytes. The whole text stays on disk.
const TEXT_LIMIT: usize = 4 * 1024 * 1024;

/// A role's output, as it is kept.
pub(super) struct Kept {
    /// The file.
    pub(super) file: FileRef,
    /// Its text, or the end of a very long one.
    pub(super) text: String,
    /// What a person should hear about.
    pub(super) warning: Option<String>,
}

/// Keeps a role's output as `kept`: the file that it was told to write, if it
/// wrote one, else its standard output as the holder captured it. There is none
/// when the holder was lost, or when what it captured was replaced; a warning
/// tells of that. `written` is gone afterwards.
pub(super) fn keep(
    written: &Path,
    stdout: Option<(&Captured, &Path)>,
    kept: &Path,
) -> io::Result<Kept> {
    let mut sink = Sink::new(kept)?;
    let mut warning = None;
    let copied = match (open_plain(written)?, stdout) {
        (Some(mut file), _) => io::copy(&mut file, &mut sink).map(drop),
        (None, Some((captured, path))) => match captured.copy(path, &mut sink) {
            Err(error) if !sink.failed => {
                let path = path.display();
                warning = Some(format!("{path} is not what the agent said: {error}"));
                sink = Sink::new(kept)?;
                Ok(())
            }
            other => other,
        },
        (None, None) => Ok(()),
    };
    match fs::remove_file(written) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => copied?,
    }
    let (file, text) = sink.persist(kept)?;
    Ok(Kept {
        file,
        text,
        warning,
    })
}

/// Opens a regular file with one name, without waiting and through no link;
/// `None` when there is no such file.
fn open_plain(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(CWD, path, flags, Mode::empty()) else {
        return Ok(None);
    };
    let file = File::from(file);
    let meta = file.metadata()?;
    Ok((meta.is_file() && meta.nlink() == 1).then_some(file))
}

/// Writes an output beside its place, and looks at it as it goes by.
struct Sink {
    file: tempfile::NamedTempFile,
    hash: Sha256,
    bytes: u64,
    end: Vec<u8>,
    /// Whether it could not be written, as opposed to its source being read.
    failed: bool,
}

impl Sink {
    fn new(kept: &Path) -> io::Result<Self> {
        let folder = kept.parent().unwrap_or_else(|| Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".output-")
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(folder)?;
        Ok(Self {
            file,
            hash: Sha256::new(),
            bytes: 0,
            end: Vec::new(),
            failed: false,
        })
    }

    /// Puts the output into its place, whatever stood there.
    fn persist(mut self, kept: &Path) -> io::Result<(FileRef, String)> {
        self.end.drain(..self.end.len().saturating_sub(TEXT_LIMIT));
        self.file.persist(kept).map_err(|error| error.error)?;
        let file = FileRef {
            path: kept.to_string_lossy().into_owned(),
            bytes: self.bytes,
            sha256: hex(&self.hash.finalize()),
        };
        Ok((file, String::from_utf8_lossy(&self.end).into_owned()))
    }
}

impl Write for Sink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.file
            .write_all(chunk)
            .inspect_err(|_| self.failed = true)?;
        self.hash.update(chunk);
        self.bytes += chunk.len() as u64;
        self.end.extend_from_slice(chunk);
        // Twice the limit, so that the buffer is moved seldom.
        if self.end.len() > 2 * TEXT_LIMIT {
            self.end.drain(..self.end.len() - TEXT_LIMIT);
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Outputs(tempfile::TempDir);

    impl Outputs {
        fn new() -> Self {
            let outputs = Self(tempfile::tempdir().unwrap());
            fs::write(outputs.path("secret"), "key").unwrap();
            outputs
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.0.path().join(name)
        }

        /// Keeps what stands in `written`; a holder that was lost said nothing.
        fn keep(&self) -> Kept {
            keep(&self.path("written"), None, &self.path("kept")).unwrap()
        }
    }

    // rows: H-16, L-16
    #[test]
    fn what_the_harness_wrote_is_its_output_and_goes_into_place() {
        let outputs = Outputs::new();
        let kept = outputs.keep();
        assert_eq!((kept.text.as_str(), kept.file.bytes), ("", 0));
        fs::write(outputs.path("written"), "wrote").unwrap();
        let kept = outputs.keep();
        assert_eq!((kept.text.as_str(), kept.file.bytes), ("wrote", 5));
        assert!(!outputs.path("written").exists());
        assert_eq!(fs::read_to_string(outputs.path("kept")).unwrap(), "wrote");
    }

    // cases: 150
    #[test]
    fn links_pipes_and_second_names_are_no_output_and_are_not_written_through() {
        for plant in ["symlink", "hard link", "pipe", "folder"] {
            let outputs = Outputs::new();
            let written = outputs.path("written");
            match plant {
                "symlink" => symlink(outputs.path("secret"), &written).unwrap(),
                "hard link" => fs::hard_link(outputs.path("secret"), &written).unwrap(),
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(&written).status();
                    assert!(made.unwrap().success());
                }
                _ => {}
            }
            symlink(outputs.path("secret"), outputs.path("kept")).unwrap();
            assert_eq!(outputs.keep().text, "", "{plant}");
            assert_eq!(fs::read_to_string(outputs.path("secret")).unwrap(), "key");
            assert!(outputs.path("kept").symlink_metadata().unwrap().is_file());
        }
    }

    // cases: 68
    #[test]
    fn of_a_very_long_text_the_end_is_read_and_all_of_it_kept() {
        let outputs = Outputs::new();
        let text = format!("{}the end", "x".repeat(3 * TEXT_LIMIT));
        fs::write(outputs.path("written"), &text).unwrap();
        let kept = outputs.keep();
        assert_eq!(kept.text.len(), TEXT_LIMIT);
        assert!(kept.text.ends_with("the end"));
        assert_eq!(kept.file.bytes, text.len() as u64);
    }
}
