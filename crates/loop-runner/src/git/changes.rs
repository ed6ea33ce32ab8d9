//! What changed in a workspace since a commit or an earlier state.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::atomic::AtomicBool,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString},
};

use super::{
    budget::Budget,
    committed::{Committed, ToGit, entries_of, is_unpopulated, stands_on},
    fault::GitFault,
    listing::{Listing, is_reached},
    snapshot::{Entry, EntryKind, Reach, Snapshot, SnapshotError},
    workspace::{Workspace, to_path},
};

/// Tells why the changes of a workspace are unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// The workspace could not be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The commit to compare with is not there, or is damaged.
    #[error("read the base commit {commit}: {source}")]
    Base {
        /// The commit in hexadecimal.
        commit: String,
        /// What the git library reported.
        source: GitFault,
    },
    /// The workspace is not in a repository, so there is no commit to compare with.
    #[error("compare with a commit: not a repository")]
    NoRepository,
}

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new, committed or not.
    Added,
    /// Its content is another.
    Modified,
    /// It is gone.
    Deleted,
    /// Only its executable bit is another.
    Mode,
    /// It was a file, link or repository, and is another of these.
    Type,
    /// It differs in the last commit of the workspace, though not on disk.
    Committed,
}

/// One path that differs; a renamed file is two, a deleted and an added one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path below the workspace's top, as the bytes that it has on disk.
    pub path: PathBuf,
    /// How it differs.
    pub kind: ChangeKind,
}

/// The changes of a workspace, sorted by path.
#[derive(Clone, Debug)]
pub struct Changes {
    pub(super) workspace: Workspace,
    /// The commit whose rules of conversion hold, when there is one.
    pub(super) base: Option<ObjectId>,
    pub(super) list: BTreeMap<BString, Difference>,
}

/// A path's states before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub(super) kind: ChangeKind,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

impl Changes {
    /// Compares with a commit, given in hexadecimal.
    ///
    /// Commits that were made since do not hide anything, and neither does the index. A file of the
    /// commit counts also when it is ignored now. Conversions of line endings and the like are no
    /// changes; a nested repository is one path, and differs when its HEAD does. A file of more than
    /// 1 GiB is taken for changed.
    ///
    /// # Errors
    ///
    /// When the commit or the workspace cannot be read, or when interrupted.
    pub fn since_commit(
        workspace: &Workspace,
        commit: &str,
        reach: Reach,
        stop: &AtomicBool,
    ) -> Result<Self, ChangesError> {
        let git = workspace.git.as_ref().ok_or(ChangesError::NoRepository)?;
        let git = git.to_thread_local();
        let failed = |source| ChangesError::Base {
            commit: commit.to_owned(),
            source,
        };
        let base = ObjectId::from_hex(commit.as_bytes())
            .map_err(|error| failed(GitFault::new(error.to_string())))?;
        let mut before = entries_of(&git, base).map_err(failed)?;
        before.retain(|path, _| is_reached(workspace, reach, path.as_ref()));
        let tracked: Listing = before.keys().cloned().collect();
        let budget = Budget::of_comparison();
        let Some(after) = Snapshot::take_within(workspace, reach, &tracked, &budget, stop)? else {
            return Err(ChangesError::NoRepository);
        };
        let mut list = compare(&before, &after.entries);
        let mut to_git = ToGit::new(&git, base).map_err(failed)?;
        let has_modes = git.filesystem_options().is_ok_and(|fs| fs.executable_bit);
        list.retain(|path, difference| {
            remains(workspace, path.as_ref(), difference, &mut to_git, has_modes)
        });
        add_committed(&git, &before, &mut list, |path| {
            is_reached(workspace, reach, path)
        });
        Ok(Self {
            workspace: workspace.clone(),
            base: Some(base),
            list,
        })
    }

