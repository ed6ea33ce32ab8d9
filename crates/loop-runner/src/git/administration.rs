//! What ties a worktree to its repository, and whether it is still what it was.
//!
//! An agent can replace the `.git` file of the worktree it works in, or the files behind it, and
//! so make the next `git` read another repository or run programs of its choice. The engine
//! therefore compares these files with what it recorded before it reads anything through them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{plain_file, repository::Repository};
use crate::hash::hex;

/// The longest file of an administration that is read, in bytes. Real ones have a few hundred.
const MAX_FILE: u64 = 1 << 20;

/// What the engine remembers of a worktree that it created; it is kept in the loop's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The worktree's folder, absolute and without links.
    pub path: PathBuf,
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// The commit in hexadecimal that the loop's changes are measured from.
    pub base: String,
    /// SHA-256 over `.git`, `gitdir`, `commondir` and `config*` of the administration.
    pub admin: String,
}

/// Tells that a worktree's administration is not the one that was recorded.
///
/// It is the violation `worktree_replaced`; nothing may be read through such a worktree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the worktree at {} was replaced: {what}", path.display())]
pub struct Replaced {
    /// The worktree.
    pub path: PathBuf,
    /// What differs, for a person.
    pub what: String,
}

/// The administration of a worktree as found on disk.
#[derive(Debug)]
pub(super) struct Administration {
    /// The folder `<common dir>/worktrees/<id>`.
    pub(super) dir: PathBuf,
    /// The digest of what is compared.
    pub(super) digest: String,
    /// Whether `gitdir` leads back to the worktree and `commondir` to the repository.
    consistent: Result<(), String>,
    /// What stands in HEAD. A switch of branches changes it, so it is no part of the digest.
    pub(super) head: Vec<u8>,
    /// Whether there is any configuration of the worktree's own.
    pub(super) has_config: bool,
}

impl Administration {
    /// Reads the administration of the worktree at `path`; the error says what is wrong.
    ///
    /// The few files are read as bytes, and nothing is interpreted but the one path in `.git`, which
    /// has to lead to a folder in the repository's own `worktrees`.
    fn read(common_dir: &Path, path: &Path) -> Result<Self, String> {
        let link = read_plain(&path.join(".git")).map_err(|error| format!(".git: {error}"))?;
        let dir = target_of(&link).ok_or(".git does not name a folder")?;
        if !is_entry_of(&dir, common_dir) {
            return Err(".git leads to another place".to_owned());
        }
        let back = read_plain(&dir.join("gitdir")).map_err(|error| format!("gitdir: {error}"))?;
        let common =
            read_plain(&dir.join("commondir")).map_err(|error| format!("commondir: {error}"))?;
        let configs = configs_of(&dir).map_err(|error| format!("config: {error}"))?;

        let head = read_plain(&dir.join("HEAD")).map_err(|error| format!("HEAD: {error}"))?;

        let mut hash = Sha256::new();
        feed(&mut hash, b".git", &link);
        feed(&mut hash, b"gitdir", &back);
        feed(&mut hash, b"commondir", &common);
        for (name, content) in &configs {
            feed(&mut hash, name, content);
        }
        Ok(Self {
            consistent: consistency(path, &back, &common),
            digest: hex(&hash.finalize()),
            head,
            has_config: !configs.is_empty(),
            dir,
        })
    }

    /// Reads the administration and compares it with what was recorded.
    pub(super) fn verified(repository: &Repository, recorded: &Recorded) -> Result<Self, Replaced> {
        let found = Self::found(repository, &recorded.path)?;
        if found.digest == recorded.admin {
            return Ok(found);
        }
        let what = found.consistent.err();
        Err(Replaced {
            path: recorded.path.clone(),
            what: what.unwrap_or_else(|| "its links or configuration are others".to_owned()),
        })
    }

    /// Reads the administration of a worktree of which nothing is recorded.
    pub(super) fn found(repository: &Repository, path: &Path) -> Result<Self, Replaced> {
        Self::read(&repository.common_dir(), path).map_err(|what| Replaced {
            path: path.to_owned(),
            what,
        })
    }

    /// Checks that the files lead to each other, for a worktree of which nothing is recorded.
    pub(super) fn check(&self) -> Result<(), String> {
        self.consistent.clone()
    }
}

/// Adds one file so that neither names nor contents can run into each other.
fn feed(hash: &mut Sha256, name: &[u8], content: &[u8]) {
    for part in [name, content] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
}

fn consistency(path: &Path, back: &[u8], common: &[u8]) -> Result<(), String> {
    if path_in(back) != path.join(".git") {
        return Err("gitdir leads to another place".to_owned());
    }
    if path_in(common) != Path::new("../..") {
        return Err("commondir leads to another place".to_owned());
    }
    Ok(())
}

/// The folder that a `.git` file names.
fn target_of(link: &[u8]) -> Option<PathBuf> {
    link.strip_prefix(b"gitdir: ").map(path_in)
}

fn path_in(content: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let text = content.strip_suffix(b"\n").unwrap_or(content);
    PathBuf::from(std::ffi::OsStr::from_bytes(text))
}

/// Tells whether `dir` is a real folder directly in the repository's `worktrees`.
fn is_entry_of(dir: &Path, common_dir: &Path) -> bool {
    let Some(parent) = dir.parent() else {
        return false;
    };
    let same = match (
        parent.canonicalize(),
        common_dir.join("worktrees").canonicalize(),
    ) {
        (Ok(parent), Ok(expected)) => parent == expected,
        _ => false,
    };
    same && fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir())
}

/// The files of the administration whose names begin with `config`, sorted.
fn configs_of(dir: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use std::os::unix::ffi::OsStringExt;
    let mut configs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().into_vec();
        if name.starts_with(b"config") {
            configs.push((name, read_plain(&entry.path())?));
        }
    }
    configs.sort();
    Ok(configs)
}

/// Reads a small regular file, and nothing that only looks like one.
fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    plain_file::read(path, MAX_FILE)?.ok_or_else(|| io::Error::other("not a small plain file"))
}
