//! Takes changes out of a worktree that later work is to be done in.
//!
//! What is taken out is moved, not deleted, and nothing is moved before it is certain that all of
//! what was there before can be put back.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Path, PathBuf},
};

use gix::bstr::{BStr, BString};

use super::{
    changes::{ChangeKind, Changes, Difference},
    listing::RealFolders,
    plain_file::is_absent,
    snapshot::{Entry, EntryKind},
    workspace::to_path,
};

/// Tells why changes are still where they were, or not all of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeOutError {
    /// The earlier state cannot be put back; nothing was changed.
    #[error("{}: {what}", path.display())]
    NotKept {
        /// The path below the worktree's top.
        path: PathBuf,
        /// What stands against it.
        what: &'static str,
    },
    /// A file could not be moved or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What is put back at a path.
enum Earlier {
    Nothing,
    File(Vec<u8>, bool),
    Link(Vec<u8>),
}

impl Changes {
    /// Moves what has changed into the folder `into`, under the same paths, and puts back what was
    /// there before.
    ///
    /// # Errors
    ///
    /// [`TakeOutError`]. After [`TakeOutError::File`] it may be called again with the changes that
    /// are left.
    pub fn take_out(&self, into: &Path) -> Result<(), TakeOutError> {
        let git = self.workspace.git.as_ref().map(|git| git.to_thread_local());
        let mut plan = BTreeMap::new();
        for (path, difference) in &self.list {
            if difference.kind != ChangeKind::Committed {
                let earlier = self.earlier(git.as_ref(), path.as_ref(), difference)?;
                plan.insert(path, (difference.after.is_some(), earlier));
            }
        }
        for (path, (is_there, _)) in plan.iter().rev() {
            if *is_there {
                self.move_out(path, into).map_err(file_error(path))?;
            }
        }
        for (path, (_, earlier)) in &plan {
            self.put_back(path, earlier).map_err(file_error(path))?;
        }
        Ok(())
    }

    /// Finds out what to put back.
    fn earlier(
        &self,
        git: Option<&gix::Repository>,
        path: &BStr,
        difference: &Difference,
    ) -> Result<Earlier, TakeOutError> {
        let not_kept = |what| TakeOutError::NotKept {
            path: to_path(path).to_owned(),
            what,
        };
        if difference.after.map(|after| after.kind) == Some(EntryKind::Repository) {
            return Err(not_kept("a repository in the worktree is not moved"));
        }
        let Some(before) = difference.before else {
            return Ok(Earlier::Nothing);
        };
        let content = match before.kind {
            EntryKind::Repository | EntryKind::Unreadable => None,
            _ => self.content_of(git, before),
        };
        let content = content.ok_or_else(|| not_kept("what it held before is not kept"))?;
        Ok(match before.kind {
            EntryKind::Link => Earlier::Link(content),
            kind => Earlier::File(content, kind == EntryKind::Executable),
        })
    }

    fn content_of(&self, git: Option<&gix::Repository>, entry: Entry) -> Option<Vec<u8>> {
        if let Some(content) = self.kept.get(&entry.id) {
            return Some(content.clone());
        }
        let object = git?.try_find_object(entry.id).ok()??;
        Some(object.detach().data)
    }

    fn move_out(&self, path: &BString, into: &Path) -> io::Result<()> {
        let below = to_path(path.as_ref());
        if !RealFolders::default().hold(&self.workspace.root, path.as_ref()) {
            return Ok(());
        }
        let (from, to) = (self.workspace.root.join(below), into.join(below));
        fs::create_dir_all(to.parent().unwrap_or(into))?;
        match fs::rename(&from, &to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(&from, &to)?,
            Err(error) if is_absent(&error) => {}
            other => other?,
        }
        // A folder that this leaves empty was there for it.
        let mut folder = below.parent();
        while let Some(empty) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
            if fs::remove_dir(self.workspace.root.join(empty)).is_err() {
                break;
            }
            folder = empty.parent();
        }
        Ok(())
    }

    fn put_back(&self, path: &BString, earlier: &Earlier) -> io::Result<()> {
        let below = to_path(path.as_ref());
        let full = self.workspace.root.join(below);
        if matches!(earlier, Earlier::Nothing) {
            return Ok(());
        }
        make_folders(&self.workspace.root, below.parent())?;
        match earlier {
            Earlier::Nothing => Ok(()),
            Earlier::Link(target) => symlink(to_path(target.as_slice().into()), &full),
            Earlier::File(content, is_executable) => fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(if *is_executable { 0o777 } else { 0o666 })
                .open(&full)?
                .write_all(content),
        }
    }
}

/// Makes the folders of a path one by one: a link among them would lead elsewhere.
fn make_folders(root: &Path, below: Option<&Path>) -> io::Result<()> {
    let mut folder = root.to_owned();
    for part in below.into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                return Err(io::Error::other(
                    "something that is no folder is in its place",
                ));
            }
            Err(_) => fs::create_dir(&folder)?,
        }
    }
    Ok(())
}

/// Moves a file or link to another file system.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(from)?.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else {
        fs::copy(from, to)?;
    }
    fs::remove_file(from)
}

fn file_error(path: &BString) -> impl Fn(io::Error) -> TakeOutError + use<> {
    let path = to_path(path.as_ref()).to_owned();
    move |source| TakeOutError::File {
        path: path.clone(),
        source,
    }
}
