//! Worktrees that nobody needs any more: what is in them alone, and their removal.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use gix::{ObjectId, refs::FullName};

use super::{
    administration::{Administration, Recorded, Replaced},
    changes::{Changes, ChangesError},
    fault::GitFault,
    plain_file::is_absent,
    registration::Turn,
    repository::Repository,
    snapshot::Reach,
    workspace::Workspace,
    worktree::base_of,
};

/// Tells why a worktree is not removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemovalError {
    /// It is not the one that was recorded, or no worktree of the repository.
    #[error(transparent)]
    Replaced(#[from] Replaced),
    /// What is in it could not be compared.
    #[error(transparent)]
    Changes(#[from] ChangesError),
    /// It stands on a commit that would be lost with it.
    #[error("it stands on the commit {commit}, which no branch has")]
    LooseCommit {
        /// The commit in hexadecimal.
        commit: String,
    },
    /// A person locked it.
    #[error("it is locked; git worktree unlock frees it")]
    Locked,
    /// The repository could not be read.
    #[error(transparent)]
    Git(#[from] GitFault),
    /// A folder could not be removed.
    #[error("remove {}: {source}", path.display())]
    Remove {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Reads a worktree of which nothing is recorded, if it is one of the repository's.
///
/// # Errors
///
/// [`RemovalError`] when it is not, or has no commit.
pub fn unrecorded(repository: &Repository, path: &Path) -> Result<Recorded, RemovalError> {
    let found = Administration::found(repository, path)?;
    let git = repository.local();
    let check = match found.check() {
        Ok(()) if found.has_config && !git.git_dir().join("config.worktree").exists() => {
            Err("it has a configuration of its own".to_owned())
        }
        checked => checked,
    };
    check.map_err(|what| Replaced {
        path: path.to_owned(),
        what,
    })?;
    let head = String::from_utf8_lossy(&found.head);
    let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap_or("");
    let commit = git.head_commit().map_err(GitFault::from)?.id;
    let base = match FullName::try_from(format!("refs/heads/{branch}")) {
        Ok(name) => base_of(&git, &name, commit)?,
        Err(_) => commit.to_string(),
    };
    Ok(Recorded {
        path: path.to_owned(),
        branch: branch.to_owned(),
        base,
        admin: found.digest,
    })
}

/// Finds what is in a worktree and in no commit of a branch.
///
/// # Errors
///
/// [`RemovalError`]; among them a commit that no branch has, which cannot be saved as changes.
pub fn unsaved(
    repository: &Repository,
    recorded: &Recorded,
    stop: &AtomicBool,
) -> Result<Changes, RemovalError> {
    let workspace = Workspace::of_worktree(repository, recorded, Path::new(""))?;
    let Some(head) = workspace.head() else {
        let base = &recorded.base;
        return Ok(Changes::since_commit(
            &workspace,
            base,
            Reach::Repository,
            stop,
        )?);
    };
    let entry = Administration::verified(repository, recorded)?;
    let is_on_branch = entry.head.starts_with(b"ref: refs/heads/");
    if !is_on_branch && !is_reached(repository, recorded, &head)? {
        return Err(RemovalError::LooseCommit { commit: head });
    }
    Ok(Changes::since_commit(
        &workspace,
        &head,
        Reach::Repository,
        stop,
    )?)
}

/// Tells whether a commit stays when the worktree goes.
fn is_reached(
    repository: &Repository,
    recorded: &Recorded,
    commit: &str,
) -> Result<bool, GitFault> {
    if commit == recorded.base {
        return Ok(true);
    }
    let git = repository.local();
    let commit =
        ObjectId::from_hex(commit.as_bytes()).map_err(|error| GitFault::new(error.to_string()))?;
    let branch = format!("refs/heads/{}", recorded.branch);
    let Some(mut branch) = git.try_find_reference(branch.as_str())? else {
        return Ok(false);
    };
    let tip = branch.peel_to_commit()?.id;
    Ok(git
        .merge_base(commit, tip)
        .is_ok_and(|base| base.is_some_and(|base| base == commit)))
}

/// Removes a worktree and the repository's entry for it; the branch stays.
///
/// Follows no link. Look for [what is unsaved](unsaved) before.
///
/// # Errors
///
/// [`RemovalError`]. After a failure half of it may be gone; another call goes on.
pub fn remove(repository: &Repository, recorded: &Recorded) -> Result<(), RemovalError> {
    let entry = Administration::verified(repository, recorded)?;
    if entry.dir.join("locked").symlink_metadata().is_ok() {
        return Err(RemovalError::Locked);
    }
    let turn = Turn::wait(&repository.common_dir());
    // The folder's own `.git` goes last: without it the rest would be nobody's any more.
    remove_contents(&recorded.path)?;
    for dir in [&recorded.path, &entry.dir] {
        remove_folder(dir)?;
    }
    drop(turn);
    Ok(())
}

fn remove_contents(folder: &Path) -> Result<(), RemovalError> {
    let failed = |path: &Path, source| RemovalError::Remove {
        path: path.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let entry = entry.map_err(|error| failed(folder, error))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|error| failed(&path, error))?;
        if entry.file_name() == ".git" {
            continue;
        }
        if kind.is_dir() {
            remove_folder(&path)?;
        } else {
            fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        }
    }
    Ok(())
}

/// Removes a folder with everything in it. The standard library follows no link there.
fn remove_folder(folder: &Path) -> Result<(), RemovalError> {
    match fs::remove_dir_all(folder) {
        Err(error) if !is_absent(&error) => Err(RemovalError::Remove {
            path: folder.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}
