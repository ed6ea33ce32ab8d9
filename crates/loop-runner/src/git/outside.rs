//! What belongs to the user besides the place where an agent works, and whether it was left alone.
//!
//! It is looked at just before and just after a call. Nothing is started, and no link is followed
//! that an agent can have made. Of the user's other worktrees and of submodules only the
//! administration is looked at, not the files. What changes in the meantime by itself is left out: branches of
//! remotes, `FETCH_HEAD`, ignored files, and all that loops do in their own folders.

mod administration;
mod checkouts;
mod files;
mod references;
mod staged;

use std::{
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use gix::bstr::BStr;

use super::{
    fault::GitFault,
    listing::index_of,
    quote::quoted,
    repository::Repository,
    snapshot::SnapshotError,
    workspace::{to_bytes, to_path},
};
use administration::Administration;
use files::Files;
use references::References;
use staged::Staged;

/// The most changes that are told one by one.
const MAX_TOLD: usize = 50;

/// What is watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a> {
    /// The repository around the project.
    pub repository: &'a Repository,
    /// The project's place below the top level, empty for the top level itself.
    pub place: &'a Path,
    /// Whether the agent works in the project itself, whose files then are the work.
    pub in_place: bool,
    /// The folders that loops write into, absolute; they may lie in the checkout.
    pub engines: &'a [PathBuf],
}

/// What belonged to the user at one moment, and was to be left alone.
#[derive(Debug)]
pub struct Outside {
    administration: Administration,
    references: References,
    staged: Staged,
    /// `None` when there is no checkout, or when the project is all of it and is worked on.
    files: Option<Files>,
    exempt: Exempt,
}

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutsideChange {
    /// What, for a person, on one line.
    pub what: String,
}

impl OutsideChange {
    fn new(what: String) -> Self {
        Self { what }
    }
}

impl Outside {
    /// Looks at everything once. Set `stop` to `true` to give up.
    ///
    /// # Errors
    ///
    /// When the repository or the checkout cannot be read, or when interrupted.
    pub fn take(watched: &Watched<'_>, stop: &AtomicBool) -> Result<Self, SnapshotError> {
        let git = watched.repository.local();
        let exempt = Exempt::of(watched);
        let index = index_of(&git);
        let staged = Staged::of(&index, &exempt);
        let files = match git.workdir() {
            Some(_) if exempt.is_everything() => None,
            Some(root) => Some(Files::take(&git, root, index, &exempt, stop)?),
            None => None,
        };
        heard(stop)?;
        Ok(Self {
            administration: Administration::take(&git, watched.engines, stop)?,
            references: References::take(git.common_dir())?,
            staged,
            files,
            exempt,
        })
    }

    /// Looks again, and tells what is not as it was: fifty changes, and how many more there are.
    ///
    /// # Errors
    ///
    /// Those of [`Outside::take`]. What is not known must not be taken for unchanged.
    pub fn changes(
        &self,
        watched: &Watched<'_>,
        stop: &AtomicBool,
    ) -> Result<Vec<OutsideChange>, SnapshotError> {
        let git = watched.repository.local();
        let mut changes = Vec::new();
        let administration = Administration::take(&git, watched.engines, stop)?;
        self.administration.compare(&administration, &mut changes);
        let references = References::take(git.common_dir())?;
        self.references.compare(&references, &mut changes);
        let staged = Staged::of(&index_of(&git), &self.exempt);
        let is_dirty = |path: &BStr| {
            self.files
                .as_ref()
                .is_some_and(|files| files.is_dirty(path))
        };
        self.staged.compare(&staged, is_dirty, &mut changes);
        if let Some(files) = &self.files {
            files.compare(&git, &self.exempt, stop, &mut changes)?;
        }
        heard(stop)?;
        if changes.len() > MAX_TOLD {
            let more = changes.len() - MAX_TOLD;
            changes.truncate(MAX_TOLD);
            changes.push(OutsideChange::new(format!("and {more} more")));
        }
        Ok(changes)
    }
}

fn heard(stop: &AtomicBool) -> Result<(), SnapshotError> {
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted);
    }
    Ok(())
}

/// The files of a checkout that may change.
#[derive(Debug)]
struct Exempt {
    /// The project's place.
    place: PathBuf,
    /// The places of the work itself, and of what loops write.
    folders: Vec<PathBuf>,
}

impl Exempt {
    fn of(watched: &Watched<'_>) -> Self {
        let engines = watched.engines.iter();
        let engines = engines.filter_map(|folder| watched.repository.place_of(folder));
        let work = watched.in_place.then(|| watched.place.to_owned());
        Self {
            place: watched.place.to_owned(),
            folders: engines.chain(work).collect(),
        }
    }

    /// Tells whether no file at all is watched.
    fn is_everything(&self) -> bool {
        self.folders
            .iter()
            .any(|folder| folder.as_os_str().is_empty())
    }

    /// Tells whether a path may change: the work itself, what the engine writes, and the data of
    /// any other project's loops.
    fn holds(&self, path: &BStr) -> bool {
        let path = to_path(path);
        let is_data = |part: Component<'_>| part.as_os_str() == ".automaton";
        let is_report = |below: &Path| {
            let reports = ["STATE.md", "STATE.prev.md"];
            reports.iter().any(|name| below == Path::new(name))
        };
        self.folders.iter().any(|folder| path.starts_with(folder))
            || path.components().any(is_data)
            || path.strip_prefix(&self.place).is_ok_and(is_report)
    }
}

/// Writes a path on one line.
fn shown(path: &Path) -> String {
    quoted(b"", to_bytes(path).as_ref())
}

/// Turns what the git library reported into the one kind of error here.
fn git_fault(error: impl Into<GitFault>) -> SnapshotError {
    SnapshotError::Git(error.into())
}
