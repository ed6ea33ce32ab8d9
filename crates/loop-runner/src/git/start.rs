//! The state that an agent's changes are measured from.

use std::{collections::BTreeMap, sync::atomic::AtomicBool};

use gix::{ObjectId, bstr::BString};
use loop_core::scope::Pattern;

use super::{
    changes::{Changes, ChangesError},
    committed::is_binary,
    guarded::{self, Guarded},
    ignore_rules::IgnoreRules,
    plain_file,
    snapshot::{Entry, EntryKind, Reach, Snapshot},
    workspace::{Workspace, to_path},
};

/// The longest file whose content is kept, in bytes.
const MAX_KEPT: u64 = 1 << 20;
/// How much content is kept in all, in bytes.
const MAX_ALL_KEPT: usize = 8 << 20;

/// A workspace as it was before an agent began: what its changes are measured from, and by which
/// rules they are looked for.
///
/// Take one when a task starts, after the set-up, and keep its text until the task ends, where no
/// agent works. Later changes to what is ignored then hide nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The commit in hexadecimal that HEAD stood on, if there was one.
    pub(super) head: Option<String>,
    pub(super) rules: IgnoreRules,
    /// What the protected paths held.
    pub(super) guarded: Guarded,
    pub(super) basis: Basis,
    /// Contents that are in no commit, for patches.
    pub(super) kept: BTreeMap<ObjectId, Vec<u8>>,
}

/// What changes are measured from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// A commit, given in hexadecimal; with what was not as it is there, such as what a set-up made.
    Commit(String, BTreeMap<BString, Option<Entry>>),
    /// The files themselves.
    Files(Snapshot),
}

impl Start {
    /// Returns the commit that HEAD stood on, in hexadecimal, if there was one.
    #[must_use]
    pub fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Takes the state of a worktree of a single task, whose changes are measured from the commit
    /// `base`. What differs from it already is part of the patch, but is nobody's violation.
    ///
    /// # Errors
    ///
    /// When the commit or the workspace cannot be read, or when interrupted.
    pub fn since_commit(
        workspace: &Workspace,
        base: &str,
        protected: &[Pattern],
        stop: &AtomicBool,
    ) -> Result<Self, ChangesError> {
        let already = Changes::since_commit(workspace, base, Reach::Repository, stop)?;
        let already = already.list.into_iter();
        let already = already.map(|(path, difference)| (path, difference.after));
        let basis = Basis::Commit(base.to_owned(), already.collect());
        Self::with(workspace, basis, protected, stop)
    }

    /// Takes the state of a tree that holds earlier work: the user's own checkout, or a worktree
    /// that all tasks of a loop share.
    ///
    /// Returns `None` when it is unknown; see [`Snapshot::take`].
    ///
    /// # Errors
    ///
    /// When the workspace cannot be read, or when interrupted.
    pub fn since_now(
        workspace: &Workspace,
        protected: &[Pattern],
        stop: &AtomicBool,
    ) -> Result<Option<Self>, ChangesError> {
        let Some(snapshot) = Snapshot::take(workspace, Reach::Repository, stop)? else {
            return Ok(None);
        };
        let kept = keep(workspace, &snapshot);
        let mut start = Self::with(workspace, Basis::Files(snapshot), protected, stop)?;
        start.kept = kept;
        Ok(Some(start))
    }

    fn with(
        workspace: &Workspace,
        basis: Basis,
        protected: &[Pattern],
        stop: &AtomicBool,
    ) -> Result<Self, ChangesError> {
        Ok(Self {
            head: workspace.head(),
            rules: IgnoreRules::take(workspace, stop)?,
            guarded: guarded::take(workspace, protected, stop)?,
            basis,
            kept: BTreeMap::new(),
        })
    }
}

/// Reads the contents that could not be shown later: of files that are as in no commit.
fn keep(workspace: &Workspace, snapshot: &Snapshot) -> BTreeMap<ObjectId, Vec<u8>> {
    let git = workspace.git.as_ref().map(|git| git.to_thread_local());
    let mut kept = BTreeMap::new();
    let mut left = MAX_ALL_KEPT;
    for (path, entry) in &snapshot.entries {
        let is_file = matches!(entry.kind, EntryKind::File | EntryKind::Executable);
        if !is_file || git.as_ref().is_some_and(|git| git.has_object(entry.id)) {
            continue;
        }
        let full = workspace.root.join(to_path(path.as_ref()));
        let Ok(Some(content)) = plain_file::read(&full, MAX_KEPT) else {
            continue;
        };
        if content.len() <= left && !is_binary(&content) {
            left -= content.len();
            kept.insert(entry.id, content);
        }
    }
    kept
}
