//! What judges, from just before the gate starts to just after it has ended.
//!
//! A script that is changed while it runs, and changes itself back at its end,
//! holds the same afterwards. But the system notes every change of a file, and
//! nobody can take that note back. Before and after the run nothing but contents
//! counts; within it nobody has a reason to write these files.

use super::Mismatch;
use super::identity::Identity;
use super::path_text::to_text;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest step in which the clock of a file system goes on.
const STEP: Duration = Duration::from_millis(20);

/// Files that are watched.
pub(super) struct Window<'a> {
    root: &'a Path,
    files: BTreeMap<&'a Path, Identity>,
    folders: BTreeMap<&'a Path, Folder>,
}

/// A folder that holds watched files.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Folder {
    device: u64,
    inode: u64,
    changed: (i64, i64),
    /// When an entry was made or removed.
    filled: (i64, i64),
}

impl<'a> Window<'a> {
    /// Looks at files below `root` that are not written any more from now on.
    pub(super) fn open(root: &'a Path, paths: &'a BTreeSet<PathBuf>) -> Self {
        // A file that was written a moment ago would show no later change in the
        // same step of the clock.
        std::thread::sleep(STEP);
        let folders = paths.iter().flat_map(|path| path.ancestors().skip(1));
        let folders: BTreeSet<_> = folders.filter(|path| *path != Path::new("")).collect();
        Self {
            root,
            files: look(paths.iter().map(PathBuf::as_path), |path| {
                Identity::of(root, path)
            }),
            folders: look(folders.into_iter(), |path| Folder::of(&root.join(path))),
        }
    }

    /// Lists what was there and is another now. What is gone is not told: that
    /// shows in the contents, too.
    pub(super) fn changed(&self) -> Vec<Mismatch> {
        let mut found = Vec::new();
        for (path, before) in &self.files {
            if Identity::of(self.root, path).is_some_and(|now| now != *before) {
                found.push(mismatch(path, "was rewritten"));
            }
        }
        for (path, before) in &self.folders {
            let now = Folder::of(&self.root.join(path));
            if now.is_some_and(|now| before.was_moved(&now)) {
                found.push(mismatch(path, "was moved"));
            }
        }
        found
    }
}

fn look<'a, T>(
    paths: impl Iterator<Item = &'a Path>,
    of: impl Fn(&Path) -> Option<T>,
) -> BTreeMap<&'a Path, T> {
    paths.filter_map(|path| Some((path, of(path)?))).collect()
}

fn mismatch(path: &Path, what: &str) -> Mismatch {
    Mismatch {
        path: to_text(path),
        what: format!("{what}, or its mode was changed, while the gate ran"),
    }
}

impl Folder {
    fn of(path: &Path) -> Option<Self> {
        let meta = path.symlink_metadata().ok()?;
        Some(Self {
            device: meta.dev(),
            inode: meta.ino(),
            changed: (meta.ctime(), meta.ctime_nsec()),
            filled: (meta.mtime(), meta.mtime_nsec()),
        })
    }

    /// Whether another folder stood in its place, even if it is back by now. A
    /// gate may make files in it; that changes both times.
    fn was_moved(&self, now: &Self) -> bool {
        (self.device, self.inode) != (now.device, now.inode)
            || (self.changed != now.changed && self.filled == now.filled)
    }
}
