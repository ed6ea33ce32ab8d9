//! Why a loop has no worktree.

use std::path::{Path, PathBuf};

use super::{administration::Replaced, fault::GitFault};

/// Tells why there is no worktree to work in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// The repository has no commit to start from.
    #[error("the repository at {} has no commits", repository.display())]
    NoCommits {
        /// The repository.
        repository: PathBuf,
    },
    /// The branch is in use by another checkout.
    #[error("the branch '{branch}' is checked out at {}", at.display())]
    CheckedOut {
        /// The branch, without `refs/heads/`.
        branch: String,
        /// The checkout that holds it.
        at: PathBuf,
    },
    /// The folder holds something that is not the engine's.
    #[error("{} is in the way: {found}", dest.display())]
    Occupied {
        /// The folder that was wanted.
        dest: PathBuf,
        /// What is there.
        found: String,
    },
    /// The worktree would show up as untracked files in the user's own checkout.
    #[error("{} lies in the repository and is not ignored there", dest.display())]
    InsideRepository {
        /// The folder that was wanted.
        dest: PathBuf,
    },
    /// The entry of a worktree whose folder is gone is locked by a person.
    #[error("the worktree entry for {} is locked: {reason}", dest.display())]
    Locked {
        /// The folder that was wanted.
        dest: PathBuf,
        /// The reason that the person gave, possibly empty.
        reason: String,
    },
    /// The worktree is not the one that was recorded.
    #[error(transparent)]
    Replaced(#[from] Replaced),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Files could not be written.
    #[error("create the worktree at {}: {source}", dest.display())]
    Create {
        /// The folder that was wanted.
        dest: PathBuf,
        /// What the git library reported.
        source: GitFault,
    },
    /// The repository could not be read or written.
    #[error("prepare the worktree: {0}")]
    Git(#[from] GitFault),
}

impl WorktreeError {
    /// Returns what a person can do about it, as one line.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoCommits { repository } => Some(format!(
                "git -C '{}' commit --allow-empty -m 'Start'",
                repository.display()
            )),
            Self::CheckedOut { at, .. } => Some(format!(
                "git -C '{}' switch --detach, or switch to another branch there",
                at.display()
            )),
            Self::Occupied { dest, .. } => {
                Some(format!("move {} away, or remove it", dest.display()))
            }
            Self::InsideRepository { dest } => Some(format!(
                "add '{}' to .gitignore or .git/info/exclude",
                dest.display()
            )),
            Self::Locked { dest, .. } => Some(format!("git worktree unlock '{}'", dest.display())),
            Self::Replaced(_) | Self::Interrupted | Self::Create { .. } | Self::Git(_) => None,
        }
    }

    /// Finds the meaning of a refusal to add a worktree.
    pub(super) fn of_add(error: gix::Error, dest: &Path) -> Self {
        use gix::worktree::add::Error;
        match error.downcast_any_ref::<Error>() {
            Some(Error::CheckedOut {
                name,
                worktree_dirs,
            }) => Self::CheckedOut {
                branch: name.shorten().to_string(),
                at: worktree_dirs.first().cloned().unwrap_or_default(),
            },
            Some(Error::DestinationRegistered { destination }) => Self::Occupied {
                dest: destination.clone(),
                found: "a worktree is registered there".to_owned(),
            },
            Some(Error::Interrupted) => Self::Interrupted,
            _ => Self::Create {
                dest: dest.to_owned(),
                source: error.into(),
            },
        }
    }
}
