//! Repositories, the worktrees that loops work in, and what has changed in them.
//!
//! This module is the only place that names gix; none of its types is public here, so that a
//! breaking release of gix stays inside. Everything happens in this process: no `git` program is
//! started, and neither is any program that a configuration names (filters, hooks, file system
//! monitors, text converters).
//!
//! # What is read, and what is trusted
//!
//! - The environment does not count: `GIT_DIR`, `GIT_INDEX_FILE` and the like are ignored.
//! - The user's configuration counts as far as it is data ([`Configuration::User`]): line endings,
//!   `core.excludesFile`, attributes. Filter drivers (`filter.<name>.clean`, `smudge`, `process`)
//!   are never run. A new worktree therefore holds what is stored for such files, which for Git LFS
//!   is the pointer; `blast_radius.setup` is the place for `git lfs pull`.
//! - A worktree is not trusted, because an agent has worked in it. It is opened through the
//!   administration that was [recorded](Recorded) when it was created, after a comparison with it,
//!   and never by discovery from inside.
//! - The index of a worktree is taken for a list of names only. What a file holds is read from the
//!   file, so `--assume-unchanged`, `--skip-worktree` and forged times hide nothing.
//!
//! # Example
//!
//! ```no_run
//! use std::{path::Path, sync::atomic::AtomicBool, time::Duration};
//!
//! use loop_runner::git::{
//!     Changes, Configuration, Reach, Repository, Request, TreeHash, Workspace, ensure, pick_branch,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let project = Path::new("/home/me/project");
//! let stop = AtomicBool::new(false);
//! let repository = Repository::discover(project, Configuration::User)?.ok_or("no repository")?;
//! let picked = pick_branch(&repository, "nightly", Some("fix-login"))?;
//! let recorded = ensure(&Request {
//!     repository: &repository,
//!     dest: Path::new("/home/me/.automaton/worktrees/project-1a2b3c4d/nightly/fix-login"),
//!     branch: &picked.name,
//!     recorded: None,
//!     lock_wait: Duration::from_secs(2),
//!     stop: &stop,
//! })?
//! .recorded;
//! let place = repository.place_of(project).ok_or("not in the checkout")?;
//! let workspace = || Workspace::of_worktree(&repository, &recorded, &place);
//!
//! let before = TreeHash::of(&workspace()?, &stop)?;
//! // An agent works here.
//! let is_changed = before != TreeHash::of(&workspace()?, &stop)?;
//! let changes = Changes::since_commit(&workspace()?, &recorded.base, Reach::Repository, &stop)?;
//! # let _ = (is_changed, changes);
//! # Ok(())
//! # }
//! ```

mod administration;
mod branch;
mod budget;
mod changes;
mod checkout;
mod committed;
mod destination;
mod error;
mod export;
mod fault;
mod guarded;
mod hash_file;
mod hunk;
mod ignore_rules;
mod ignored;
mod index_lock;
mod listing;
mod outside;
mod patch;
pub(crate) mod plain_file;
mod quote;
mod registered;
mod registration;
mod removal;
mod repository;
mod rules;
mod seen;
mod snapshot;
mod snapshot_text;
mod start;
mod start_text;
mod stray;
mod take_out;
mod torn;
mod tree_hash;
mod workspace;
mod worktree;

pub use administration::{Recorded, Replaced};
pub use branch::{BranchName, Picked, pick_branch};
pub use changes::{Change, ChangeKind, Changes, ChangesError};
pub use error::WorktreeError;
pub(crate) use export::{export_commit, product_files};
pub use fault::GitFault;
pub use ignored::ignored_paths;
pub use outside::{Outside, OutsideChange, Watched};
pub use patch::{FileStat, LineStat};
pub use registered::{Registered, registered_below};
pub use removal::{RemovalError, remove, unrecorded, unsaved};
pub use repository::{Configuration, Head, OpenError, Repository};
pub use snapshot::{Reach, Snapshot, SnapshotError};
pub use snapshot_text::InvalidSnapshot;
pub use start::Start;
pub use start_text::InvalidStart;
pub use stray::Stray;
pub use take_out::TakeOutError;
pub use tree_hash::{InvalidTreeHash, TreeHash};
pub use workspace::Workspace;
pub use worktree::{Origin, Request, Worktree, ensure};
