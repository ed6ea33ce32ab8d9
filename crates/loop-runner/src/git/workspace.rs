//! The tree of files that an agent works in.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gix::bstr::{BStr, BString, ByteSlice};

use super::{
    administration::{Administration, Recorded, Replaced},
    destination::is_ignored,
    fault::GitFault,
    listing::index_of,
    repository::Repository,
    seen::Seen,
};

/// A tree of files whose state can be hashed and compared: a checkout, a worktree, or a folder
/// outside of any repository.
///
/// Open one for each use. It is only a handle, and the check of a worktree's administration that
/// comes with opening is worth nothing once an agent has run.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The top of the tree.
    pub(super) root: PathBuf,
    /// The project's place below the top: empty, or a path without a slash at its end.
    pub(super) project: BString,
    pub(super) git: Option<gix::ThreadSafeRepository>,
    /// Whether it is a worktree of the engine's, into which the engine itself writes nothing.
    pub(super) is_worktree: bool,
    /// What is known of its files.
    pub(super) seen: Arc<Seen>,
}

impl Workspace {
    /// Opens the user's own checkout, for a project at `project` in it.
    ///
    /// A project that the repository does not keep is a plain folder: one that is not below the
    /// checkout's top level (as in a bare repository), or that is ignored there and holds no tracked
    /// file. By the repository's rules it would have no files at all.
    #[must_use]
    pub fn in_place(repository: &Repository, project: &Path) -> Self {
        let top = repository
            .top_level()
            .and_then(|top| top.canonicalize().ok());
        let (Some(root), Some(below)) = (top, repository.place_of(project)) else {
            return Self::plain(project);
        };
        let git = repository.local();
        if !is_kept(&git, &below) {
            return Self::plain(project);
        }
        Self {
            project: to_bytes(&below),
            root,
            git: Some(git.into_sync()),
            is_worktree: false,
            seen: repository.seen(),
        }
    }

    /// Opens a worktree of the engine's, after a comparison with what was recorded.
    ///
    /// `project` is the project's place below the repository's top level; see
    /// [`Repository::place_of`].
    ///
    /// # Errors
    ///
    /// When the worktree is not the one that was recorded. Then nothing was read through it.
    pub fn of_worktree(
        repository: &Repository,
        recorded: &Recorded,
        project: &Path,
    ) -> Result<Self, Replaced> {
        let found = Administration::verified(repository, recorded)?;
        let replaced = |what: String| Replaced {
            path: recorded.path.clone(),
            what,
        };
        let git = open_entry(&repository.local(), &found.dir)
            .map_err(|error| replaced(error.to_string()))?;
        // `core.worktree` in the shared configuration could lead the walk for new files elsewhere.
        if git.workdir() != Some(&recorded.path) {
            return Err(replaced(
                "the configuration names another folder".to_owned(),
            ));
        }
        Ok(Self {
            root: recorded.path.clone(),
            project: to_bytes(project),
            git: Some(git.into_sync()),
            is_worktree: true,
            seen: repository.seen(),
        })
    }

    /// Opens a folder outside of any repository.
    #[must_use]
    pub fn plain(folder: &Path) -> Self {
        Self {
            root: folder.to_owned(),
            project: BString::default(),
            git: None,
            is_worktree: false,
            seen: Arc::default(),
        }
    }

    /// Returns the top of the tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the project's folder.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.root.join(to_path(self.project.as_ref()))
    }

    /// Returns the project's place below the top, empty for the top itself.
    #[must_use]
    pub fn place(&self) -> &Path {
        to_path(self.project.as_ref())
    }

    /// Returns the commit in hexadecimal that HEAD stands on, if there is one to be read.
    pub(super) fn head(&self) -> Option<String> {
        let git = self.git.as_ref()?.to_thread_local();
        let head = git.head_id().ok()?;
        Some(head.to_string())
    }

    /// Tells whether the engine itself writes a path, so that it is never an agent's change.
    pub(super) fn is_engines(&self, path: &BStr) -> bool {
        let below = if self.project.is_empty() {
            path
        } else {
            match path
                .strip_prefix(self.project.as_slice())
                .and_then(|rest| rest.strip_prefix(b"/"))
            {
                Some(below) => below.as_bstr(),
                None => return false,
            }
        };
        below == "STATE.md"
            || below == "STATE.prev.md"
            || below == ".automaton"
            || below.starts_with(b".automaton/")
    }
}

/// Tells whether a repository keeps what is in one of its folders.
fn is_kept(git: &gix::Repository, below: &Path) -> bool {
    if below.as_os_str().is_empty() || !is_ignored(git, below).unwrap_or(false) {
        return true;
    }
    let mut folder = to_bytes(below);
    folder.push(b'/');
    let index = index_of(git);
    let mut paths = index.entries().iter().map(|entry| entry.path(&index));
    paths.any(|path| path.starts_with(&folder))
}

/// Opens the worktree with the administration at `dir`, under the settings of `repository`.
fn open_entry(repository: &gix::Repository, dir: &Path) -> Result<gix::Repository, GitFault> {
    repository
        .worktrees()?
        .into_iter()
        .find(|entry| entry.git_dir().file_name() == dir.file_name())
        .ok_or_else(|| GitFault::new("the worktree is not registered"))?
        .into_repo()
        .map_err(Into::into)
}

/// Turns a path into the bytes that git knows it by.
pub(super) fn to_bytes(path: &Path) -> BString {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().into()
}

/// Turns git's bytes into a path.
pub(super) fn to_path(bytes: &BStr) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
