//! The files of a checkout that were as their owner had committed or staged them.

use std::{
    collections::BTreeSet,
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    thread,
};

use gix::{
    bstr::{BStr, BString, ByteSlice},
    dir::{EntryRef, entry, walk},
    index::entry::{Mode, Stage},
};

use crate::git::{
    budget::Budget,
    committed::ToGit,
    hash_file::look,
    ignore_rules::IgnoreRules,
    seen::Stamp,
    snapshot::{EntryKind, SnapshotError},
    workspace::to_path,
};

use super::{Exempt, OutsideChange, git_fault, heard, shown};

/// Files as they were.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    index: gix::index::State,
    /// What was seen of each entry of the index that counts and was not edited.
    clean: Vec<(usize, Stamp)>,
    /// The files that were neither tracked nor ignored.
    untracked: BTreeSet<BString>,
    /// By what rules.
    rules: IgnoreRules,
}

impl Files {
    pub(super) fn take(
        git: &gix::Repository,
        root: &Path,
        index: gix::index::State,
        exempt: &Exempt,
        stop: &AtomicBool,
    ) -> Result<Self, SnapshotError> {
        let root = root.canonicalize().map_err(git_fault)?;
        let (rules, untracked) = IgnoreRules::take_with_untracked(git, &index, &root, stop)?;
        let untracked = untracked
            .into_iter()
            .filter(|path| !exempt.holds(path.as_ref()));
        let stamps = stamps(&root, &index, exempt)?;
        let mut judge = Judge::new(git, &root, stop)?;
        let mut clean = Vec::new();
        for (at, stamp) in stamps {
            heard(stop)?;
            let entry = &index.entries()[at];
            let Some(stamp) = stamp else {
                continue;
            };
            if is_remembered(entry, &stamp) || judge.is_stored(entry, entry.path(&index))? {
                clean.push((at, stamp));
            }
        }
        Ok(Self {
            untracked: untracked.collect(),
            clean,
            rules,
            index,
            root,
        })
    }

    /// Tells whether a file was new or edited already.
    pub(super) fn is_dirty(&self, path: &BStr) -> bool {
        if self.untracked.contains(path) {
            return true;
        }
        let Ok(listed) = self.index.entry_index_by_path(path) else {
            return false;
        };
        self.clean.iter().all(|(at, _)| *at != listed)
    }

    /// Looks again at the files that were not edited, and for new ones.
    pub(super) fn compare(
        &self,
        git: &gix::Repository,
        exempt: &Exempt,
        stop: &AtomicBool,
        changes: &mut Vec<OutsideChange>,
    ) -> Result<(), SnapshotError> {
        let mut judge = Judge::new(git, &self.root, stop)?;
        let touched = in_parts(&self.clean, |(at, stamp)| {
            let entry = &self.index.entries()[*at];
            let now = stamp_at(&self.root, entry.path(&self.index));
            (now != Some(*stamp)).then_some((*at, now))
        });
        for (at, now) in touched {
            heard(stop)?;
            let entry = &self.index.entries()[at];
            let path = entry.path(&self.index);
            let word = match now {
                None => "was deleted",
                Some(_) if judge.is_stored(entry, path)? => continue,
                Some(_) => "was changed",
            };
            changes.push(OutsideChange::new(format!(
                "{} {word}",
                shown(to_path(path))
            )));
        }
        let mut new = Collect::default();
        self.rules
            .walk(git, &self.index, &self.root, stop, &mut new)?;
        for path in new.0.difference(&self.untracked) {
            if !exempt.holds(path.as_ref()) && !is_editors(path.as_ref()) {
                let path = shown(to_path(path.as_ref()));
                changes.push(OutsideChange::new(format!("{path} was added")));
            }
        }
        Ok(())
    }
}

/// Tells whether a new file is one that an editor makes while a person writes in
/// the checkout, or a desktop while they look at it.
fn is_editors(path: &BStr) -> bool {
    let name = path.rsplit_str("/").next().unwrap_or(path);
    let is_swap = name.starts_with(b".")
        && [".swp", ".swo", ".swx"]
            .iter()
            .any(|end| name.ends_with(end.as_bytes()));
    let is_backup = name.ends_with(b"~") || (name.starts_with(b"#") && name.ends_with(b"#"));
    is_swap || is_backup || name.starts_with(b".#") || matches!(name, b"4913" | b".DS_Store")
}

