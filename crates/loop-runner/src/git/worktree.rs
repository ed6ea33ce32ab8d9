//! The worktree of a task or a loop: made once, reused by later ticks, healed after a crash.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use gix::refs::{FullName, transaction::PreviousValue};

use super::{
    administration::{Administration, Recorded, Replaced},
    branch::BranchName,
    checkout,
    destination::{self, Occupant},
    error::WorktreeError,
    fault::GitFault,
    index_lock,
    registration::Turn,
    repository::Repository,
    stray::Stray,
    torn,
};

/// What [`ensure`] is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The user's repository.
    pub repository: &'a Repository,
    /// The folder of the worktree; it and its parents need not exist.
    pub dest: &'a Path,
    /// The branch of a worktree that is not recorded yet; see [`pick_branch`](super::pick_branch).
    pub branch: &'a BranchName,
    /// What was recorded when the worktree was created, if it was.
    pub recorded: Option<&'a Recorded>,
    /// How long a git process that is at work in the worktree is waited for.
    pub lock_wait: Duration,
    /// Set to `true` to give up; what was begun is then taken back.
    pub stop: &'a AtomicBool,
}

/// A worktree that is ready to work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// What to keep in the loop's state and pass to later calls.
    pub recorded: Recorded,
    /// How the worktree came to be.
    pub origin: Origin,
    /// What a person should know, for the log.
    pub warnings: Vec<String>,
}

/// How a worktree came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// New, on a new branch.
    Created,
    /// New, on a branch that was there.
    Attached,
    /// Found complete, but not recorded: the engine was killed in between.
    Adopted,
    /// Found as recorded.
    Reused,
}

impl Origin {
    /// Tells whether the worktree's set-up has to run, because it is not known to have run.
    #[must_use]
    pub const fn needs_setup(self) -> bool {
        !matches!(self, Self::Reused)
    }
}

