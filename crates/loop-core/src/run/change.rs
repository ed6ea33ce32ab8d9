//! What a run changed.

use crate::text::counted;
use serde::Serialize;
use std::fmt;

/// The most files that are named; the numbers count all.
pub const MAX_FILES: usize = 1_000;

/// How much was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Files.
    pub files: u64,
    /// Lines that came, in the files whose lines can be counted.
    pub added: u64,
    /// Lines that went, in the same.
    pub removed: u64,
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// Its path below the project.
    pub path: String,
    /// Lines that came; null when they cannot be counted, as in a binary file.
    pub added: Option<u64>,
    /// Lines that went; null likewise.
    pub removed: Option<u64>,
}

/// What was changed since the run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// How much, all files together.
    #[serde(flatten)]
    pub size: Size,
    /// The first [`MAX_FILES`] of them.
    pub names: Vec<ChangedFile>,
}

impl Changed {
    /// Counts the files.
    #[must_use]
    pub fn of(files: impl IntoIterator<Item = ChangedFile>) -> Self {
        let mut changed = Self::default();
        for file in files {
            let size = &mut changed.size;
            size.files += 1;
            size.added = size.added.saturating_add(file.added.unwrap_or(0));
            size.removed = size.removed.saturating_add(file.removed.unwrap_or(0));
            if changed.names.len() < MAX_FILES {
                changed.names.push(file);
            }
        }
        changed
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.files, "file"))?;
        if self.added + self.removed > 0 {
            write!(f, ", +{} -{}", self.added, self.removed)?;
        }
        Ok(())
    }
}

/// Shows how many lines came and went.
impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::line::line(&self.path))?;
        match (self.added, self.removed) {
            (None, None) => Ok(()),
            (added, removed) => {
                write!(f, " +{} -{}", added.unwrap_or(0), removed.unwrap_or(0))
            }
        }
    }
}
