//! The acceptance gate: it ran, it is the same, it discriminates (decision D-13).
//!
//! - [`Fingerprint`] tells whether what judges the work is what was frozen.
//! - [`run()`] runs the gate where the configuration says, in the attempt's tree or
//!   in a clean [`Checkout`], and lets loop-core judge what it printed.
//! - [`first_run`] runs it before any work: it has to be red for the right reason.
//! - [`prove()`] and [`attack()`] show that it discriminates.
//! - [`Receipt`]s keep what was verified, each chained to the one before.
//!
//! The order in a tick: `Fingerprint::of` before and after implement, compare,
//! then [`run()`], which compares once more before and after the gate.

mod above;
mod attack;
mod cheats;
mod checkout;
mod entry;
mod fingerprint;
mod freeze;
mod frozen;
mod identity;
mod kept;
mod lay;
mod links_out;
mod named;
mod path_text;
mod process;
mod program;
mod prove;
mod receipt;
mod recorded;
mod report_file;
mod run;
mod scratch;
mod side_doors;
mod start;
mod subject;
mod walk;
mod window;

pub use attack::{Answer, Attack, Attempted, attack};
pub use checkout::Checkout;
pub use entry::{Entry, EntryKind};
pub use fingerprint::{Fingerprint, Mismatch, Request};
pub use freeze::{Armed, freeze};
pub use kept::Kept;
pub use named::{freezes, unmatched};
pub use prove::{Proof, prove};
pub use receipt::{
    Receipt, ReceiptFault, ReceiptGate, ReceiptHarness, check_receipts, write_receipt,
};
pub use recorded::{freeze_again, record, recorded};
pub use run::{Ran, run};
pub use scratch::clean_up;
pub use side_doors::{SideDoor, side_doors};
pub use start::{Started, first_run, lint_script_of};
pub use subject::Subject;

use crate::git::{ChangesError, Replaced, Workspace};
use crate::holder::{StartError, WaitError};
use crate::home::expand_tilde;
use crate::setup::Setup;
use crate::workplace;
use loop_core::answer::WorktreeRecord;
use loop_core::config::{Gate, GatePlace};
use loop_core::scope::InvalidPattern;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What every operation on a gate needs to know.
#[derive(Clone, Copy, Debug)]
pub struct GateContext<'a> {
    /// The loop.
    pub setup: &'a Setup,
    /// Its gate.
    pub gate: &'a Gate,
    /// The tick; `None` for a person's command.
    pub tick: Option<u64>,
    /// Where the task is worked on; `None` for the project itself.
    pub worktree: Option<&'a WorktreeRecord>,
    /// The commit that the task began from, when no worktree knows it; the one
    /// that the checkout stands on when `None`.
    pub base: Option<&'a str>,
    /// Set to give up while files are read or written.
    pub stop: &'a AtomicBool,
}

