//! The files that a protected pattern names, ignored or not.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use gix::bstr::{BString, ByteSlice};
use loop_core::scope::Pattern;

use super::{
    budget::Budget,
    hash_file::look,
    plain_file::is_absent,
    snapshot::{Entry, SnapshotError},
    workspace::{Workspace, to_bytes},
};

/// The most files and folders that are looked through for one pattern.
const MAX_SEEN: usize = 1_000_000;

/// What protected paths hold, by path below the workspace's top.
pub(super) type Guarded = BTreeMap<BString, Entry>;

/// Reads what is at the paths in the project that the patterns name.
///
/// No rule of what is ignored counts, and no index. Links are entries and are not followed; what is
/// in a `.git` is not looked at. What the engine writes is left out where it writes.
pub(super) fn take(
    workspace: &Workspace,
    patterns: &[Pattern],
    stop: &AtomicBool,
) -> Result<Guarded, SnapshotError> {
    let project = workspace.project();
    let budget = Budget::of_comparison();
    let mut guarded = Guarded::new();
    for pattern in patterns {
        let mut search = Search {
            project: &project,
            pattern,
            stop,
            seen: 0,
            found: Vec::new(),
        };
        let base = PathBuf::from(pattern.base());
        if !base.parent().is_none_or(|above| is_real(&project, above)) {
            continue;
        }
        search.look_through(&base)?;
        for path in search.found {
            let full = project.join(&path);
            let below = to_bytes(full.strip_prefix(&workspace.root).unwrap_or(&full));
            if !workspace.is_worktree && workspace.is_engines(below.as_ref()) {
                continue;
            }
            if let Some(entry) = look(&full, &budget, stop)? {
                guarded.insert(below, entry);
            }
        }
    }
    Ok(guarded)
}

/// Tells whether every folder on the way to `below` is one, and not a link to one.
fn is_real(project: &Path, below: &Path) -> bool {
    let is_folder = |path: &Path| {
        let meta = fs::symlink_metadata(project.join(path));
        meta.is_ok_and(|meta| meta.is_dir())
    };
    below.ancestors().all(is_folder)
}

/// A walk that collects what a pattern names.
struct Search<'a> {
    project: &'a Path,
    pattern: &'a Pattern,
    stop: &'a AtomicBool,
    seen: usize,
    found: Vec<PathBuf>,
}

impl Search<'_> {
    /// Looks at `path` and all below it.
    fn look_through(&mut self, path: &Path) -> Result<(), SnapshotError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(SnapshotError::Interrupted);
        }
        let full = self.project.join(path);
        let failed = |source| SnapshotError::Read {
            path: full.clone(),
            source,
        };
        let meta = match full.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        if !meta.is_dir() {
            if self.pattern.matches(to_bytes(path).as_bytes()) {
                self.found.push(path.to_owned());
            }
            return Ok(());
        }
        let entries = match fs::read_dir(&full) {
            // What was in it counts as gone.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            self.seen += 1;
            if self.seen > MAX_SEEN {
                return Err(failed(io::Error::other(
                    "too many files to look through for a protected pattern; begin it with a folder",
                )));
            }
            if name != ".git" {
                self.look_through(&path.join(name))?;
            }
        }
        Ok(())
    }
}
