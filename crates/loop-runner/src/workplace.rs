//! Where a task is worked on: the project itself, or a worktree of its own.

use crate::git::{
    self, BranchName, ChangeKind, Changes, ChangesError, Reach, Recorded, Replaced, Request,
    Snapshot, SnapshotError, Workspace, WorktreeError, pick_branch,
};
use crate::hash::sha256_hex;
use crate::inputs::Inputs;
use crate::outside::Outside;
use crate::setup::Setup;
use loop_core::answer::{StepFault, WorktreeRecord};
use loop_core::config::WorktreeFor;
use loop_core::outcome::Error;
use loop_core::step::Workplace;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a git process that is at work in the worktree is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Changes outside the place of work that are named.
const OUTSIDE: usize = 10;

/// A workspace that is ready.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) record: Option<WorktreeRecord>,
    /// Whether its set-up is not known to have run.
    pub(crate) is_new: bool,
    pub(crate) warnings: Vec<String>,
}

/// Why there is none.
pub(crate) enum Unready {
    Fault(StepFault),
    Stopped,
}

/// Makes the workspace ready; `stop` gives up and takes back what was begun.
pub(crate) fn ensure(
    setup: &Setup,
    place: &Workplace,
    stop: &AtomicBool,
) -> Result<Ready, Unready> {
    let Some(worktree_for) = place.worktree else {
        return Ok(Ready {
            record: None,
            is_new: false,
            warnings: Vec::new(),
        });
    };
    let part = match worktree_for {
        WorktreeFor::Task => Some(place.task.as_str()),
        WorktreeFor::Loop => None,
    };
    let Some(repository) = &setup.repository else {
        return Err(failed(format!(
            "{} is not in a git repository; make one with git init and a first commit, or set \
             blast_radius.use_worktree to false",
            setup.project.root().display()
        )));
    };
    let mut warnings = Vec::new();
    let recorded = place.recorded.as_ref().map(recorded);
    let branch = match &recorded {
        Some(_) => BranchName::new(&setup.name, part),
        None => {
            let picked = pick_branch(repository, &setup.name, part)
                .map_err(|fault| failed(fault.to_string()))?;
            warnings.extend(picked.warning);
            picked.name
        }
    };
    hide_worktrees(setup)
        .map_err(|error| failed(format!("cannot make the folder of the worktrees: {error}")))?;
    let dest = destination(setup, worktree_for, &place.task);
    let worktree = git::ensure(&Request {
        repository,
        dest: &dest,
        branch: &branch,
        recorded: recorded.as_ref(),
        lock_wait: LOCK_WAIT,
        stop,
    })
    .map_err(unready)?;
    warnings.extend(worktree.warnings);
    Ok(Ready {
        record: Some(record(&worktree.recorded)),
        is_new: worktree.origin.needs_setup(),
        warnings,
    })
}

/// Returns the project's folder in the place where a task is worked on.
pub(crate) fn project_folder(setup: &Setup, worktree: Option<&WorktreeRecord>) -> PathBuf {
    match worktree {
        // Joining an empty path would leave a slash at the end.
        Some(worktree) => Path::new(&worktree.path)
            .components()
            .chain(project_below_top(setup).components())
            .collect(),
        None => setup.project.root().to_owned(),
    }
}

/// Takes the tree hash of the place where a task is worked on. `None` is
/// unknown, which counts as changed.
pub(crate) fn tree_hash(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    stop: &AtomicBool,
) -> Result<Option<String>, Unready> {
    let snapshot = snapshot(setup, worktree, stop)?;
    Ok(snapshot.map(|snapshot| snapshot.tree_hash().as_str().to_owned()))
}

/// Takes the state of every file of that place; `None` is unknown.
pub(crate) fn snapshot(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    stop: &AtomicBool,
) -> Result<Option<Snapshot>, Unready> {
    let workspace = workspace(setup, worktree)?;
    match Snapshot::take(&workspace, Reach::Project, stop) {
        Ok(snapshot) => Ok(snapshot),
        Err(SnapshotError::Interrupted) => Err(Unready::Stopped),
        // What cannot be read cannot be compared: unknown.
        Err(_) => Ok(None),
    }
}

/// What a judge has left of the tree that it judged.
#[derive(Default)]
pub(crate) struct Disturbed {
    /// Files that are not as they were, up to ten.
    pub(crate) changed: Vec<String>,
    /// New files, up to a hundred: to judge is often to build and to test.
    pub(crate) added: Vec<String>,
}

/// Compares a tree with the state in which a judge found it.
pub(crate) fn changed_since(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    before: &Snapshot,
    stop: &AtomicBool,
) -> Result<Disturbed, Unready> {
    let workspace = workspace(setup, worktree)?;
    let changes = match Changes::since_snapshot(&workspace, before, stop) {
        Ok(changes) => changes,
        Err(ChangesError::Snapshot(SnapshotError::Interrupted)) => return Err(Unready::Stopped),
        // The whole place can be gone: then everything has changed.
        Err(error) => {
            return Ok(Disturbed {
                changed: vec![error.to_string()],
                added: Vec::new(),
            });
        }
    };
    let list = changes.map_or_else(Vec::new, |changes| changes.list());
    let paths = |added: bool, most| {
        list.iter()
            .filter(|change| (change.kind == ChangeKind::Added) == added)
            .map(|change| change.path.display().to_string())
            .take(most)
            .collect()
    };
    Ok(Disturbed {
        changed: paths(false, 10),
        added: paths(true, 100),
    })
}