    /// Compares with an earlier state, such as the one when a task started.
    ///
    /// Returns `None` when the state is unknown now; see [`Snapshot::take`].
    ///
    /// # Errors
    ///
    /// When the workspace cannot be read, or when interrupted.
    pub fn since_snapshot(
        workspace: &Workspace,
        before: &Snapshot,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, ChangesError> {
        let tracked: Listing = before.entries.keys().cloned().collect();
        let after = Snapshot::take_with(workspace, before.reach, &tracked, stop)?;
        Ok(after.map(|after| Self {
            workspace: workspace.clone(),
            base: None,
            list: compare(&before.entries, &after.entries),
        }))
    }

    /// Returns the changes, sorted by the bytes of their paths.
    #[must_use]
    pub fn list(&self) -> Vec<Change> {
        self.list
            .iter()
            .map(|(path, difference)| Change {
                path: to_path(path.as_ref()).to_owned(),
                kind: difference.kind,
            })
            .collect()
    }

    /// Tells whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Finds the paths whose entries are not the same.
fn compare(
    before: &BTreeMap<BString, Entry>,
    after: &BTreeMap<BString, Entry>,
) -> BTreeMap<BString, Difference> {
    let paths: BTreeSet<&BString> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (before, after) = (before.get(path).copied(), after.get(path).copied());
            let kind = kind_of(before, after)?;
            let difference = Difference {
                kind,
                before,
                after,
            };
            Some((path.clone(), difference))
        })
        .collect()
}

/// Says how two states of a path differ, if they do.
fn kind_of(before: Option<Entry>, after: Option<Entry>) -> Option<ChangeKind> {
    match (before, after) {
        (None, None) => None,
        (None, Some(_)) => Some(ChangeKind::Added),
        (Some(_), None) => Some(ChangeKind::Deleted),
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) if form(before) != form(after) => Some(ChangeKind::Type),
        (Some(before), Some(after)) if before.id == after.id => Some(ChangeKind::Mode),
        (Some(_), Some(_)) => Some(ChangeKind::Modified),
    }
}

/// The kind without the executable bit.
fn form(entry: Entry) -> EntryKind {
    match entry.kind {
        EntryKind::Executable | EntryKind::Unreadable => EntryKind::File,
        kind => kind,
    }
}

/// Decides whether a difference between the commit and the bytes on disk is a change.
fn remains(
    workspace: &Workspace,
    path: &BStr,
    difference: &mut Difference,
    to_git: &mut ToGit<'_>,
    has_modes: bool,
) -> bool {
    let full = workspace.root.join(to_path(path));
    let Some(before) = difference.before else {
        return true;
    };
    if before.kind == EntryKind::Repository {
        return match difference.kind {
            ChangeKind::Deleted => !is_unpopulated(&full),
            ChangeKind::Modified => !stands_on(&full, before.id),
            _ => true,
        };
    }
    if difference.kind == ChangeKind::Modified
        && form(before) == EntryKind::File
        && to_git.is_stored_as(&full, path, before.id)
    {
        if difference.after.map(|after| after.kind) == Some(before.kind) {
            return false;
        }
        difference.kind = ChangeKind::Mode;
    }
    difference.kind != ChangeKind::Mode || has_modes
}

/// Adds the paths that differ in HEAD though not on disk, as when an agent commits an edit and then
/// takes it back without another commit.
fn add_committed(
    git: &gix::Repository,
    before: &Committed,
    list: &mut BTreeMap<BString, Difference>,
    is_reached: impl Fn(&BStr) -> bool,
) {
    // A HEAD that cannot be read has nothing that could be delivered.
    let Ok(head) = git
        .head_id()
        .map_err(GitFault::from)
        .and_then(|id| entries_of(git, id.detach()))
    else {
        return;
    };
    for (path, difference) in compare(before, &head) {
        if is_reached(path.as_ref()) {
            list.entry(path).or_insert(Difference {
                kind: ChangeKind::Committed,
                ..difference
            });
        }
    }
}
