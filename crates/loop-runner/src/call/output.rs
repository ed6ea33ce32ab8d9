//! What a role said, taken from where it may have put it and kept for good.
//!
//! The agent can write to the loop's folder, so nothing there is believed by
//! its name: a link, a pipe or a second name of a file is no output, and what
//! is kept is written anew and put into place.

use crate::hash::hex;
use crate::holder::{Captured, Command};
use loop_core::answer::FileRef;
use rustix::fs::{CWD, Mode, OFlags, openat};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
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

/// Where a role's output is, if it did not write the file that it was told to.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Its standard output, as the holder captured it in the file of this path.
    Captured(&'a Captured, &'a Path),
    /// What its profile has found in that.
    Text(&'a str),
    /// Nobody knows: the holder was lost.
    Nothing,
}

/// Keeps a role's output as `kept`: the file that it was told to write, if it
/// wrote one, else what `source` says. There is none when what the holder captured
/// was replaced; a warning tells of that. `written` is gone afterwards.
pub(super) fn keep(written: &Path, source: Source<'_>, kept: &Path) -> io::Result<Kept> {
    let mut sink = Sink::new(kept)?;
    let mut warning = None;
    let copied = match (open_plain(written)?, source) {
        (Some(mut file), _) => copy_capped(&mut file, Command::OUTPUT_CAP, &mut sink),
        (None, Source::Captured(captured, path)) => match captured.copy(path, &mut sink) {
            Err(error) if !sink.failed => {
                let path = path.display();
                warning = Some(format!("{path} is not what the agent said: {error}"));
                sink = Sink::new(kept)?;
                Ok(())
            }
            other => other,
        },
        (None, Source::Text(text)) => sink.write_all(text.as_bytes()),
        (None, Source::Nothing) => Ok(()),
    };
    match fs::remove_file(written) {
        // A folder of the agent's is in nobody's way: the name is used once.
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::IsADirectory
            ) =>
        {
            return Err(error);
        }
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

/// Copies a file of at most `cap` bytes, or the first and the last half of the
/// cap with a line between them, as the holder does with a stream.
///
/// A sparse file of terabytes costs an agent nothing; a copy of it would fill
/// the disk, with nothing that ends it.
fn copy_capped(file: &mut File, cap: u64, to: &mut impl Write) -> io::Result<()> {
    let length = file.metadata()?.len();
    let Some(omitted) = length.checked_sub(cap).filter(|omitted| *omitted > 0) else {
        return io::copy(&mut file.take(cap), to).map(drop);
    };
    io::copy(&mut (&*file).take(cap / 2), to)?;
    writeln!(to, "\n[... {omitted} bytes omitted ...]")?;
    let tail = cap - cap / 2;
    file.seek(SeekFrom::Start(length - tail))?;
    // Bounded, as something that outlived the call may still add to it.
    io::copy(&mut file.take(tail), to).map(drop)
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
            let kept = self.path("kept");
            keep(&self.path("written"), Source::Nothing, &kept).unwrap()
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
                _ => fs::create_dir(&written).unwrap(),
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

    // cases: 68
    #[test]
    fn of_a_written_file_beyond_the_cap_the_start_and_the_end_are_kept() {
        let outputs = Outputs::new();
        let written = outputs.path("written");
        fs::write(&written, "the start").unwrap();
        let mut file = File::options().write(true).open(&written).unwrap();
        let length = 2 * 1024 * 1024 * 1024 * 1024;
        file.seek(SeekFrom::Start(length - 7)).unwrap();
        file.write_all(b"the end").unwrap();
        let kept = outputs.keep();
        let line = format!(
            "\n[... {} bytes omitted ...]\n",
            length - Command::OUTPUT_CAP
        );
        assert_eq!(kept.file.bytes, Command::OUTPUT_CAP + line.len() as u64);
        assert!(kept.text.ends_with("the end"));
        let all = fs::read(outputs.path("kept")).unwrap();
        assert!(all.starts_with(b"the start"));
        let half = Command::OUTPUT_CAP as usize / 2;
        assert_eq!(&all[half..half + line.len()], line.as_bytes());
        assert!(!written.exists());
    }

    #[test]
    fn a_file_at_the_cap_is_whole_and_one_byte_more_is_cut() {
        for (text, shown) in [
            ("", ""),
            ("abcde", "abcde"),
            ("abcdef", "ab\n[... 1 bytes omitted ...]\ndef"),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.rewind().unwrap();
            let mut copied = Vec::new();
            copy_capped(&mut file, 5, &mut copied).unwrap();
            assert_eq!(String::from_utf8(copied).unwrap(), shown);
        }
    }
}
