//! Settings above the tree, where many tools look for them too.
//!
//! The folders between the framework home and a worktree hold worktrees and
//! nothing else. What an agent leaves there would reach into a clean checkout,
//! which lies beside its worktree.

use super::path_text::to_text;
use super::scratch::parent;
use super::side_doors::is_setting;
use super::{GateContext, Mismatch};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lists what lies above the tree of the task, and above its clean checkouts,
/// and decides what a test run means.
pub(super) fn settings_above(context: &GateContext<'_>) -> Vec<Mismatch> {
    let top = context.setup.home.worktrees();
    let tops = [top.canonicalize().ok(), Some(top)];
    let checkouts = parent(context.setup);
    let worktree = context
        .worktree
        .and_then(|worktree| Path::new(&worktree.path).parent());
    let mut folders = BTreeSet::new();
    for start in [Some(&*checkouts), worktree].into_iter().flatten() {
        let inside = |folder: &&Path| tops.iter().flatten().any(|top| folder.starts_with(top));
        folders.extend(start.ancestors().take_while(inside).map(Path::to_owned));
    }
    let mut found: Vec<_> = folders.iter().flat_map(settings_in).collect();
    found.sort();
    found.dedup();
    let mismatch = |path: PathBuf| Mismatch {
        path: to_text(&path),
        what: "lies above the tree, where tools look for settings".to_owned(),
    };
    found.into_iter().map(mismatch).collect()
}

/// A folder that cannot be listed holds nothing that a tool could read.
fn settings_in(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| is_setting(path)).collect()
}