/// What a call or a gate has to leave alone, as it was before.
pub(crate) struct Surrounding {
    /// `None` outside of a repository.
    outside: Option<Outside>,
    inputs: Inputs,
}

/// What it did not leave alone, one line each.
#[derive(Default)]
pub(crate) struct Intrusion {
    pub(crate) outside: Vec<String>,
    pub(crate) inputs: Vec<String>,
}

/// Looks at what is the user's own besides the place of work, and at what the
/// loop itself reads.
pub(crate) fn surrounding(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    task: &str,
    phase: Option<&str>,
    stop: &AtomicBool,
) -> Result<Surrounding, Unready> {
    Ok(Surrounding {
        outside: Outside::take(setup, worktree, stop).map_err(unseen)?,
        inputs: Inputs::take(setup, worktree, task, phase).map_err(|error| untold(&error))?,
    })
}

/// Lists what is not as it was, up to ten of each.
pub(crate) fn intrusion(
    setup: &Setup,
    before: &Surrounding,
    worktree: Option<&WorktreeRecord>,
    task: &str,
    phase: Option<&str>,
    stop: &AtomicBool,
) -> Result<Intrusion, Unready> {
    let outside = match &before.outside {
        Some(outside) => outside.changes(setup, stop).map_err(unseen)?,
        None => Vec::new(),
    };
    let now = Inputs::take(setup, worktree, task, phase).map_err(|error| untold(&error))?;
    Ok(Intrusion {
        outside: first_ten(outside.into_iter().map(|change| change.what)),
        inputs: first_ten(before.inputs.changes(&now).into_iter()),
    })
}

fn first_ten(mut lines: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let more = lines.len().saturating_sub(OUTSIDE);
    let mut named: Vec<_> = lines.by_ref().take(OUTSIDE).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named
}

fn untold(error: &io::Error) -> Unready {
    Unready::Fault(StepFault::Error {
        reason: Error::Disk,
        what: format!("what the loop itself reads cannot be looked at: {error}"),
    })
}

/// What is not known must not be taken for unchanged.
fn unseen(error: SnapshotError) -> Unready {
    match error {
        SnapshotError::Interrupted => Unready::Stopped,
        error => Unready::Fault(StepFault::Error {
            reason: Error::Disk,
            what: format!("whether your checkout stays as it is cannot be told: {error}"),
        }),
    }
}

fn workspace(setup: &Setup, worktree: Option<&WorktreeRecord>) -> Result<Workspace, Unready> {
    match (worktree, &setup.repository) {
        (Some(worktree), Some(repository)) => {
            let below = project_below_top(setup);
            Workspace::of_worktree(repository, &recorded(worktree), &below).map_err(replaced)
        }
        (_, Some(repository)) => Ok(Workspace::in_place(repository, setup.project.root())),
        (_, None) => Ok(Workspace::plain(setup.project.root())),
    }
}

/// Returns the project's place below the top level of its repository.
fn project_below_top(setup: &Setup) -> PathBuf {
    let place = setup
        .repository
        .as_ref()
        .and_then(|repository| repository.place_of(setup.project.root()));
    place.unwrap_or_default()
}

/// Makes sure that no repository around the home ever sees the worktrees.
fn hide_worktrees(setup: &Setup) -> io::Result<()> {
    let worktrees = setup.home.worktrees();
    fs::create_dir_all(&worktrees)?;
    match fs::File::create_new(worktrees.join(".gitignore")) {
        Ok(mut file) => io::Write::write_all(&mut file, b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns `<home>/worktrees/<project>-<hash8>/<loop>/<task>` (row X-03), or
/// `all` in the task's place for a worktree that all tasks share.
pub(crate) fn destination(setup: &Setup, worktree: WorktreeFor, task: &str) -> PathBuf {
    let root = setup.project.root();
    let name = root
        .file_name()
        .unwrap_or(root.as_os_str())
        .to_string_lossy();
    let mut hash = sha256_hex(root.as_os_str().as_encoded_bytes());
    hash.truncate(8);
    let project = setup.home.worktrees().join(format!("{name}-{hash}"));
    project.join(&setup.name).join(match worktree {
        WorktreeFor::Task => task,
        WorktreeFor::Loop => "all",
    })
}

pub(crate) fn recorded(record: &WorktreeRecord) -> Recorded {
    Recorded {
        path: PathBuf::from(&record.path),
        branch: record.branch.clone(),
        base: record.base.clone(),
        admin: record.admin.clone(),
    }
}

fn record(recorded: &Recorded) -> WorktreeRecord {
    WorktreeRecord {
        path: recorded.path.to_string_lossy().into_owned(),
        branch: recorded.branch.clone(),
        base: recorded.base.clone(),
        admin: recorded.admin.clone(),
    }
}

fn failed(what: String) -> Unready {
    Unready::Fault(StepFault::Error {
        reason: Error::WorktreeFailed,
        what,
    })
}

fn replaced(replaced: Replaced) -> Unready {
    Unready::Fault(StepFault::WorktreeReplaced {
        what: replaced.to_string(),
    })
}

fn unready(error: WorktreeError) -> Unready {
    match error {
        WorktreeError::Interrupted => Unready::Stopped,
        WorktreeError::Replaced(what) => replaced(what),
        other => failed(match other.hint() {
            Some(hint) => format!("{other}; mend it with: {hint}"),
            None => other.to_string(),
        }),
    }
}
