//! The worktrees of a project's loops: whose they are, what is in them, and what may go.

mod salvage;
mod size;

use crate::git::{
    self, Changes, Configuration, OpenError, Recorded, RemovalError, Repository, registered_below,
};
use crate::hash::sha256_hex;
use crate::setup::Surroundings;
use crate::store::{LoopDir, read_state};
use crate::workplace;
use loop_core::state::{State, Status};
use loop_core::time::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub use salvage::{SalvageError, Salvaged};

const GONE: &str = "its folder is gone; git worktree remove forgets it";
const NO_REPOSITORY: &str = "it is in no repository; look at it, and remove it yourself";

/// A worktree, or what is left of one.
#[derive(Clone, Debug)]
pub struct LoopWorktree {
    /// The loop that it was made for.
    pub loop_name: String,
    /// The task, or `all` when the tasks of the loop share it.
    pub task: String,
    /// Its folder.
    pub path: PathBuf,
    /// Its branch, as far as it is known.
    pub branch: Option<String>,
    /// What it takes on disk.
    pub bytes: u64,
    /// When something in it changed last.
    pub changed_at: Option<Timestamp>,
    /// Whether a loop needs it.
    pub standing: Standing,
    /// Whether it holds work that is nowhere else.
    pub work: Work,
    /// What it is read through, or why it cannot be.
    recorded: Result<Recorded, String>,
}

/// Whether a loop needs a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A task is not finished, or tasks to come are worked on in it.
    InUse,
    /// Its task was put aside; a person may take it back.
    Parked,
    /// Its task is finished.
    Finished,
    /// Its loop is gone, or knows nothing of it any more.
    Orphan,
    /// The record of its loop cannot be read.
    Unknown,
}

/// What is in a worktree alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing: all of it is in a commit of a branch, or ignored.
    Saved,
    /// Changes to so many files.
    Unsaved(usize),
    /// It cannot be told, for this reason.
    Unknown(String),
}