/// Looks at every file that an index lists, in order.
fn stamps(
    root: &Path,
    index: &gix::index::State,
    exempt: &Exempt,
) -> Result<Vec<(usize, Option<Stamp>)>, SnapshotError> {
    let counts = |entry: &gix::index::Entry| {
        entry.stage() == Stage::Unconflicted
            && entry.mode != Mode::COMMIT
            && !exempt.holds(entry.path(index))
    };
    let wanted: Vec<_> = index
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, entry)| counts(entry))
        .map(|(at, _)| at)
        .collect();
    Ok(in_parts(&wanted, |at| {
        let path = index.entries()[*at].path(index);
        Some((*at, stamp_at(root, path)))
    }))
}

/// What is seen of a file or link; `None` when there is neither.
fn stamp_at(root: &Path, path: &BStr) -> Option<Stamp> {
    let meta = fs::symlink_metadata(root.join(to_path(path))).ok()?;
    (meta.is_file() || meta.is_symlink()).then(|| Stamp::of(&meta))
}

/// Does something small for each of many, with as many threads as there are processors.
fn in_parts<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(threads).max(1);
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = items
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().filter_map(work).collect::<Vec<_>>()))
            .collect();
        let parts = workers.into_iter().map(|worker| {
            // A panic of ours is passed on, not turned into a state.
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        parts.flatten().collect()
    })
}

/// Tells whether the index remembers a file as it is, so that nobody has to read it.
///
/// The index cuts the numbers off at 32 bits. Git looks at the same ones.
fn is_remembered(entry: &gix::index::Entry, stamp: &Stamp) -> bool {
    let same = |time: gix::index::entry::stat::Time, (seconds, nanos): (i64, i64)| {
        i64::from(time.secs) == seconds & 0xffff_ffff
            && (time.nsecs == 0 || i64::from(time.nsecs) == nanos)
    };
    let stat = &entry.stat;
    u64::from(stat.size) == stamp.length
        && same(stat.mtime, stamp.modified)
        && same(stat.ctime, stamp.changed)
        && u64::from(stat.ino) == stamp.inode & 0xffff_ffff
        && is_mode(entry.mode, stamp.mode)
}

/// Tells whether a file on disk is of the kind that an entry says.
fn is_mode(mode: Mode, on_disk: u32) -> bool {
    let is_link = on_disk & 0o170_000 == 0o120_000;
    let is_executable = on_disk & 0o100 != 0;
    match mode {
        Mode::SYMLINK => is_link,
        Mode::FILE_EXECUTABLE => !is_link && is_executable,
        _ => !is_link && !is_executable,
    }
}

/// Compares contents with those that an index lists.
struct Judge<'a> {
    git: &'a gix::Repository,
    root: &'a Path,
    stop: &'a AtomicBool,
    budget: Budget,
    has_modes: bool,
    /// Made for the first file whose bytes are not those of the entry.
    to_git: Option<ToGit<'a>>,
}

impl<'a> Judge<'a> {
    fn new(
        git: &'a gix::Repository,
        root: &'a Path,
        stop: &'a AtomicBool,
    ) -> Result<Self, SnapshotError> {
        Ok(Self {
            git,
            root,
            stop,
            budget: Budget::of_comparison(),
            has_modes: git.filesystem_options().map_err(git_fault)?.executable_bit,
            to_git: None,
        })
    }

    /// Tells whether git would find the file unchanged.
    fn is_stored(&mut self, entry: &gix::index::Entry, path: &BStr) -> Result<bool, SnapshotError> {
        let full = self.root.join(to_path(path));
        let Some(found) = look(&full, &self.budget, self.stop)? else {
            return Ok(false);
        };
        let is_kind = match found.kind {
            EntryKind::Link => entry.mode == Mode::SYMLINK,
            EntryKind::File => entry.mode == Mode::FILE || !self.has_modes,
            EntryKind::Executable => entry.mode == Mode::FILE_EXECUTABLE || !self.has_modes,
            EntryKind::Repository | EntryKind::Unreadable => false,
        };
        if !is_kind || found.id == entry.id || found.kind == EntryKind::Link {
            return Ok(is_kind && found.id == entry.id);
        }
        if self.to_git.is_none() {
            let Ok(head) = self.git.head_id() else {
                return Ok(false);
            };
            let to_git = ToGit::new(self.git, head.detach());
            self.to_git = Some(to_git.map_err(git_fault)?);
        }
        let to_git = self.to_git.as_mut();
        Ok(to_git.is_some_and(|to_git| to_git.is_stored_as(&full, path, entry.id)))
    }
}

#[derive(Default)]
struct Collect(BTreeSet<BString>);

impl walk::Delegate for Collect {
    fn emit(&mut self, entry: EntryRef<'_>, _: Option<entry::Status>) -> walk::Action {
        if entry.status == entry::Status::Untracked {
            self.0.insert(entry.rela_path.into_owned());
        }
        std::ops::ControlFlow::Continue(())
    }
}
