//! A walk through a tree that an agent may have filled.

use super::{At, GateError};
use crate::git::plain_file::is_absent;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How many files and folders are looked at in one walk.
const MAX_SEEN: usize = 200_000;
/// Folders that no walk goes into: they are the engine's and git's.
const NEVER: [&str; 2] = [".git", ".automaton"];

/// A walk below `root`.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Path,
    /// Names of folders that are passed by.
    pub(super) passed_by: &'a [&'a str],
    pub(super) stop: &'a AtomicBool,
}

impl Walk<'_> {
    /// Calls `found` with every path at and below `from` that is no folder,
    /// relative to the root and sorted. Follows no link, and `from` has to be
    /// reached without one.
    pub(super) fn run(&self, from: &Path, mut found: impl FnMut(&Path)) -> Result<(), GateError> {
        if !is_real(self.root, from) {
            return Ok(());
        }
        let mut seen = 0;
        let mut left = vec![from.to_owned()];
        while let Some(path) = left.pop() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(GateError::Stopped);
            }
            let full = self.root.join(&path);
            let meta = match fs::symlink_metadata(&full) {
                Ok(meta) => meta,
                Err(error) if is_absent(&error) => continue,
                Err(error) => return Err(error).at("look at", &full),
            };
            if !meta.is_dir() {
                found(&path);
                continue;
            }
            if path != from && self.is_passed_by(&path) {
                continue;
            }
            let first = left.len();
            for entry in fs::read_dir(&full).at("list", &full)? {
                left.push(path.join(entry.at("list", &full)?.file_name()));
                seen += 1;
                if seen > MAX_SEEN {
                    return Err(GateError::TooMuch {
                        what: format!("{} holds more than {MAX_SEEN} files", self.root.display()),
                    });
                }
            }
            // The last one is taken first.
            left[first..].sort_by(|one, other| other.cmp(one));
        }
        Ok(())
    }

    fn is_passed_by(&self, folder: &Path) -> bool {
        let is = |name: &&str| folder.ends_with(name);
        NEVER.iter().any(is) || self.passed_by.iter().any(is)
    }
}

/// Whether every folder above `path` is a folder and no link.
pub(super) fn is_real(root: &Path, path: &Path) -> bool {
    let above = path.ancestors().skip(1);
    let mut above = above.filter(|folder| !folder.as_os_str().is_empty());
    above.all(|folder: &Path| {
        let meta: Result<_, _> = PathBuf::from(root).join(folder).symlink_metadata();
        meta.is_ok_and(|meta| meta.is_dir())
    })
}
