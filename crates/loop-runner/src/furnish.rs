//! Makes a new worktree usable: copies what is not under version control, and
//! runs the set-up command. Without them a fresh checkout's tests are red for
//! the wrong reason (decision D-20).

use crate::errand;
use crate::git::{Reach, Workspace, ignored_paths};
use crate::holder::{How, Wish, spawn};
use crate::setup::Setup;
use crate::workplace;
use loop_core::answer::{StepFault, WorktreeRecord};
use loop_core::config::Config;
use loop_core::outcome::{EnvironmentFault, Error};
use loop_core::scope::{InvalidPattern, Pattern};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Folders that no pattern reaches into.
const NEVER: [&str; 2] = [".git", ".automaton"];

/// Why a worktree was not furnished.
pub(crate) enum Unfurnished {
    Fault(StepFault),
    Stopped,
}

/// Checks the patterns of `blast_radius.copy`.
pub(crate) fn check(config: &Config) -> Result<(), InvalidPattern> {
    let mut patterns = config.blast_radius().copy().iter();
    patterns.try_for_each(|pattern| Pattern::new(pattern.as_str()).map(drop))
}

/// Copies what `blast_radius.copy` names from the project into its worktree.
/// What is there already stays as it is. Returns warnings.
pub(crate) fn copy(setup: &Setup, worktree: &WorktreeRecord) -> Result<Vec<String>, StepFault> {
    let patterns = setup.config.blast_radius().copy();
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let from = setup.project.root();
    let to = workplace::project_folder(setup, Some(worktree));
    let mut warnings = Vec::new();
    let mut copied = Vec::new();
    for pattern in patterns {
        let pattern = Pattern::new(pattern.as_str()).map_err(|error| failed(&error))?;
        let found = matching(from, &pattern).map_err(|error| failed(&error))?;
        if found.is_empty() {
            warnings.push(format!(
                "blast_radius.copy: nothing matches {}",
                pattern.as_str()
            ));
        }
        for path in found {
            let target = to.join(&path);
            if target.symlink_metadata().is_ok() {
                continue;
            }
            copy_file(&from.join(&path), &target).map_err(|error| failed(&error))?;
            copied.push(path);
        }
    }
    warnings.extend(not_ignored(setup, worktree, &copied));
    Ok(warnings)
}

/// Runs `blast_radius.setup` in a new worktree. `poll` is asked whether it may
/// go on.
pub(crate) fn set_up(
    setup: &Setup,
    tick: u64,
    worktree: &WorktreeRecord,
    poll: impl FnMut() -> Wish,
) -> Result<(), Unfurnished> {
    let Some(argv) = &setup.config.blast_radius().setup else {
        return Ok(());
    };
    let fault = |what: String| {
        Unfurnished::Fault(StepFault::Environment {
            reason: EnvironmentFault::SetupFailed,
            what: format!("blast_radius.setup: {what}"),
            until: None,
        })
    };
    fs::create_dir_all(setup.dir.outputs()).map_err(|error| {
        Unfurnished::Fault(StepFault::Error {
            reason: Error::OutputsUnwritable,
            what: error.to_string(),
        })
    })?;
    let folder = workplace::project_folder(setup, Some(worktree));
    let stem = format!("tick{tick}-setup");
    let command = errand::command(setup, argv.as_slice(), &folder, &stem, Some(tick));
    let see = command.stderr.display().to_string();
    let ended = spawn(&command)
        .map_err(|error| fault(error.to_string()))?
        .wait(poll)
        .map_err(|error| fault(error.to_string()))?;
    match ended.how {
        How::Exited(0) => Ok(()),
        How::Ended => Err(Unfurnished::Stopped),
        How::Exited(code) => Err(fault(format!("exited with {code}; see {see}"))),
        How::Signaled(signal) => Err(fault(format!("was killed by signal {signal}; see {see}"))),
        How::TimedOut | How::IdleTimedOut => Err(fault(format!("took too long; see {see}"))),
    }
}

/// Lists the files below `root` that a path or pattern names, sorted. Links and
/// what they lead to are left out.
fn matching(root: &Path, pattern: &Pattern) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let wanted = |path: &Path| pattern.matches(path.as_os_str().as_bytes());
    walk(root, Path::new(&pattern.base()), &wanted, &mut found)?;
    found.sort();
    Ok(found)
}

/// Collects the regular files at and below `path` that `wanted` takes.
fn walk(
    root: &Path,
    path: &Path,
    wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let meta = match root.join(path).symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if meta.is_file() && wanted(path) {
        found.push(path.to_owned());
    }
    if meta.is_dir() && !NEVER.iter().any(|name| path.ends_with(name)) {
        for entry in fs::read_dir(root.join(path))? {
            walk(root, &path.join(entry?.file_name()), wanted, found)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to).map(drop)
}

/// Warns of copies that version control would take for work: they would be
/// committed with it.
fn not_ignored(setup: &Setup, worktree: &WorktreeRecord, copied: &[PathBuf]) -> Vec<String> {
    let Some(repository) = &setup.repository else {
        return Vec::new();
    };
    let recorded = workplace::recorded(worktree);
    let stop = AtomicBool::new(false);
    let ignored = Workspace::of_worktree(repository, &recorded, Path::new(""))
        .ok()
        .and_then(|workspace| ignored_paths(&workspace, Reach::Repository, &stop).ok())
        .unwrap_or_default();
    let place = repository
        .place_of(setup.project.root())
        .unwrap_or_default();
    let is_ignored = |path: &PathBuf| {
        let path = place.join(path);
        ignored.iter().any(|ignored| path.starts_with(ignored))
    };
    copied
        .iter()
        .filter(|path| !is_ignored(path))
        .map(|path| {
            format!(
                "blast_radius.copy: {} is not ignored by git and counts as the loop's work",
                path.display()
            )
        })
        .collect()
}

fn failed(error: &dyn std::error::Error) -> StepFault {
    StepFault::Error {
        reason: Error::WorktreeFailed,
        what: format!("blast_radius.copy: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: X-09
    // cases: 96
    #[test]
    fn patterns_name_files_below_the_project_and_nothing_behind_a_link() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let root = tempfile::tempdir().unwrap();
        for path in [
            ".env",
            "config/a.local",
            "config/deep/b.local",
            "config/c.json",
            ".git/x.local",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink(outside.path(), root.path().join("config/link")).unwrap();
        for (pattern, expected) in [
            (".env", &[".env"][..]),
            ("config/*.local", &["config/a.local"]),
            ("**/*.local", &["config/a.local", "config/deep/b.local"]),
            (
                "config",
                &["config/a.local", "config/c.json", "config/deep/b.local"],
            ),
            ("config/link/*", &[]),
            ("no", &[]),
            ("config/d*", &["config/deep/b.local"]),
            ("./.env", &[".env"]),
        ] {
            let found = matching(root.path(), &Pattern::new(pattern).unwrap()).unwrap();
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{pattern}");
        }
    }
}