/// Worktrees that cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The repository around the project cannot be read.
    #[error(transparent)]
    Repository(#[from] OpenError),
    /// Its entries cannot be read.
    #[error("list the worktrees: {0}")]
    Git(#[from] git::GitFault),
    /// A folder cannot be read.
    #[error("list {}: {source}", path.display())]
    Read {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a worktree stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Kept {
    /// A loop needs it.
    #[error("it is in use")]
    InUse,
    /// The record of its loop cannot be read.
    #[error("the record of its loop cannot be read")]
    Unknown,
    /// A tick of its loop is running.
    #[error("a tick of its loop is running")]
    Running,
    /// It is no worktree that can be read.
    #[error("{0}")]
    Unusable(String),
    /// It is not where the worktrees of the project are.
    #[error("a link leads to it")]
    Elsewhere,
    /// It could not be compared or removed.
    #[error(transparent)]
    Removal(#[from] RemovalError),
    /// What it holds could not be saved.
    #[error(transparent)]
    Salvage(#[from] SalvageError),
}

/// Lists the worktrees of the project's loops, sorted by path.
///
/// # Errors
///
/// [`ListError`].
pub fn list(around: &Surroundings, stop: &AtomicBool) -> Result<Vec<LoopWorktree>, ListError> {
    let repository = Repository::discover(around.project.root(), Configuration::User)?;
    let root = folder_of(around);
    let mut found = places(&root)?;
    if let Some(repository) = &repository {
        for registered in registered_below(repository, &root)? {
            found.insert(registered.path, registered.branch);
        }
    }
    let worktrees = found.into_iter().filter_map(|(path, branch)| {
        let (loop_name, task) = names(&root, &path)?;
        Some(look(
            around,
            repository.as_ref(),
            (loop_name, task),
            path,
            branch,
            stop,
        ))
    });
    Ok(worktrees.collect())
}

/// Returns the folder of a project's worktrees (row X-03).
fn folder_of(around: &Surroundings) -> PathBuf {
    let root = around.project.root();
    let name = root.file_name().unwrap_or(root.as_os_str());
    let mut hash = sha256_hex(root.as_os_str().as_encoded_bytes());
    hash.truncate(8);
    let folder = around.home.worktrees();
    let folder = folder.join(format!("{}-{hash}", name.to_string_lossy()));
    folder.canonicalize().unwrap_or(folder)
}

/// Finds the folders `<loop>/<task>`, registered or not.
fn places(root: &Path) -> Result<BTreeMap<PathBuf, Option<String>>, ListError> {
    let mut found = BTreeMap::new();
    for of_loop in folders(root)? {
        for path in folders(&of_loop)? {
            found.insert(path, None);
        }
    }
    Ok(found)
}

/// Lists the folders in a folder, but for links to some.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, ListError> {
    let failed = |source| ListError::Read {
        path: folder.to_owned(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // What is hidden is a clean checkout of a gate, which cleans up itself.
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.file_type().map_err(failed)?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Reads loop and task from a worktree's place.
fn names(root: &Path, path: &Path) -> Option<(String, String)> {
    let below = path.strip_prefix(root).ok()?;
    let mut parts = below.iter().map(|part| part.to_string_lossy().into_owned());
    let names = (parts.next()?, parts.next()?);
    parts.next().is_none().then_some(names)
}

fn look(
    around: &Surroundings,
    repository: Option<&Repository>,
    (loop_name, task): (String, String),
    path: PathBuf,
    branch: Option<String>,
    stop: &AtomicBool,
) -> LoopWorktree {
    let (standing, known) = standing(around, &loop_name, &task, &path);
    let size = size::of(&path, stop);
    let is_there = path.symlink_metadata().is_ok();
    let recorded = match (repository, known) {
        (_, _) if !is_there => Err(GONE.to_owned()),
        (None, _) => Err(NO_REPOSITORY.to_owned()),
        (Some(_), Some(recorded)) => Ok(recorded),
        (Some(repository), None) => {
            git::unrecorded(repository, &path).map_err(|error| error.to_string())
        }
    };
    let changes = match (&recorded, repository) {
        (Ok(recorded), Some(repository)) => {
            git::unsaved(repository, recorded, stop).map_err(|error| error.to_string())
        }
        (Err(why), _) => Err(why.clone()),
        (Ok(_), None) => Err(NO_REPOSITORY.to_owned()),
    };
    LoopWorktree {
        branch: branch.or_else(|| Some(recorded.as_ref().ok()?.branch.clone())),
        work: match changes {
            Ok(changes) if changes.is_empty() => Work::Saved,
            Ok(changes) => Work::Unsaved(changes.list().len()),
            Err(why) => Work::Unknown(why),
        },
        bytes: size.bytes,
        changed_at: size.changed_at,
        loop_name,
        task,
        path,
        standing,
        recorded,
    }
}

/// Asks a loop's record whether it needs a worktree; returns what it recorded of it.
fn standing(
    around: &Surroundings,
    loop_name: &str,
    task: &str,
    path: &Path,
) -> (Standing, Option<Recorded>) {
    let dir = LoopDir::new(around.project.loop_dir(loop_name));
    if !dir.root().is_dir() {
        return (Standing::Orphan, None);
    }
    match read_state(&dir) {
        Ok(snapshot) => in_state(&snapshot.state, task, path),
        Err(_) => (Standing::Unknown, None),
    }
}

fn in_state(state: &State, task: &str, path: &Path) -> (Standing, Option<Recorded>) {
    let records = || {
        let shared = state.worktree.iter();
        let own = state
            .progress
            .values()
            .filter_map(|progress| progress.worktree.as_ref());
        shared.chain(own)
    };
    let is_here = |recorded: &Recorded| recorded.path == path;
    if let Some(recorded) = records().map(workplace::recorded).find(is_here) {
        let is_over = state.status == Status::Complete;
        let standing = match is_over {
            true => Standing::Finished,
            false if state.parked.contains_key(task) => Standing::Parked,
            false => Standing::InUse,
        };
        return (standing, Some(recorded));
    }
    let is_current = state.current_task.as_deref() == Some(task);
    let finished = state
        .finished
        .iter()
        .filter_map(|done| done.worktree.as_ref());
    match finished.map(workplace::recorded).find(is_here) {
        Some(recorded) => (Standing::Finished, Some(recorded)),
        // Made by a tick that was killed before it could record it; the next one takes it over.
        None if is_current || state.in_progress.is_some() => (Standing::InUse, None),
        None => (Standing::Orphan, None),
    }
}

impl LoopWorktree {
    /// Tells whether [`prune`](Self::prune) may remove it, and otherwise why not.
    ///
    /// # Errors
    ///
    /// [`Kept`] with the reason.
    pub fn may_go(&self) -> Result<(), Kept> {
        self.removable().map(drop)
    }

    fn removable(&self) -> Result<&Recorded, Kept> {
        match (self.standing, &self.recorded) {
            (Standing::InUse | Standing::Parked, _) => Err(Kept::InUse),
            (Standing::Unknown, _) => Err(Kept::Unknown),
            (Standing::Finished | Standing::Orphan, Ok(recorded)) => Ok(recorded),
            (_, Err(why)) => Err(Kept::Unusable(why.clone())),
        }
    }

    /// Removes it, with its entry in the repository; its branch stays. Changes that are nowhere else
    /// are saved before, and the answer says where.
    ///
    /// # Errors
    ///
    /// [`Kept`] with the reason why it is still there.
    pub fn prune(
        &self,
        around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Option<Salvaged>, Kept> {
        let recorded = self.removable()?;
        let _held = hold(&LoopDir::new(around.project.loop_dir(&self.loop_name)))?;
        // A tick may have begun and ended since it was listed.
        let (now, _) = standing(around, &self.loop_name, &self.task, &self.path);
        if now != self.standing {
            return Err(Kept::InUse);
        }
        if !self.path.canonicalize().is_ok_and(|real| real == self.path) {
            return Err(Kept::Elsewhere);
        }
        let repository = Repository::discover(around.project.root(), Configuration::User);
        let no_repository = || Kept::Unusable(NO_REPOSITORY.to_owned());
        let repository = repository.ok().flatten().ok_or_else(no_repository)?;
        let changes = git::unsaved(&repository, recorded, stop)?;
        let salvaged = self.save(around, &changes)?;
        git::remove(&repository, recorded)?;
        Ok(salvaged)
    }

    fn save(
        &self,
        around: &Surroundings,
        changes: &Changes,
    ) -> Result<Option<Salvaged>, SalvageError> {
        if changes.is_empty() {
            return Ok(None);
        }
        let name = format!(
            "{}-{}-{}",
            self.loop_name,
            self.task,
            around.clock.now().unix_millis()
        );
        let folder = around.project.data().join("salvaged");
        salvage::save(changes, &self.path, &folder, &name).map(Some)
    }
}

/// Keeps ticks of a loop away while it lives; a loop that never ran has no lock.
fn hold(dir: &LoopDir) -> Result<Option<File>, Kept> {
    let path = dir.lock();
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return Ok(None);
    }
    let Ok(file) = File::open(&path) else {
        return Err(Kept::Running);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Err(Kept::Running),
    }
}
