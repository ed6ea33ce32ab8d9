//! The files of a repository that say what git does in it, and in its other checkouts and
//! submodules.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use crate::git::{
    budget::Budget,
    hash_file::look,
    ignore_rules::shared_files,
    plain_file::is_absent,
    snapshot::{Entry, SnapshotError},
};

use super::{
    OutsideChange,
    checkouts::{WORKTREE, submodules, users_worktrees},
    git_fault, shown,
};

/// Files of the folder that all checkouts share.
const SHARED: [&str; 4] = [
    "HEAD",
    "config",
    "config.worktree",
    "objects/info/alternates",
];
/// Folders of it, with everything in them.
const SHARED_FOLDERS: [&str; 2] = ["hooks", "info"];
/// Files of the folder that belongs to this checkout.
const OWN: [&str; 2] = ["HEAD", "config.worktree"];
/// A list of references for others to fetch, which git writes anew when it tidies up by itself.
const LIST: &str = "info/refs";
/// The most files in a folder of the administration.
pub(super) const MAX_FILES: usize = 10_000;

/// What the administration holds, by path.
#[derive(Debug)]
pub(super) struct Administration {
    /// The folder that all checkouts share, to name the files by.
    common_dir: PathBuf,
    files: BTreeMap<PathBuf, State>,
}

/// What is at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// The file or link itself; `None` for a pipe, a device or the like.
    entry: Option<Entry>,
    /// What a link leads to.
    behind: Option<Entry>,
}

impl Administration {
    /// Looks once. Worktrees below `engines` are the loops', not the user's.
    pub(super) fn take(
        git: &gix::Repository,
        engines: &[PathBuf],
        stop: &AtomicBool,
    ) -> Result<Self, SnapshotError> {
        let common_dir = git.common_dir().canonicalize().map_err(git_fault)?;
        let mut reader = Reader {
            budget: Budget::of_state(),
            stop,
            files: BTreeMap::new(),
        };
        for name in SHARED {
            reader.file(&common_dir.join(name))?;
        }
        for name in OWN {
            reader.file(&git.git_dir().join(name))?;
        }
        for name in SHARED_FOLDERS {
            reader.folder(&common_dir.join(name))?;
        }
        reader.folder(&git.git_dir().join("info"))?;
        // Hooks can stand elsewhere; git takes a relative path from the checkout's top.
        let hooks = git.config_snapshot().trusted_path("core.hooksPath");
        if let Some(hooks) = hooks.map_err(git_fault)? {
            reader.folder(&git.workdir().unwrap_or(&common_dir).join(hooks))?;
        }
        for entry in users_worktrees(&common_dir, engines)? {
            for name in WORKTREE {
                reader.file(&entry.join(name))?;
            }
        }
        for module in submodules(&common_dir)? {
            reader.file(&module.join("config"))?;
            reader.folder(&module.join("hooks"))?;
        }
        for path in shared_files(git)? {
            // The other one is in `info`.
            if !path.starts_with(git.common_dir()) {
                reader.file(&path)?;
            }
        }
        if let Some(top) = git.workdir() {
            let link = top.join(".git");
            if link.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                reader.file(&link)?;
            }
        }
        Ok(Self {
            common_dir,
            files: reader.files,
        })
    }

    pub(super) fn compare(&self, after: &Self, changes: &mut Vec<OutsideChange>) {
        for path in self.files.keys().chain(after.files.keys()) {
            let word = match (self.files.get(path), after.files.get(path)) {
                (Some(before), Some(after)) if before == after => continue,
                (Some(_), Some(_)) => "was changed",
                (Some(_), None) => "was removed",
                (None, Some(_)) => "was added",
                (None, None) => continue,
            };
            let name = match path.strip_prefix(&self.common_dir) {
                Ok(below) => format!("{} of the repository", shown(below)),
                Err(_) => shown(path),
            };
            let change = OutsideChange::new(format!("{name} {word}"));
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
    }
}

struct Reader<'a> {
    budget: Budget,
    stop: &'a AtomicBool,
    files: BTreeMap<PathBuf, State>,
}

impl Reader<'_> {
    /// Reads a file, or a link and what it leads to, if there is one.
    fn file(&mut self, path: &Path) -> Result<(), SnapshotError> {
        match path.symlink_metadata() {
            Err(error) if is_absent(&error) => return Ok(()),
            Err(source) => {
                return Err(SnapshotError::Read {
                    path: path.to_owned(),
                    source,
                });
            }
            Ok(meta) if meta.is_dir() => return Ok(()),
            Ok(_) => {}
        }
        let entry = look(path, &self.budget, self.stop)?;
        let real = path.canonicalize().ok().filter(|real| real != path);
        let behind = match real {
            Some(real) => look(&real, &self.budget, self.stop)?,
            None => None,
        };
        self.files.insert(path.to_owned(), State { entry, behind });
        Ok(())
    }

    /// Reads every file in a folder and below it; a link in it is a file.
    fn folder(&mut self, folder: &Path) -> Result<(), SnapshotError> {
        // The folder itself may be a person's link.
        let Ok(real) = folder.canonicalize() else {
            return Ok(());
        };
        let mut open = vec![real];
        while let Some(folder) = open.pop() {
            let failed = |source| SnapshotError::Read {
                path: folder.clone(),
                source,
            };
            let entries = match fs::read_dir(&folder) {
                Err(error) if is_absent(&error) => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                if entry.file_type().map_err(failed)?.is_dir() {
                    open.push(entry.path());
                } else if !entry.path().ends_with(LIST) {
                    self.file(&entry.path())?;
                }
                if self.files.len() + open.len() > MAX_FILES {
                    return Err(failed(std::io::Error::other("it holds too many files")));
                }
            }
        }
        Ok(())
    }
}
