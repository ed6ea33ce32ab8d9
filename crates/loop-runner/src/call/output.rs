//! What a role said, taken from where it may have put it and kept for good.
//!
//! The agent can write to the loop's folder, so nothing there is believed by
//! its name: a link, a pipe or a second name of a file is no output, and what
//! is kept is written anew and put into place.

use loop_core::answer::FileRef;
use rustix::fs::{CWD, Mode, OFlags, openat};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
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
}

/// Keeps a role's output as `kept`: the file that it was told to write, if it
/// wrote one, else its standard output. `written` is gone afterwards.
pub(super) fn keep(written: &Path, stdout: &Path, kept: &Path) -> io::Result<Kept> {
    let source = match open_plain(written)? {
        Some(file) => Some(file),
        None => open_plain(stdout)?,
    };
    let result = copy(source, kept);
    match fs::remove_file(written) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => result,
    }
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

/// Copies a role's output into place, whole or not at all.
fn copy(source: Option<File>, kept: &Path) -> io::Result<Kept> {
    let folder = kept.parent().unwrap_or_else(|| Path::new("."));
    let mut target = tempfile::Builder::new()
        .prefix(".output-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut end = Vec::new();
    if let Some(mut source) = source {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = source.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            let chunk = &buffer[..read];
            target.write_all(chunk)?;
            hash.update(chunk);
            bytes += read as u64;
            end.extend_from_slice(chunk);
            // Twice the limit, so that the buffer is moved seldom.
            if end.len() > 2 * TEXT_LIMIT {
                end.drain(..end.len() - TEXT_LIMIT);
            }
        }
    }
    end.drain(..end.len().saturating_sub(TEXT_LIMIT));
    target.persist(kept).map_err(|error| error.error)?;
    Ok(Kept {
        file: FileRef {
            path: kept.to_string_lossy().into_owned(),
            bytes,
            sha256: hash
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        },
        text: String::from_utf8_lossy(&end).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Outputs(tempfile::TempDir);

    impl Outputs {
        fn new() -> Self {
            let outputs = Self(tempfile::tempdir().unwrap());
            fs::write(outputs.path("stdout"), "said").unwrap();
            fs::write(outputs.path("secret"), "key").unwrap();
            outputs
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.0.path().join(name)
        }

        fn keep(&self) -> Kept {
            keep(
                &self.path("written"),
                &self.path("stdout"),
                &self.path("kept"),
            )
            .unwrap()
        }
    }

    // rows: H-16, L-16
    #[test]
    fn what_the_harness_wrote_wins_over_what_it_said() {
        let outputs = Outputs::new();
        let kept = outputs.keep();
        assert_eq!((kept.text.as_str(), kept.file.bytes), ("said", 4));
        fs::write(outputs.path("written"), "wrote").unwrap();
        assert_eq!(outputs.keep().text, "wrote");
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
            assert_eq!(outputs.keep().text, "said", "{plant}");
            assert_eq!(fs::read_to_string(outputs.path("secret")).unwrap(), "key");
            assert!(outputs.path("kept").symlink_metadata().unwrap().is_file());
        }
    }

    // cases: 68
    #[test]
    fn of_a_very_long_text_the_end_is_read_and_all_of_it_kept() {
        let outputs = Outputs::new();
        let text = format!("{}the end", "x".repeat(3 * TEXT_LIMIT));
        fs::write(outputs.path("stdout"), &text).unwrap();
        let kept = outputs.keep();
        assert_eq!(kept.text.len(), TEXT_LIMIT);
        assert!(kept.text.ends_with("the end"));
        assert_eq!(kept.file.bytes, text.len() as u64);
    }
}
