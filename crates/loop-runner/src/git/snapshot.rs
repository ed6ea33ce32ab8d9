//! The state of a workspace: what each of its paths holds.

use std::{
    collections::BTreeMap,
    num::NonZero,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use gix::{ObjectId, bstr::BString};

use super::{
    budget::Budget,
    fault::GitFault,
    hash_file::look_knowing,
    ignore_rules::IgnoreRules,
    listing::{self, Listing, RealFolders, index_of},
    seen::{Pass, Stamp},
    workspace::{Workspace, to_path},
};

/// How much of a workspace is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The project's folder and what is below it.
    Project,
    /// The whole checkout, of which the project may be a part.
    Repository,
}

/// What kind of thing a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryKind {
    /// A regular file.
    File,
    /// A regular file that its owner may execute.
    Executable,
    /// A symbolic link.
    Link,
    /// A repository in the repository; its files are not listed one by one.
    Repository,
    /// A regular file that is not read, because it may not be or is too long.
    Unreadable,
}

impl EntryKind {
    /// All kinds.
    pub(super) const ALL: [Self; 5] = [
        Self::File,
        Self::Executable,
        Self::Link,
        Self::Repository,
        Self::Unreadable,
    ];

    /// The letter that stands for the kind in lists.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::File => 'f',
            Self::Executable => 'x',
            Self::Link => 'l',
            Self::Repository => 'r',
            Self::Unreadable => 'u',
        }
    }
}

/// Tells why the state of a workspace could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A file or folder could not be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system reported.
        source: std::io::Error,
    },
    /// The repository could not be read.
    #[error("list the files: {0}")]
    Git(#[from] GitFault),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What one path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    /// The content's id as of a blob in git, over the bytes as they are on disk.
    pub(super) id: ObjectId,
}

/// What every path of a workspace holds, at one moment.
///
/// It covers files that are tracked or not ignored, with contents, executable bit and link targets;
/// it leaves out what the engine writes (`.automaton/`, `STATE.md`, `STATE.prev.md` of the project).
/// Contents are read from the files, never believed from the index: an index is a file that an agent
/// can write, times and all. A [`Repository`](super::Repository) remembers what was read through it
/// and reads a file again only when it changed (decision 0016).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub(super) reach: Reach,
    pub(super) entries: BTreeMap<BString, Entry>,
}

impl Snapshot {
    /// Reads the state of a workspace.
    ///
    /// Returns `None` when it is unknown, because a file has more than 1 GiB, or all of them have
    /// more than 4 GiB, or there are more than 100,000 of them outside of a repository. Set `stop`
    /// to `true` to give up.
    ///
    /// # Errors
    ///
    /// When a folder or the repository cannot be read, or when interrupted. A file that may not be
    /// read is no error.
    pub fn take(
        workspace: &Workspace,
        reach: Reach,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, SnapshotError> {
        Self::take_with(workspace, reach, &Listing::new(), None, stop)
    }

    /// Reads the state; paths in `tracked` count also when they are ignored, by `rules` or else by
    /// those that hold now.
    pub(super) fn take_with(
        workspace: &Workspace,
        reach: Reach,
        tracked: &Listing,
        rules: Option<&IgnoreRules>,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, SnapshotError> {
        let budget = Budget::of_state();
        let snapshot = Self::take_within(workspace, reach, tracked, rules, &budget, stop)?;
        Ok(snapshot.filter(|_| !budget.is_exceeded()))
    }

    /// Reads the state as far as the budget reaches; a file beyond it is an unreadable one.
    pub(super) fn take_within(
        workspace: &Workspace,
        reach: Reach,
        tracked: &Listing,
        rules: Option<&IgnoreRules>,
        budget: &Budget,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, SnapshotError> {
        let look = |paths: &[BString]| look_at_all(workspace, paths, budget, stop);
        let Some(git) = &workspace.git else {
            let paths = listing::plain(workspace, reach, stop)?;
            let entries = paths.map(|paths| look(&paths)).transpose()?;
            return Ok(entries.map(|entries| Self { reach, entries }));
        };
        let index = index_of(&git.to_thread_local());
        let names = listing::named(workspace, reach, &index, tracked);
        // The walk for new files takes about as long as a look at the known ones.
        let (entries, unnamed) = thread::scope(|scope| {
            let walk = scope.spawn(|| {
                let git = git.to_thread_local();
                listing::unnamed(workspace, reach, &git, &index, &names, rules, stop)
            });
            (look(&names), joined(walk))
        });
        let (mut entries, unnamed) = (entries?, unnamed?);
        entries.extend(look(&unnamed)?);
        Ok(Some(Self { reach, entries }))
    }

    /// Returns the number of paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is no path at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Looks at all paths, with as many threads as there are processors. Files that were read before
/// and have not changed since are not read again.
fn look_at_all(
    workspace: &Workspace,
    paths: &[BString],
    budget: &Budget,
    stop: &AtomicBool,
) -> Result<BTreeMap<BString, Entry>, SnapshotError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = paths.len().div_ceil(threads).max(1);
    let pass = workspace.seen.pass();
    let known = &pass;
    let parts = thread::scope(|scope| {
        let workers: Vec<_> = paths
            .chunks(share)
            .map(|part| scope.spawn(move || look_at(&workspace.root, part, known, budget, stop)))
            .collect();
        let parts = workers.into_iter().map(joined);
        parts.collect::<Result<Vec<_>, _>>()
    })?;
    let mut found = Vec::with_capacity(paths.len());
    let mut read = Vec::new();
    for part in parts {
        found.extend(part.found);
        read.extend(part.read);
    }
    workspace.seen.remember(pass, read);
    // They are sorted already, which makes this fast.
    Ok(found.into_iter().collect())
}

/// Waits for a thread. A panic of ours is passed on, not turned into a state.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What one thread found.
struct Part {
    found: Vec<(BString, Entry)>,
    /// What it had to read for that.
    read: Vec<(Stamp, Entry)>,
}

fn look_at(
    root: &Path,
    paths: &[BString],
    known: &Pass,
    budget: &Budget,
    stop: &AtomicBool,
) -> Result<Part, SnapshotError> {
    let mut folders = RealFolders::default();
    let mut part = Part {
        found: Vec::with_capacity(paths.len()),
        read: Vec::new(),
    };
    for path in paths {
        if stop.load(Ordering::Relaxed) {
            return Err(SnapshotError::Interrupted);
        }
        if !folders.hold(root, path.as_ref()) {
            continue;
        }
        let full = root.join(to_path(path.as_ref()));
        if let Some(found) = look_knowing(&full, Some(known), budget, stop)? {
            part.read
                .extend(found.stamp.map(|stamp| (stamp, found.entry)));
            part.found.push((path.clone(), found.entry));
        }
    }
    Ok(part)
}
