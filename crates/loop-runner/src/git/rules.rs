//! The files with rules of what is ignored, which the git library reads on its way.
//!
//! It opens each `.gitignore` without a look at what it is, so one that is a named pipe would be
//! waited for, with nothing that could end the wait.

use std::path::{Path, PathBuf};

use gix::{
    bstr::ByteSlice,
    dir::{EntryRef, entry, walk},
};

use super::{plain_file, snapshot::SnapshotError, workspace::to_path};

/// The longest file of rules that is read, in bytes. Long ones have a few thousand.
pub(super) const MAX_RULES: u64 = 1 << 20;

/// Checks the rules in a folder, and in all folders above it up to `top`.
pub(super) fn check_down_to(top: &Path, below: &Path) -> Result<(), SnapshotError> {
    below
        .ancestors()
        .try_for_each(|folder| check(&top.join(folder)))
}

fn check(folder: &Path) -> Result<(), SnapshotError> {
    let path = folder.join(".gitignore");
    plain_file::check(&path, MAX_RULES).map_err(|source| SnapshotError::Read { path, source })
}

/// A walk that goes into no folder whose rules cannot be read.
pub(super) struct Guarded<'a, D> {
    top: &'a Path,
    inner: D,
    fault: Option<SnapshotError>,
}

impl<'a, D> Guarded<'a, D> {
    /// Guards the walk through `top` that reports to `inner`.
    pub(super) const fn new(top: &'a Path, inner: D) -> Self {
        Self {
            top,
            inner,
            fault: None,
        }
    }

    /// Returns what was reported to, unless a folder was left out.
    pub(super) fn finish(self) -> Result<D, SnapshotError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.inner),
        }
    }
}

impl<D: walk::Delegate> walk::Delegate for Guarded<'_, D> {
    fn emit(&mut self, entry: EntryRef<'_>, collapsed: Option<entry::Status>) -> walk::Action {
        self.inner.emit(entry, collapsed)
    }

    fn can_recurse(
        &mut self,
        entry: EntryRef<'_>,
        for_deletion: Option<walk::ForDeletionMode>,
        worktree_root_is_repository: bool,
    ) -> bool {
        let folder: PathBuf = self.top.join(to_path(entry.rela_path.as_bstr()));
        let goes_in = self
            .inner
            .can_recurse(entry, for_deletion, worktree_root_is_repository);
        if !goes_in {
            return false;
        }
        match check(&folder) {
            Ok(()) => true,
            Err(fault) => {
                self.fault = Some(fault);
                false
            }
        }
    }
}
