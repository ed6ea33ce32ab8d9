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
use loop_core::scope::Pattern;

use super::{
    budget::Budget,
    committed::{Committed, ToGit, entries_of, is_unpopulated, stands_on},
    fault::GitFault,
    guarded,
    ignore_rules::IgnoreRules,
    listing::{Listing, is_reached},
    snapshot::{Entry, EntryKind, Reach, Snapshot, SnapshotError},
    start::{Basis, Start},
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
    /// Earlier contents that are in no commit.
    pub(super) kept: BTreeMap<ObjectId, Vec<u8>>,
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
        Self::since_commit_by(workspace, commit, reach, None, stop)
    }

    fn since_commit_by(
        workspace: &Workspace,
        commit: &str,
        reach: Reach,
        rules: Option<&IgnoreRules>,
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
        let after = Snapshot::take_within(workspace, reach, &tracked, rules, &budget, stop)?;
        let after = after.ok_or(ChangesError::NoRepository)?;
        let mut list = compare(&before, &after.entries);
        if !list.is_empty() {
            let mut to_git = ToGit::new(&git, base).map_err(failed)?;
            let has_modes = git.filesystem_options().is_ok_and(|fs| fs.executable_bit);
            list.retain(|path, difference| {
                remains(workspace, path.as_ref(), difference, &mut to_git, has_modes)
            });
        }
        // Most agents do not commit, and the comparison takes as long as all of the others.
        if head_of(&git) != Some(base) {
            add_committed(&git, &before, &mut list, |path| {
                is_reached(workspace, reach, path)
            });
        }
        Ok(Self {
            workspace: workspace.clone(),
            base: Some(base),
            list,
            kept: BTreeMap::new(),
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
        Self::since_snapshot_by(workspace, before, None, stop)
    }

    fn since_snapshot_by(
        workspace: &Workspace,
        before: &Snapshot,
        rules: Option<&IgnoreRules>,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, ChangesError> {
        let tracked: Listing = before.entries.keys().cloned().collect();
        let after = Snapshot::take_with(workspace, before.reach, &tracked, rules, stop)?;
        Ok(after.map(|after| Self {
            workspace: workspace.clone(),
            base: None,
            list: compare(&before.entries, &after.entries),
            kept: BTreeMap::new(),
        }))
    }

    /// Compares with the state when a task started, by the rules of what is ignored that held then,
    /// and with what the `protected` patterns named, ignored or not.
    ///
    /// Returns all changes, and those among them that were made since the start. `None` when the
    /// state is unknown now; see [`Snapshot::take`].
    ///
    /// # Errors
    ///
    /// When the commit or the workspace cannot be read, or when interrupted.
    pub fn since_start(
        workspace: &Workspace,
        start: &Start,
        protected: &[Pattern],
        stop: &AtomicBool,
    ) -> Result<Option<(Self, Vec<Change>)>, ChangesError> {
        let rules = Some(&start.rules);
        let found = match &start.basis {
            Basis::Commit(base, _) => Some(Self::since_commit_by(
                workspace,
                base,
                Reach::Repository,
                rules,
                stop,
            )?),
            Basis::Files(before) => {
                let changes = Self::since_snapshot_by(workspace, before, rules, stop)?;
                changes.map(|mut changes| {
                    changes.add_commits(start.head.as_deref(), before);
                    changes
                })
            }
        };
        let Some(mut changes) = found else {
            return Ok(None);
        };
        changes.kept.clone_from(&start.kept);
        let mut own = changes.list.clone();
        if let Basis::Commit(_, already) = &start.basis {
            own.retain(|path, difference| already.get(path) != Some(&difference.after));
        }
        let guarded = guarded::take(workspace, protected, stop)?;
        for (path, difference) in compare(&start.guarded, &guarded) {
            own.entry(path).or_insert(difference);
        }
        Ok(Some((changes, listed(&own))))
    }

    /// Adds the paths that an agent committed in another state than the one that it found on disk.
    fn add_commits(&mut self, start: Option<&str>, before: &Snapshot) {
        let Some(git) = &self.workspace.git else {
            return;
        };
        let git = git.to_thread_local();
        let start = start.and_then(|hex| ObjectId::from_hex(hex.as_bytes()).ok());
        if head_of(&git) == start {
            return;
        }
        let committed = start.and_then(|start| entries_of(&git, start).ok());
        let was = |path: &BString| before.entries.get(path).copied();
        let workspace = &self.workspace;
        let mut list = std::mem::take(&mut self.list);
        add_committed(&git, &committed.unwrap_or_default(), &mut list, |path| {
            is_reached(workspace, before.reach, path)
        });
        // To commit what was found as it was is no edit of it.
        list.retain(|path, difference| {
            difference.kind != ChangeKind::Committed || difference.after != was(path)
        });
        self.list = list;
    }

    /// Returns the changes, sorted by the bytes of their paths.
    #[must_use]
    pub fn list(&self) -> Vec<Change> {
        listed(&self.list)
    }

    /// Tells whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

fn listed(list: &BTreeMap<BString, Difference>) -> Vec<Change> {
    list.iter()
        .map(|(path, difference)| Change {
            path: to_path(path.as_ref()).to_owned(),
            kind: difference.kind,
        })
        .collect()
}

fn head_of(git: &gix::Repository) -> Option<ObjectId> {
    git.head_id().ok().map(gix::Id::detach)
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