/// Makes sure that a loop's worktree exists, and returns it.
///
/// A new one is created on a new branch at the commit that the user's checkout stands on. A kill at
/// any moment leaves something that the next call completes: a branch without a worktree is
/// attached, an empty folder is used, a half-filled folder that is provably the engine's own is made
/// anew, and an entry whose folder is gone is removed, that one only. Nothing else of the
/// repository is written: no configuration, no index, no other branch.
///
/// # Errors
///
/// See [`WorktreeError`]; each comes before anything was changed, or after it was taken back. Only a
/// new branch stays, and is attached by the next call.
pub fn ensure(request: &Request<'_>) -> Result<Worktree, WorktreeError> {
    let mut worktree = match request.recorded {
        Some(recorded) if exists(&recorded.path) => Worktree {
            recorded: recorded.clone(),
            origin: Origin::Reused,
            warnings: Vec::new(),
        },
        Some(recorded) => create(request, &recorded.branch, Some(&recorded.base))?,
        None => create(request, request.branch.as_str(), None)?,
    };
    let entry = Administration::verified(request.repository, &worktree.recorded)?;
    let stray = Stray::of_entry(&entry, &worktree.recorded)?;
    let warning = stray.map(|stray| stray.warning(&worktree.recorded));
    worktree.warnings.extend(warning);
    worktree
        .warnings
        .extend(index_lock::wait(&entry.dir, request.lock_wait));
    Ok(worktree)
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Creates the worktree on `branch`, or completes what an earlier call began.
fn create(
    request: &Request<'_>,
    branch: &str,
    base: Option<&str>,
) -> Result<Worktree, WorktreeError> {
    let git = request.repository.local();
    let head = head_commit(&git)?;
    let name = full_name(branch)?;
    let dest = destination::resolve(request.dest)?;
    destination::refuse_inside(&git, &dest)?;

    let turn = Turn::wait(git.common_dir());
    if destination::clear(&git, &dest, &name)? == Occupant::Complete {
        return adopt(request, &git, &dest, branch, head, base);
    }
    let start = match base {
        Some(hex) => parse(hex)?,
        None => head,
    };
    let is_new = ensure_branch(&git, &name, start)?;
    install(&git, &dest, name.clone(), turn, request.stop)?;

    let path = dest.canonicalize().map_err(GitFault::from)?;
    let base = match base {
        Some(base) => base.to_owned(),
        None => base_of(&git, &name, head)?,
    };
    Ok(Worktree {
        recorded: record(request.repository, path, branch, base)?,
        origin: if is_new {
            Origin::Created
        } else {
            Origin::Attached
        },
        warnings: Vec::new(),
    })
}

/// Takes over a complete worktree on our branch of which nothing is recorded.
fn adopt(
    request: &Request<'_>,
    git: &gix::Repository,
    dest: &Path,
    branch: &str,
    head: gix::ObjectId,
    base: Option<&str>,
) -> Result<Worktree, WorktreeError> {
    let replaced = |what: String| Replaced {
        path: dest.to_owned(),
        what,
    };
    let found = Administration::found(request.repository, dest)?;
    found.check().map_err(replaced)?;
    if found.has_config && !git.git_dir().join("config.worktree").exists() {
        return Err(replaced("it has a configuration of its own".to_owned()).into());
    }
    let base = match base {
        Some(base) => base.to_owned(),
        None => base_of(git, &full_name(branch)?, head)?,
    };
    Ok(Worktree {
        recorded: record(request.repository, dest.to_owned(), branch, base)?,
        origin: Origin::Adopted,
        warnings: Vec::new(),
    })
}

/// Registers the worktree and fills it; takes everything back when that fails.
fn install(
    git: &gix::Repository,
    dest: &Path,
    name: FullName,
    turn: Turn,
    stop: &AtomicBool,
) -> Result<(), WorktreeError> {
    let head = gix::worktree::add::Head::Attached(name);
    torn::settle(git)?;
    let prepared = git
        .prepare_add_worktree(dest, head, stop)
        .map_err(|error| WorktreeError::of_add(error, dest))?;
    drop(turn);
    if let Err(source) = checkout::fill(prepared.repo(), stop) {
        let turn = Turn::wait(git.common_dir());
        // This takes back what was prepared.
        drop(prepared);
        drop(turn);
        return Err(if stop.load(Ordering::Relaxed) {
            WorktreeError::Interrupted
        } else {
            WorktreeError::Create {
                dest: dest.to_owned(),
                source,
            }
        });
    }
    prepared.persist().map_err(GitFault::from)?;
    Ok(())
}

fn record(
    repository: &Repository,
    path: PathBuf,
    branch: &str,
    base: String,
) -> Result<Recorded, WorktreeError> {
    let admin = Administration::found(repository, &path)?.digest;
    Ok(Recorded {
        path,
        branch: branch.to_owned(),
        base,
        admin,
    })
}

fn head_commit(git: &gix::Repository) -> Result<gix::ObjectId, WorktreeError> {
    if git.head().map_err(GitFault::from)?.is_unborn() {
        return Err(WorktreeError::NoCommits {
            repository: git.workdir().unwrap_or_else(|| git.git_dir()).to_owned(),
        });
    }
    Ok(git.head_commit().map_err(GitFault::from)?.id)
}

fn full_name(branch: &str) -> Result<FullName, GitFault> {
    format!("refs/heads/{branch}")
        .try_into()
        .map_err(|error: gix::validate::reference::name::Error| GitFault::new(error.to_string()))
}

fn parse(hex: &str) -> Result<gix::ObjectId, GitFault> {
    gix::ObjectId::from_hex(hex.as_bytes()).map_err(|error| GitFault::new(error.to_string()))
}

/// Creates the branch unless it is there; tells whether it is new.
fn ensure_branch(
    git: &gix::Repository,
    name: &FullName,
    start: gix::ObjectId,
) -> Result<bool, GitFault> {
    if git.try_find_reference(name.as_ref())?.is_some() {
        return Ok(false);
    }
    torn::unlock_branch(git, name)?;
    git.reference(
        name.clone(),
        start,
        PreviousValue::MustNotExist,
        "loop: start",
    )?;
    Ok(true)
}

/// The commit that a loop's changes on a branch are measured from.
///
/// A branch that was there already may hold commits of an earlier run. They count as changes, so
/// the base is where the branch left the user's history.
pub(super) fn base_of(
    git: &gix::Repository,
    name: &FullName,
    head: gix::ObjectId,
) -> Result<String, GitFault> {
    let tip = git.find_reference(name.as_ref())?.peel_to_commit()?.id;
    if tip == head {
        return Ok(head.to_string());
    }
    Ok(match git.merge_base(tip, head) {
        Ok(Some(base)) => base.to_string(),
        // Unrelated histories have none, and a cut-off one cannot tell.
        Ok(None) | Err(_) => tip.to_string(),
    })
}
