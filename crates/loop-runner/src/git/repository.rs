//! A person's repository: where it is and what its HEAD says.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gix::{
    open::{Permissions, permissions},
    sec::Permission,
};

use super::{fault::GitFault, seen::Seen};

/// Says which configuration is read besides the repository's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Configuration {
    /// Reads the system's and the user's files too, as `git` does.
    #[default]
    User,
    /// Reads the repository's own files only, which makes a result independent of the machine.
    RepositoryOnly,
}

/// Tells why a repository that is there could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The repository belongs to another user, or is damaged, or cannot be read.
    #[error("open the repository at {}: {source}", path.display())]
    Open {
        /// Where the search began.
        path: PathBuf,
        /// What the git library reported.
        source: GitFault,
    },
}

/// A repository of the user's, opened for reading and for adding worktrees.
///
/// It stays valid while commits and branches come and go: they are read anew at each call. The
/// configuration is the one at the time of opening.
#[derive(Clone, Debug)]
pub struct Repository {
    inner: gix::ThreadSafeRepository,
    /// What is known of the files in its checkouts, so that they are read once.
    seen: Arc<Seen>,
}

/// What a checkout stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit in hexadecimal, or `None` before the first one.
    pub commit: Option<String>,
    /// The branch without `refs/heads/`, or `None` when HEAD is detached.
    pub branch: Option<String>,
}

impl Repository {
    /// Finds the repository that `path` is in, looking upwards.
    ///
    /// Returns `None` outside of any. A bare repository is one too. Variables such as `GIT_DIR`
    /// have no influence.
    ///
    /// # Errors
    ///
    /// When there is a repository that cannot be opened.
    pub fn discover(path: &Path, configuration: Configuration) -> Result<Option<Self>, OpenError> {
        let options = gix::discover::upwards::Options::default();
        let map = gix::sec::trust::Mapping {
            full: open_options(configuration),
            reduced: open_options(configuration),
        };
        match gix::ThreadSafeRepository::discover_opts(path, options, map) {
            Ok(inner) => Ok(Some(Self {
                inner,
                seen: Arc::default(),
            })),
            Err(error) if is_nowhere(&error) => Ok(None),
            Err(error) => Err(OpenError::Open {
                path: path.to_owned(),
                source: error.into(),
            }),
        }
    }

    /// Returns the top folder of the checkout, or `None` for a bare repository.
    #[must_use]
    pub fn top_level(&self) -> Option<&Path> {
        self.inner.work_tree.as_deref()
    }

    /// Returns the place of a folder below the top level, empty for the top level itself.
    ///
    /// `None` when the folder is not in the checkout, or there is none, or a path cannot be read.
    #[must_use]
    pub fn place_of(&self, folder: &Path) -> Option<PathBuf> {
        let top = self.top_level()?.canonicalize().ok()?;
        let folder = folder.canonicalize().ok()?;
        folder.strip_prefix(top).map(Path::to_owned).ok()
    }

    /// Returns the folder with this checkout's HEAD and index (`.git` in the simplest case).
    #[must_use]
    pub fn git_dir(&self) -> PathBuf {
        self.local().git_dir().to_owned()
    }

    /// Returns the folder that all checkouts share: objects, branches, configuration.
    #[must_use]
    pub fn common_dir(&self) -> PathBuf {
        self.local().common_dir().to_owned()
    }

    /// Reads the commit and the branch that the checkout stands on.
    ///
    /// # Errors
    ///
    /// When HEAD cannot be read or names something that is not there.
    pub fn head(&self) -> Result<Head, GitFault> {
        let repository = self.local();
        let head = repository.head()?;
        let branch = head.referent_name().map(|name| name.shorten().to_string());
        let commit = if head.is_unborn() {
            None
        } else {
            Some(repository.head_commit()?.id.to_string())
        };
        Ok(Head { commit, branch })
    }

    /// Returns what is known of the files in its checkouts.
    pub(super) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.seen)
    }

    /// Returns a handle for this thread.
    pub(super) fn local(&self) -> gix::Repository {
        self.inner.to_thread_local()
    }
}

/// The settings under which everything here is opened.
fn open_options(configuration: Configuration) -> gix::open::Options {
    let user = configuration == Configuration::User;
    let home = if user {
        Permission::Allow
    } else {
        Permission::Deny
    };
    gix::open::Options::default()
        .permissions(Permissions {
            env: permissions::Environment {
                home,
                xdg_config_home: home,
                ..permissions::Environment::isolated()
            },
            config: permissions::Config {
                git_binary: false,
                system: user,
                git: user,
                user,
                env: false,
                includes: true,
            },
            attributes: permissions::Attributes {
                git_binary: false,
                system: user,
                git: user,
            },
        })
        .cli_overrides([
            // Relative links need a mark in the shared configuration, which is not ours to write.
            "worktree.useRelativePaths=false",
            // A line in a log of references needs a name even where the user has set none.
            "gitoxide.committer.nameFallback=loop",
            "gitoxide.committer.emailFallback=loop@localhost",
        ])
}

/// Tells whether the search ended because there is no repository at all.
fn is_nowhere(error: &gix::Error) -> bool {
    use gix::discover::upwards::Error;
    matches!(
        error.downcast_any_ref::<Error>(),
        Some(
            Error::NoGitRepository { .. }
                | Error::NoGitRepositoryWithinCeiling { .. }
                | Error::NoGitRepositoryWithinFs { .. }
        )
    )
}
