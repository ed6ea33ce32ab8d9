//! What a loop itself reads: its configuration, the profiles of its agents, its
//! prompts, the task's brief, the open items of its backlog.
//!
//! An agent that edits one of them decides what its next call is told, who judges
//! it, which limits hold, or what is done. So they are looked at before and after
//! every call, whatever else is watched.

use crate::git::plain_file::{self, is_absent};
use crate::hash::sha256_hex;
use crate::setup::Setup;
use crate::sources;
use crate::workplace::project_folder;
use loop_core::Role;
use loop_core::answer::WorktreeRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The longest of these files that is read, in bytes.
const LONGEST: u64 = 16 << 20;
/// Documents that a task's brief is read from, with the phase whose work each is.
const BRIEFS: [(&str, &str); 2] = [("RESEARCH.md", "research"), ("SPEC.md", "spec")];

/// What these files hold, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// SHA-256 by path; `None` for what is there and no plain file.
    files: BTreeMap<PathBuf, Option<String>>,
    /// Titles of open items by id, for each copy of the backlog.
    open: BTreeMap<PathBuf, BTreeMap<String, String>>,
}

impl Inputs {
    /// Reads them for a call about `task`, which is in `phase`: the document that
    /// is that phase's own work may change. In a worktree the agent may tick the
    /// box of the item that it works on, and no other: with a pass it comes home.
    ///
    /// # Errors
    ///
    /// What the system said of a file or folder that is there and cannot be read.
    pub(crate) fn take(
        setup: &Setup,
        worktree: Option<&WorktreeRecord>,
        task: &str,
        phase: Option<&str>,
    ) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        read(&setup.config_path(), &mut files)?;
        for folder in [setup.dir.root(), &setup.home.prompts()] {
            for path in prompts_in(folder)? {
                read(&path, &mut files)?;
            }
        }
        // One of the home takes the place of a shipped one, so it may come up too.
        for name in profiles_of(setup) {
            let file = format!("{name}.json");
            read(&setup.home.harness_profiles().join(file), &mut files)?;
        }
        if let Ok(folder) = setup.tasks.path(task) {
            for (name, written_in) in BRIEFS {
                if phase != Some(written_in) {
                    read(&folder.join(name), &mut files)?;
                }
            }
        }
        Ok(Self {
            files,
            open: open_items(setup, worktree, task)?,
        })
    }

    /// Lists what is not as it was, one line each.
    pub(crate) fn changes(&self, now: &Self) -> Vec<String> {
        let mut changes: Vec<_> = self
            .files
            .iter()
            .filter_map(|(path, was)| {
                let what = match now.files.get(path) {
                    Some(is) if is == was => return None,
                    Some(_) => "was changed",
                    None => "was removed",
                };
                Some(format!("{} {what}", path.display()))
            })
            .collect();
        let new = now
            .files
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        changes.extend(new.map(|path| format!("{} was added", path.display())));
        for (path, items) in &self.open {
            let now = now.open.get(path);
            let closed = items
                .iter()
                .filter(|(id, _)| now.is_none_or(|now| !now.contains_key(*id)));
            changes.extend(closed.map(|(_, title)| {
                format!(
                    "{}: the item \"{title}\" is not open any more",
                    path.display()
                )
            }));
        }
        changes
    }
}

/// Reads the backlog of the project, and of the place of work. New items and
/// edits of what is done are everybody's.
fn open_items(
    setup: &Setup,
    worktree: Option<&WorktreeRecord>,
    task: &str,
) -> io::Result<BTreeMap<PathBuf, BTreeMap<String, String>>> {
    let mut open = BTreeMap::new();
    let Some(backlog) = sources::backlog_of(&setup.config) else {
        return Ok(open);
    };
    let Some(file) = backlog.file() else {
        return Ok(open);
    };
    let mut read = |path: PathBuf, own: Option<&str>| match plain_file::read(&path, LONGEST) {
        Ok(Some(text)) => {
            let mut items = backlog.open_items(&String::from_utf8_lossy(&text));
            if let Some(own) = own {
                items.remove(own);
            }
            open.insert(path, items);
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error),
    };
    read(setup.project.root().join(file), None)?;
    if worktree.is_some() {
        let record = setup.tasks.read(task).ok().flatten();
        let own = record.and_then(|record| record.origin.id);
        read(project_folder(setup, worktree).join(file), own.as_deref())?;
    }
    Ok(open)
}

fn read(path: &Path, files: &mut BTreeMap<PathBuf, Option<String>>) -> io::Result<()> {
    match plain_file::read(path, LONGEST) {
        Ok(content) => {
            let digest = content.map(|content| sha256_hex(&content));
            files.insert(path.to_owned(), digest);
            Ok(())
        }
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the names of the profiles by which the loop's roles are called.
fn profiles_of(setup: &Setup) -> BTreeSet<&str> {
    let harnesses = Role::ALL
        .into_iter()
        .flat_map(|role| setup.harnesses.of_role(role));
    let profiles = harnesses.filter_map(|harness| harness.profile.as_deref());
    profiles.map(|profile| profile.name().as_str()).collect()
}

/// Lists the Markdown files of a folder; none when there is no such folder.
fn prompts_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut prompts = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "md") {
            prompts.push(path);
        }
    }
    Ok(prompts)
}
