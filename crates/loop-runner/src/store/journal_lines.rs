//! Reading the readable log, also while it grows.

use super::file::{At, FileError, open_to_read};
use super::paths::LoopDir;
use loop_core::text::TRUNCATED;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// What is kept of a line, in bytes; no engine writes a longer one.
const LONGEST: usize = 64 * 1024;

/// Reads a loop's readable log from its start; a loop that has none has no lines.
#[must_use]
pub fn journal_lines(dir: &LoopDir) -> JournalLines {
    JournalLines {
        path: dir.journal(),
        open: None,
        failed: false,
    }
}

/// The lines of a loop's readable log.
///
/// After the last line it gives `None`; asked again later, it goes on with what was
/// written meanwhile, and from the start when another file has taken its place. A
/// last line without its end is still being written and does not count. An error
/// ends it for good.
#[derive(Debug)]
pub struct JournalLines {
    path: PathBuf,
    open: Option<Open>,
    /// Whether an error was given, which is the last thing that is.
    failed: bool,
}

#[derive(Debug)]
struct Open {
    reader: BufReader<File>,
    /// Bytes that were read.
    at: u64,
    line: Line,
}

/// A line in the making.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl JournalLines {
    fn read_on(&mut self) -> Result<Option<String>, FileError> {
        loop {
            if self.open.is_none() {
                self.open = self.look()?;
            }
            let Some(open) = &mut self.open else {
                return Ok(None);
            };
            if let Some(line) = open.next().at("read", &self.path)? {
                return Ok(Some(line));
            }
            if open.is_at(self.path.symlink_metadata()) {
                return Ok(None);
            }
            self.open = None;
        }
    }

    fn look(&self) -> Result<Option<Open>, FileError> {
        match open_to_read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Ok(Some(Open {
                reader: BufReader::new(file.at("open", &self.path)?),
                at: 0,
                line: Line::default(),
            })),
        }
    }
}

impl Iterator for JournalLines {
    type Item = Result<String, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.read_on().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

impl Open {
    /// Reads a line; `None` when none is there as a whole.
    fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let found = self.reader.fill_buf()?;
            if found.is_empty() {
                return Ok(None);
            }
            let end = found.iter().position(|byte| *byte == b'\n');
            self.line.push(&found[..end.unwrap_or(found.len())]);
            let taken = end.map_or(found.len(), |end| end + 1);
            self.reader.consume(taken);
            self.at += taken as u64;
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line).text()));
            }
        }
    }

    /// Whether the path still names this file, as far as it was read, or nothing.
    fn is_at(&self, there: io::Result<Metadata>) -> bool {
        match (self.reader.get_ref().metadata(), there) {
            (Ok(here), Ok(there)) => {
                (here.dev(), here.ino()) == (there.dev(), there.ino()) && self.at <= there.len()
            }
            _ => true,
        }
    }
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn text(self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let end = if self.is_cut { TRUNCATED } else { "" };
        format!("{text}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    fn lines(lines: &mut JournalLines) -> Vec<String> {
        lines.map(Result::unwrap).collect()
    }

    fn append(dir: &LoopDir, text: &[u8]) {
        let mut options = OpenOptions::new();
        let mut file = options
            .append(true)
            .create(true)
            .open(dir.journal())
            .unwrap();
        file.write_all(text).unwrap();
    }

    // rows: L-10
    #[test]
    fn what_is_written_later_is_read_later_and_a_torn_line_when_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let dir = LoopDir::new(root.path());
        let mut reader = journal_lines(&dir);
        assert_eq!(lines(&mut reader), [""; 0], "there is none yet");
        append(&dir, b"one\ntwo\nthr");
        assert_eq!(lines(&mut reader), ["one", "two"]);
        assert_eq!(lines(&mut reader), [""; 0]);
        append(&dir, b"ee\n\n");
        assert_eq!(lines(&mut reader), ["three", ""]);
        fs::rename(dir.journal(), root.path().join("old")).unwrap();
        assert_eq!(lines(&mut reader), [""; 0], "nothing is there");
        append(&dir, b"four\n");
        assert_eq!(lines(&mut reader), ["four"], "another file");
        fs::write(dir.journal(), "a\n").unwrap();
        assert_eq!(lines(&mut reader), ["a"], "it was cut");
    }

    // cases: 65, 68
    #[test]
    fn bytes_of_any_kind_and_length_are_bounded_text() {
        let root = tempfile::tempdir().unwrap();
        let dir = LoopDir::new(root.path());
        append(&dir, b"\xff\xfe\n");
        append(&dir, &vec![b'x'; 3 * LONGEST]);
        append(&dir, b"\nlast\n");
        let read = lines(&mut journal_lines(&dir));
        assert_eq!(read[0], "\u{fffd}\u{fffd}");
        assert_eq!(read[1].len(), LONGEST + TRUNCATED.len());
        assert_eq!(read[2], "last");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_once() {
        let root = tempfile::tempdir().unwrap();
        let dir = LoopDir::new(root.path());
        std::os::unix::fs::symlink("/etc/passwd", dir.journal()).unwrap();
        let mut reader = journal_lines(&dir);
        let error = reader.next().unwrap().unwrap_err();
        assert!(error.to_string().contains(".state.log"), "{error}");
        assert!(reader.next().is_none());
    }
}
