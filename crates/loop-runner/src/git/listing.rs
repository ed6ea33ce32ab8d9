//! Which paths of a workspace count: what is tracked, and what is not ignored.

use std::{
    collections::BTreeSet,
    fs, io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use gix::{
    bstr::{BStr, BString, ByteSlice},
    dir::{EntryRef, entry, walk},
};

use super::{
    fault::GitFault,
    ignore_rules::{self, IgnoreRules},
    plain_file,
    rules::{self, Guarded},
    snapshot::{Reach, SnapshotError},
    workspace::{Workspace, to_bytes, to_path},
};

/// The most files outside of a repository; with more the state is unknown.
const MAX_PLAIN_FILES: usize = 100_000;

/// The longest index that is read, in bytes: room for some millions of files.
const MAX_INDEX: u64 = 1 << 30;

/// The paths of a workspace that count, relative to its top.
///
/// A path may be gone, or be a folder; only looking tells.
pub(super) type Listing = BTreeSet<BString>;

/// Lists a folder outside of any repository, sorted, or returns `None` when there is too much.
pub(super) fn plain(
    workspace: &Workspace,
    reach: Reach,
    stop: &AtomicBool,
) -> Result<Option<Vec<BString>>, SnapshotError> {
    let mut paths = Listing::new();
    let mut walk = PlainWalk {
        top: &workspace.root,
        limit: MAX_PLAIN_FILES,
        stop,
        paths: &mut paths,
    };
    let is_small = walk.run(&workspace.root)?;
    paths.retain(|path| is_reached(workspace, reach, path.as_ref()));
    Ok(is_small.then(|| paths.into_iter().collect()))
}

/// Lists, sorted, every path in the index or in `tracked`. Neither can be believed alone, as an
/// agent can edit the index.
pub(super) fn named(
    workspace: &Workspace,
    reach: Reach,
    index: &gix::index::State,
    tracked: &Listing,
) -> Vec<BString> {
    let entries = index.entries().iter();
    let names = entries.map(|entry| entry.path(index).to_owned());
    let mut names: Vec<_> = names.chain(tracked.iter().cloned()).collect();
    names.retain(|path| is_reached(workspace, reach, path.as_ref()));
    // Two parts that are sorted each, which this kind of sorting makes use of.
    names.sort();
    names.dedup();
    names
}

/// Lists, sorted, every file that is not among `names` and not ignored, by `rules` or else by those
/// that hold now.
pub(super) fn unnamed(
    workspace: &Workspace,
    reach: Reach,
    git: &gix::Repository,
    index: &gix::index::State,
    names: &[BString],
    rules: Option<&IgnoreRules>,
    stop: &AtomicBool,
) -> Result<Vec<BString>, SnapshotError> {
    let mut paths = Vec::new();
    match rules {
        Some(rules) => untracked_by(rules, git, index, workspace, names, stop, &mut paths)?,
        None => untracked(git, index, workspace, reach, stop, &mut paths)?,
    }
    paths.retain(|path| {
        is_reached(workspace, reach, path.as_ref()) && names.binary_search(path).is_err()
    });
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

/// Tells whether a path is within reach and not the engine's own.
pub(super) fn is_reached(workspace: &Workspace, reach: Reach, path: &BStr) -> bool {
    !workspace.is_engines(path)
        && match reach {
            Reach::Repository => true,
            Reach::Project => is_below(path, workspace.project.as_ref()),
        }
}

fn is_below(path: &BStr, dir: &BStr) -> bool {
    dir.is_empty()
        || path
            .strip_prefix(dir.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Reads the index as a list of names.
///
/// Flags are taken off, because the walk leaves out what they call skipped. A missing or damaged
/// index is an empty one; the files that it should name are then found as untracked ones.
pub(super) fn index_of(git: &gix::Repository) -> gix::index::State {
    use gix::index::entry::Flags;
    let checked = plain_file::check(&git.index_path(), MAX_INDEX);
    let opened = checked.ok().and_then(|()| git.open_index().ok());
    let Some(index) = opened else {
        return gix::index::State::new(git.object_hash());
    };
    let mut index: gix::index::State = index.into();
    index.remove_entries(|_, _, entry| entry.mode.is_sparse());
    if let Some(root) = git.workdir() {
        // The walk goes into no nested repository, so one that is only claimed would hide files.
        index.remove_entries(|_, path, entry| {
            entry.mode.is_submodule() && !holds_repository(&root.join(to_path(path)))
        });
    }
    for entry in index.entries_mut() {
        entry
            .flags
            .remove(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID | Flags::UPTODATE);
    }
    index
}

fn holds_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Adds the files that are neither tracked nor ignored.
fn untracked(
    git: &gix::Repository,
    index: &gix::index::State,
    workspace: &Workspace,
    reach: Reach,
    stop: &AtomicBool,
    paths: &mut Vec<BString>,
) -> Result<(), SnapshotError> {
    let pattern = match reach {
        Reach::Project if !workspace.project.is_empty() => {
            let mut pattern = BString::from(":(top,literal)");
            pattern.extend_from_slice(&workspace.project);
            Some(pattern)
        }
        _ => None,
    };
    let start = match reach {
        Reach::Project => to_path(workspace.project.as_ref()),
        Reach::Repository => Path::new(""),
    };
    rules::check_down_to(&workspace.root, start)?;
    ignore_rules::check_shared(git)?;
    let options = git.dirwalk_options().map_err(GitFault::from)?;
    let mut collect = Guarded::new(&workspace.root, Collect { paths });
    let walked = git.dirwalk(index, pattern, stop, options, &mut collect);
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted);
    }
    collect.finish()?;
    walked.map_err(GitFault::from)?;
    Ok(())
}

/// Adds the files that are neither tracked nor ignored by the given rules; and by those that hold
/// now, if they are others: to stop ignoring a file is to add it.
fn untracked_by(
    rules: &IgnoreRules,
    git: &gix::Repository,
    index: &gix::index::State,
    workspace: &Workspace,
    names: &[BString],
    stop: &AtomicBool,
    paths: &mut Vec<BString>,
) -> Result<(), SnapshotError> {
    let walked = rules.walk(git, index, &workspace.root, stop, &mut Collect { paths });
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted);
    }
    walked?;
    if rules.still_hold(git, workspace, names.iter().chain(&*paths)) {
        return Ok(());
    }
    match untracked(git, index, workspace, Reach::Repository, stop, paths) {
        // Rules that cannot be read are seen as a change of that file, and add nothing.
        Err(SnapshotError::Read { .. }) => Ok(()),
        done => done,
    }
}

