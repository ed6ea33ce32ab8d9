//! What a workspace holds besides the files that count.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use gix::dir::{
    EntryRef, entry,
    walk::{Action, Delegate, EmissionMode},
};

use super::{
    fault::GitFault,
    listing::{index_of, is_reached},
    rules::{self, Guarded},
    snapshot::{Reach, SnapshotError},
    workspace::{Workspace, to_path},
};

/// Lists the ignored files of a workspace; a folder that is ignored as a whole is one path.
///
/// They are no changes, but what an agent leaves in them (a built program, an `.env`) can matter to
/// a person. Outside of a repository nothing is ignored.
///
/// # Errors
///
/// When the repository cannot be read, or when interrupted.
pub fn ignored_paths(
    workspace: &Workspace,
    reach: Reach,
    stop: &AtomicBool,
) -> Result<Vec<PathBuf>, SnapshotError> {
    let Some(git) = &workspace.git else {
        return Ok(Vec::new());
    };
    let git = git.to_thread_local();
    let options = git
        .dirwalk_options()
        .map_err(GitFault::from)?
        .emit_ignored(Some(EmissionMode::CollapseDirectory));
    rules::check_down_to(&workspace.root, Path::new(""))?;
    let collect = Collect {
        workspace,
        reach,
        paths: Vec::new(),
    };
    let mut collect = Guarded::new(&workspace.root, collect);
    let walked = git.dirwalk(&index_of(&git), None::<&str>, stop, options, &mut collect);
    if stop.load(Ordering::Relaxed) {
        return Err(SnapshotError::Interrupted);
    }
    let mut paths = collect.finish()?.paths;
    walked.map_err(GitFault::from)?;
    paths.sort();
    Ok(paths)
}

struct Collect<'a> {
    workspace: &'a Workspace,
    reach: Reach,
    paths: Vec<PathBuf>,
}

impl Delegate for Collect<'_> {
    fn emit(&mut self, entry: EntryRef<'_>, _: Option<entry::Status>) -> Action {
        let path = entry.rela_path.as_ref();
        if matches!(entry.status, entry::Status::Ignored(_))
            && is_reached(self.workspace, self.reach, path)
        {
            self.paths.push(to_path(path).to_owned());
        }
        Action::Continue(())
    }
}
