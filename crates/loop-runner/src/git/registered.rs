//! The worktrees that a repository knows of.

use std::{
    fs,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice;

use super::{
    fault::GitFault,
    plain_file::{self, is_absent},
    repository::Repository,
    workspace::to_path,
};

/// The longest file of an entry that is read, in bytes.
const MAX_FILE: u64 = 1 << 16;

/// An entry for a worktree, whether or not its folder is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The worktree's folder.
    pub path: PathBuf,
    /// The branch that it stands on, without `refs/heads/`; `None` for no branch.
    pub branch: Option<String>,
}

/// Lists the worktrees that are registered below `folder`, sorted by path.
///
/// # Errors
///
/// When the entries cannot be read. One that is damaged is left out.
pub fn registered_below(
    repository: &Repository,
    folder: &Path,
) -> Result<Vec<Registered>, GitFault> {
    let entries = match fs::read_dir(repository.common_dir().join("worktrees")) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let dir = entry?.path();
        let read = |name: &str| plain_file::read(&dir.join(name), MAX_FILE).ok().flatten();
        let Some(link) = read("gitdir") else {
            continue;
        };
        let Some(path) = to_path(link.trim().as_bstr()).parent() else {
            continue;
        };
        if path.starts_with(folder) {
            let head = read("HEAD").unwrap_or_default();
            let branch = head.trim().strip_prefix(b"ref: refs/heads/");
            found.push(Registered {
                path: path.to_owned(),
                branch: branch.map(|branch| branch.to_str_lossy().into_owned()),
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