struct Collect<'a> {
    paths: &'a mut Vec<BString>,
}

impl walk::Delegate for Collect<'_> {
    fn emit(&mut self, entry: EntryRef<'_>, _: Option<entry::Status>) -> walk::Action {
        if entry.status == entry::Status::Untracked {
            self.paths.push(entry.rela_path.into_owned());
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// A walk through a folder outside of any repository.
struct PlainWalk<'a> {
    top: &'a Path,
    limit: usize,
    stop: &'a AtomicBool,
    paths: &'a mut Listing,
}

impl PlainWalk<'_> {
    /// Adds every file and link below `dir`; tells whether they were few enough.
    fn run(&mut self, dir: &Path) -> Result<bool, SnapshotError> {
        let read = |source| SnapshotError::Read {
            path: dir.to_owned(),
            source,
        };
        for entry in fs::read_dir(dir).map_err(read)? {
            if self.stop.load(Ordering::Relaxed) {
                return Err(SnapshotError::Interrupted);
            }
            let entry = entry.map_err(read)?;
            let kind = entry.file_type().map_err(read)?;
            let path = entry.path();
            let below = path.strip_prefix(self.top).unwrap_or(&path);
            let few = if kind.is_dir() {
                below == Path::new(".automaton") || self.run(&path)?
            } else {
                self.paths.insert(to_bytes(below));
                self.paths.len() <= self.limit
            };
            if !few {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Answers whether the folders above a path are real ones.
///
/// A tracked `a/b` is gone when `a` is a link now, whatever is found by following it.
#[derive(Debug, Default)]
pub(super) struct RealFolders {
    last: Option<(BString, bool)>,
}

impl RealFolders {
    pub(super) fn hold(&mut self, root: &Path, path: &BStr) -> bool {
        let Some(at) = path.rfind_byte(b'/') else {
            return true;
        };
        let dir = path[..at].as_bstr();
        if let Some((known, answer)) = &self.last
            && known == dir
        {
            return *answer;
        }
        let answer = self.hold(root, dir)
            && fs::symlink_metadata(root.join(to_path(dir))).is_ok_and(|meta| meta.is_dir());
        self.last = Some((dir.to_owned(), answer));
        answer
    }
}

/// Lists everything in a nested repository but its `.git`, for a digest of its own.
pub(super) fn nested_files(dir: &Path, stop: &AtomicBool) -> Result<Listing, SnapshotError> {
    let mut files = Listing::new();
    walk_nested(dir, dir, stop, &mut files).map_err(|source| SnapshotError::Read {
        path: dir.to_owned(),
        source,
    })?;
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted);
    }
    Ok(files)
}

fn walk_nested(top: &Path, dir: &Path, stop: &AtomicBool, files: &mut Listing) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let entry = entry?;
        if entry.file_name() == ".git" {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            walk_nested(top, &path, stop, files)?;
        } else {
            files.insert(to_bytes(path.strip_prefix(top).unwrap_or(&path)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-19
    #[test]
    fn too_many_files_are_not_listed() {
        let dir = tempfile::TempDir::new().unwrap();
        for name in ["a/1", "a/b/2", "3", ".automaton/4", ".automaton/5"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        for (limit, few) in [(2, false), (3, true), (4, true)] {
            let mut walk = PlainWalk {
                top: dir.path(),
                limit,
                stop: &AtomicBool::new(false),
                paths: &mut Listing::new(),
            };
            assert_eq!(walk.run(dir.path()).unwrap(), few, "{limit}");
        }
    }
}
