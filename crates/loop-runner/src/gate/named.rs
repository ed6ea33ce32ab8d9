//! Parts of a gate that cannot be frozen: what is not there, or not in the project.

use super::frozen::{CACHES, Frozen, Look};
use super::program::script;
use super::{GateContext, GateError};
use loop_core::config::Gate;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Entries that name no file now.
#[derive(Debug, Default)]
pub(super) struct Empty {
    /// Plain paths: somebody has mistaken the name.
    paths: Vec<String>,
    /// Patterns: they guard against new files, or somebody has mistaken the name.
    patterns: Vec<String>,
    /// Links out of the project: what they lead to would judge, and is not covered.
    outside: Option<PathBuf>,
}

impl Empty {
    /// Refuses to freeze a gate of which a part would not be.
    pub(super) fn refuse(&self) -> Result<(), GateError> {
        match (self.paths.first(), &self.outside) {
            (Some(path), _) => Err(GateError::Nothing { path: path.clone() }),
            (None, Some(path)) => Err(GateError::LeadsOut {
                path: path.display().to_string(),
            }),
            (None, None) => Ok(()),
        }
    }
}

/// Looks for entries that name no file in the tree that the task is worked on in.
pub(super) fn empty_entries(context: &GateContext<'_>) -> Result<Empty, GateError> {
    let folder = context.folder();
    let look = Look {
        root: &folder,
        passed_by: &CACHES,
        stop: context.stop,
    };
    let mut empty = Empty::default();
    for entry in context.gate.frozen() {
        let frozen = Frozen::parse(entry.as_str())?;
        if !frozen.collect(&look, &mut BTreeSet::new())? {
            let list = match frozen.is_plain() {
                true => &mut empty.paths,
                false => &mut empty.patterns,
            };
            list.push(entry.as_str().to_owned());
        }
    }
    let named = context
        .gate
        .frozen()
        .iter()
        .map(|path| path.as_str().into());
    let mut all = scripts(context.gate, &folder).chain(named);
    empty.outside = all.find(|path| leads_out(&folder, path));
    Ok(empty)
}

/// Whether a gate freezes anything of the project before it is armed: what it
/// names, or the script that it runs.
#[must_use]
pub fn freezes(gate: &Gate, folder: &Path) -> bool {
    !gate.frozen().is_empty() || scripts(gate, folder).next().is_some()
}

/// Lists the scripts of the command and of the set-up.
pub(super) fn scripts<'a>(gate: &'a Gate, folder: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let setup = gate.setup.as_ref().map(|argv| argv.as_slice());
    let argvs = [Some(gate.command.as_slice()), setup];
    let argvs = argvs.into_iter().flatten();
    argvs.filter_map(|argv| script(argv, folder))
}

/// Whether a path below `folder` leads to something that is not.
fn leads_out(folder: &Path, path: &Path) -> bool {
    match (folder.canonicalize(), folder.join(path).canonicalize()) {
        (Ok(folder), Ok(real)) => !real.starts_with(folder),
        _ => false,
    }
}

/// Lists the patterns of `gate.frozen` that cover no file now. A person should
/// hear of them when the gate is armed: they freeze nothing but new files.
///
/// # Errors
///
/// [`GateError`] when a folder cannot be read, or a pattern means nothing.
pub fn unmatched(context: &GateContext<'_>) -> Result<Vec<String>, GateError> {
    Ok(empty_entries(context)?.patterns)
}
