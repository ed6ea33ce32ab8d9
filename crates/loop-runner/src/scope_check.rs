//! Whether an attempt stayed where its loop's changes may land (rows ).

use crate::git::{
    Change, ChangeKind, Changes, ChangesError, FileStat, Replaced, SnapshotError, Start,
    TakeOutError, Workspace,
};
use crate::patch_file;
use crate::setup::Setup;
use crate::workplace;
use loop_core::answer::WorktreeRecord;
use loop_core::config::WorktreeFor;
use loop_core::scope::{InvalidPattern, Kind, Scope, Violation};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The longest patch that is kept, in bytes.
const MAX_PATCH: u64 = 4 << 20;
/// The most violations that are listed.
const MAX_VIOLATIONS: usize = 100;

/// What an attempt changed.
#[derive(Debug)]
pub struct Checked {
    /// Every change since the start of the task, with what a set-up made; paths are below the top
    /// level of the repository.
    pub changes: Vec<Change>,
    /// Changes that are not allowed, up to a hundred; their paths are relative to the project.
    pub violations: Vec<Violation>,
    /// How many there are in all.
    pub violation_count: usize,
    /// The changes as a patch, cut at 4 MiB; it is empty when there are none.
    pub patch: PathBuf,
}

/// Tells why it is not known whether an attempt stayed in its scope.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// The loop's configuration has an entry that means nothing.
    #[error("blast_radius: {0}")]
    Pattern(#[from] InvalidPattern),
    /// The worktree is not the one that was made.
    #[error(transparent)]
    Replaced(#[from] Replaced),
    /// The workspace or its base could not be read.
    #[error(transparent)]
    Changes(#[from] ChangesError),
    /// There is more in the workspace than the engine reads.
    #[error("the files are too many or too long to be compared with those at the start")]
    Unknown,
    /// The changes could not be taken out of the worktree.
    #[error(transparent)]
    TakeOut(#[from] TakeOutError),
    /// They were taken out, and something is still not as it was.
    #[error("{} is still not as it was before the task", .0.display())]
    Left(PathBuf),
    /// The patch could not be written.
    #[error("write {}: {source}", path.display())]
    Write {
        /// The patch.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ScopeError {
    /// Tells whether the caller asked to stop.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(
            self,
            Self::Changes(ChangesError::Snapshot(SnapshotError::Interrupted))
        )
    }
}

/// Checks that the entries of `file_scope` and `protect` mean something.
///
/// # Errors
///
/// [`InvalidPattern`] for the first that does not.
pub fn check_patterns(setup: &Setup) -> Result<(), InvalidPattern> {
    scope_of(setup, false).map(drop)
}

/// Takes the state that a task's changes are measured from. Do so when its workplace is ready and
/// before its first call, and keep the [text](Start) until the task ends.
///
/// In a worktree of the task's own that is the commit it was made from; in one that all tasks share,
/// and in the project itself, it is what the files are now.
///
/// # Errors
///
/// [`ScopeError`]; [`ScopeError::is_interrupted`] when `stop` was set.
pub fn take_start(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    stop: &AtomicBool,
) -> Result<Start, ScopeError> {
    let scope = scope_of(setup, worktree.is_some())?;
    let workspace = workspace(setup, worktree)?;
    match worktree {
        Some(worktree) if setup.config.worktree_for() == WorktreeFor::Task => Ok(
            Start::since_commit(&workspace, &worktree.base, scope.protected(), stop)?,
        ),
        _ => Start::since_now(&workspace, scope.protected(), stop)?.ok_or(ScopeError::Unknown),
    }
}

/// Compares the place where a task is worked on with its start, writes the changes to
/// `outputs/tick<N>-changes.patch`, and finds those that are not allowed.
///
/// New files that a judge has left, which `judges_own` names, are not the attempt's.
///
/// # Errors
///
/// [`ScopeError`]; what is not known must not be taken for allowed.
pub fn scope_check(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    start: &Start,
    judges_own: &[String],
    tick: u64,
    stop: &AtomicBool,
) -> Result<Checked, ScopeError> {
    let scope = scope_of(setup, worktree.is_some())?;
    let workspace = workspace(setup, worktree)?;
    let found = Changes::since_start(&workspace, start, scope.protected(), stop)?;
    let (changes, own) = found.ok_or(ScopeError::Unknown)?;
    let is_judges = |change: &Change| {
        let path = change.path.to_string_lossy();
        change.kind == ChangeKind::Added && judges_own.iter().any(|own| *own == path)
    };
    let mut violations = scope.violations(
        own.iter()
            .filter(|change| !is_judges(change))
            .map(|change| (relative(&change.path, workspace.place()), kind(change.kind))),
    );
    let violation_count = violations.len();
    violations.truncate(MAX_VIOLATIONS);
    let patch = setup
        .dir
        .outputs()
        .join(format!("tick{tick}-changes.patch"));
    patch_file::write(&changes, &patch, MAX_PATCH).map_err(|source| ScopeError::Write {
        path: patch.clone(),
        source,
    })?;
    Ok(Checked {
        changes: changes.list(),
        violations,
        violation_count,
        patch,
    })
}

/// Counts the lines of each file that differs from the start of a task.
///
/// # Errors
///
/// [`ScopeError`].
pub(crate) fn stats_since(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    start: &Start,
    stop: &AtomicBool,
) -> Result<Vec<FileStat>, ScopeError> {
    let workspace = workspace(setup, worktree)?;
    let found = Changes::since_start(&workspace, start, &[], stop)?;
    let (changes, _) = found.ok_or(ScopeError::Unknown)?;
    changes
        .write_patch(&mut io::sink())
        .map_err(|source| ScopeError::Write {
            path: PathBuf::from("the patch"),
            source,
        })
}

/// Takes what a task has changed in a worktree that all tasks share out of it: as
/// the patch `outputs/tick<N>-set-aside.patch` for people, and file by file into the
/// folder of that name without `.patch`. Done twice, it goes on where it was.
///
/// Returns the patch; `None` when nothing had changed.
///
/// # Errors
///
/// [`ScopeError`].
pub(crate) fn take_out(
    setup: &Setup,
    worktree: &WorktreeRecord,
    start: &Start,
    tick: u64,
    stop: &AtomicBool,
) -> Result<Option<PathBuf>, ScopeError> {
    let workspace = workspace(setup, Some(worktree))?;
    let look = || {
        let found = Changes::since_start(&workspace, start, &[], stop)?;
        Ok::<_, ScopeError>(found.ok_or(ScopeError::Unknown)?.0)
    };
    let changes = look()?;
    let folder = setup.dir.outputs().join(format!("tick{tick}-set-aside"));
    let patch = folder.with_extension("patch");
    // After a crash in the middle, the first patch is the whole one.
    if !patch.exists() {
        if changes.is_empty() {
            return Ok(None);
        }
        patch_file::write(&changes, &patch, MAX_PATCH).map_err(|source| ScopeError::Write {
            path: patch.clone(),
            source,
        })?;
    }
    changes.take_out(&folder)?;
    let mut left = look()?.list().into_iter();
    match left.find(|left| left.kind != ChangeKind::Committed) {
        Some(left) => Err(ScopeError::Left(left.path)),
        None => Ok(Some(patch)),
    }
}

fn scope_of(setup: &Setup, in_worktree: bool) -> Result<Scope, InvalidPattern> {
    let limits = setup.config.blast_radius();
    if in_worktree {
        Scope::of_worktree(limits.file_scope(), limits.protect())
    } else {
        Scope::new(limits.file_scope(), limits.protect())
    }
}

fn workspace(setup: &Setup, worktree: Option<&WorktreeRecord>) -> Result<Workspace, Replaced> {
    let root = setup.project.root();
    match (worktree, &setup.repository) {
        (Some(worktree), Some(repository)) => {
            let below = repository.place_of(root).unwrap_or_default();
            Workspace::of_worktree(repository, &workplace::recorded(worktree), &below)
        }
        (_, Some(repository)) => Ok(Workspace::in_place(repository, root)),
        (_, None) => Ok(Workspace::plain(root)),
    }
}

/// Turns a path below the top level into one relative to the project at `place`; what is beside the
/// project begins with `..`.
fn relative(path: &Path, place: &Path) -> Vec<u8> {
    match path.strip_prefix(place) {
        Ok(below) if below.as_os_str().is_empty() => b".".to_vec(),
        Ok(below) => below.as_os_str().as_bytes().to_vec(),
        Err(_) => {
            let mut out: PathBuf = place.components().map(|_| "..").collect();
            out.push(path);
            out.as_os_str().as_bytes().to_vec()
        }
    }
}

fn kind(kind: ChangeKind) -> Kind {
    match kind {
        ChangeKind::Added => Kind::Added,
        ChangeKind::Modified => Kind::Modified,
        ChangeKind::Deleted => Kind::Deleted,
        ChangeKind::Mode => Kind::Mode,
        ChangeKind::Type => Kind::Type,
        ChangeKind::Committed => Kind::Committed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: X-09
    // cases: 102
    #[test]
    fn paths_are_relative_to_the_project() {
        for (path, place, expected) in [
            ("a/b", "", "a/b"),
            ("packages/a/src/x", "packages/a", "src/x"),
            ("packages/ab/x", "packages/a", "../../packages/ab/x"),
            ("packages/a", "packages/a", "."),
            ("README.md", "packages/a", "../../README.md"),
        ] {
            let found = relative(Path::new(path), Path::new(place));
            assert_eq!(found, expected.as_bytes(), "{path} {place}");
        }
    }
}