/// Why an operation on a gate has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The caller asked to stop.
    #[error("interrupted")]
    Stopped,
    /// A file or folder could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was to be done, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A pattern of `gate.frozen` means nothing.
    #[error("gate.frozen: {0}")]
    Pattern(#[from] InvalidPattern),
    /// A path of `gate.frozen` leads to no file of the project.
    #[error(
        "gate.frozen: {path} names nothing; mend the name, or make it a pattern ({path}*) if it \
         only must not appear"
    )]
    Nothing {
        /// The path.
        path: String,
    },
    /// A part of the gate is a link, and what it leads to is not in the project.
    #[error(
        "{path} is a link that leads out of the project, where nothing is frozen; put the file itself there"
    )]
    LeadsOut {
        /// The path.
        path: String,
    },
    /// The frozen patterns name more files than are read.
    #[error("{what}; name fewer files")]
    TooMuch {
        /// Which limit was passed.
        what: String,
    },
    /// The overlay is where an agent finds it, or is no folder.
    #[error("gate.overlay: {} {what}", path.display())]
    Overlay {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        what: &'static str,
    },
    /// What was frozen is not kept any more.
    #[error("the frozen {path} is not kept as it was; {mend}")]
    NotKept {
        /// The file.
        path: String,
        /// What to do.
        mend: &'static str,
    },
    /// There is no repository, or no commit, to make a checkout from.
    #[error("{0}")]
    NoBase(String),
    /// The worktree is not the one that was made.
    #[error(transparent)]
    Replaced(#[from] Replaced),
    /// The files of the attempt or of its base could not be read.
    #[error(transparent)]
    Files(#[from] ChangesError),
    /// `gate.setup` failed.
    #[error("gate.setup {what}")]
    Setup {
        /// How it ended, and where its output is.
        what: String,
    },
    /// A command could not be started at all.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A command was lost.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// What is frozen is not what it was.
    #[error("what judges the work was changed: {}", in_words(.0))]
    Tampered(Vec<Mismatch>),
}

impl GateError {
    /// A frozen file of which no copy is left.
    fn not_kept(path: &str) -> Self {
        Self::NotKept {
            path: path.to_owned(),
            mend: "freeze the gate again",
        }
    }
}

impl<'a> GateContext<'a> {
    /// Returns the project's folder in the place where the task is worked on.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        workplace::project_folder(self.setup, self.worktree)
    }

    /// Returns the folder of files that the agent never sees, if there is one.
    ///
    /// # Errors
    ///
    /// [`GateError::Overlay`] when it is no folder, or lies where the agent works.
    pub fn overlay(&self) -> Result<Option<PathBuf>, GateError> {
        let Some(overlay) = &self.gate.overlay else {
            return Ok(None);
        };
        let home = self
            .setup
            .environment
            .iter()
            .find(|(name, _)| name == "HOME");
        let home = home.map(|(_, value)| value.as_os_str());
        let path = expand_tilde(Path::new(overlay.as_str()), home);
        let path = self.setup.project.root().join(path);
        let refuse = |what| GateError::Overlay {
            path: path.clone(),
            what,
        };
        let real = path
            .canonicalize()
            .ok()
            .filter(|real| real.is_dir())
            .ok_or_else(|| refuse("is no folder; make it, or take the key out"))?;
        let is_seen = |place: &Path| {
            place
                .canonicalize()
                .is_ok_and(|place| real.starts_with(place))
        };
        let top = self.setup.repository.as_ref().and_then(|r| r.top_level());
        let worktree = self.worktree.map(|worktree| Path::new(&worktree.path));
        let places = [Some(self.setup.project.root()), top, worktree];
        if places.into_iter().flatten().any(is_seen) {
            return Err(refuse(
                "lies in the tree that the agent works in or came from; move it elsewhere, such \
                 as below your home",
            ));
        }
        Ok(Some(real))
    }

    /// Returns the top of the tree that the task is worked on in; the project can
    /// be a folder below it.
    pub(crate) fn top(&self) -> PathBuf {
        let of_repository = || self.setup.repository.as_ref()?.top_level();
        match self.worktree {
            Some(worktree) => PathBuf::from(&worktree.path),
            None => of_repository()
                .unwrap_or_else(|| self.setup.project.root())
                .to_owned(),
        }
    }

    /// Opens the tree that the attempt was made in.
    pub(crate) fn workspace(&self) -> Result<Workspace, GateError> {
        let setup = self.setup;
        Ok(match (self.worktree, &setup.repository) {
            (Some(worktree), Some(repository)) => {
                let top = repository.place_of(setup.project.root());
                let recorded = workplace::recorded(worktree);
                Workspace::of_worktree(repository, &recorded, &top.unwrap_or_default())?
            }
            (_, Some(repository)) => Workspace::in_place(repository, setup.project.root()),
            (_, None) => Workspace::plain(setup.project.root()),
        })
    }

    /// Returns the commit that the attempt began from: that of its worktree, else
    /// the one that the checkout stands on.
    pub(crate) fn base(&self) -> Result<String, GateError> {
        let known = self.worktree.map(|worktree| worktree.base.as_str());
        if let Some(base) = known.or(self.base) {
            return Ok(base.to_owned());
        }
        let none = |what: &str| GateError::NoBase(what.to_owned());
        let Some(repository) = &self.setup.repository else {
            return Err(none("a clean checkout needs a git repository"));
        };
        let head = repository
            .head()
            .map_err(|fault| none(&fault.to_string()))?;
        head.commit
            .ok_or_else(|| none("a clean checkout needs a first commit"))
    }

    /// Returns the hash of the tree that the task is worked on in; `None` when it
    /// is unknown.
    #[must_use]
    pub fn tree_hash(&self) -> Option<String> {
        let hash = workplace::tree_hash(self.setup, self.worktree, self.stop);
        hash.ok().flatten()
    }

    pub(crate) fn check_stop(&self) -> Result<(), GateError> {
        if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(GateError::Stopped);
        }
        Ok(())
    }
}

/// Checks, before anything is spent, that a loop's gate can be what its
/// configuration says.
///
/// # Errors
///
/// [`GateError`] for a pattern that means nothing, an overlay that cannot be
/// used, and a clean checkout without a repository to make it from.
pub fn check(setup: &Setup) -> Result<(), GateError> {
    let Some(gate) = setup.config.gate() else {
        return Ok(());
    };
    for pattern in gate.frozen() {
        frozen::Frozen::parse(pattern.as_str())?;
    }
    let context = GateContext {
        setup,
        gate,
        tick: None,
        worktree: None,
        base: None,
        stop: &AtomicBool::new(false),
    };
    let overlay = context.overlay()?;
    if overlay.is_some() || gate.place() == GatePlace::Clean || gate.prove() {
        context.base()?;
    }
    Ok(())
}

/// Says which file an I/O error is about.
trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, GateError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, GateError> {
        self.map_err(|source| GateError::File {
            doing,
            path: path.to_owned(),
            source,
        })
    }
}

/// Lists mismatches in one line.
fn in_words(mismatches: &[Mismatch]) -> String {
    let all: Vec<_> = mismatches.iter().map(ToString::to_string).collect();
    match &all[..] {
        [first @ .., _] if all.len() > 10 => {
            format!("{} and {} more", first[..10].join(", "), all.len() - 10)
        }
        all => all.join(", "),
    }
}
