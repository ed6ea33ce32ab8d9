//! The readable log, `.state.log`.

use super::error::OpenError;
use super::file::{At, FileError, open_to_write};
use super::lock::Lock;
use super::paths::LoopDir;
use super::render;
use loop_core::record::Record;
use loop_core::text::without_controls;
use loop_core::time::Timestamp;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

/// Between two tries to get a lock that another process has.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something happened as it should.
    Info,
    /// A person may want to look.
    Warning,
    /// The engine could not do its part.
    Error,
}

impl Level {
    /// Returns the level's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The open file. A line that cannot be written is lost: the record that it
/// renders is safe, and the next record meets the same full disk.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
}

impl Journal {
    pub(super) fn open(dir: &LoopDir) -> Result<Self, FileError> {
        let path = dir.journal();
        let file = open_to_write(&path, OpenOptions::new().append(true)).at("open", &path)?;
        Ok(Self { file })
    }

    pub(super) fn record(&mut self, record: &Record) {
        for (level, message) in render::lines(&record.body) {
            self.write(record.at, level, &message);
        }
    }

    pub(super) fn write(&mut self, at: Timestamp, level: Level, message: &str) {
        let line = format!("{at} {level} {}\n", one_line(message));
        let _lost = self.file.write_all(line.as_bytes());
    }
}

/// Writes lines to `.state.log` that belong to no tick, at the time `at`. Whoever
/// writes there holds the loop's lock, so this takes it for an instant, and tries
/// to for up to `patience`.
///
/// # Errors
///
/// [`OpenError`] when another process drives the loop all the time, or the file
/// cannot be written.
pub(crate) fn note_outside(
    dir: &LoopDir,
    at: Timestamp,
    lines: &[(Level, String)],
    patience: Duration,
) -> Result<(), OpenError> {
    let asked = Instant::now();
    let _lock = loop {
        match Lock::acquire(dir) {
            Err(OpenError::Locked { .. }) if asked.elapsed() < patience => {
                thread::sleep(BETWEEN_TRIES);
            }
            lock => break lock?,
        }
    };
    let mut journal = Journal::open(dir)?;
    for (level, message) in lines {
        journal.write(at, *level, message);
    }
    Ok(())
}

/// Makes text that came from anywhere fit on one line of a terminal.
fn one_line(text: &str) -> String {
    without_controls(&text.replace("\r\n", "\n"))
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::one_line;

    // rows: L-12
    #[test]
    fn text_from_anywhere_stays_on_one_line() {
        for (text, line) in [
            ("plain", "plain"),
            ("a\nb\r\nc", "a\\nb\\nc"),
            ("\u{1b}[31mred\u{1b}[0m\tx", "red\\tx"),
            ("INFO\u{0}", "INFO"),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
    }
}
