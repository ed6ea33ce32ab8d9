//! Entries of `gate.frozen` that freeze nothing.

use super::frozen::{CACHES, Frozen, Look};
use super::{GateContext, GateError};
use std::collections::BTreeSet;

/// Entries that name no file now.
#[derive(Debug, Default)]
pub(super) struct Empty {
    /// Plain paths: somebody has mistaken the name.
    paths: Vec<String>,
    /// Patterns: they guard against new files, or somebody has mistaken the name.
    patterns: Vec<String>,
}

impl Empty {
    /// Refuses to freeze a gate of which a part would not be.
    pub(super) fn refuse(&self) -> Result<(), GateError> {
        match self.paths.first() {
            Some(path) => Err(GateError::Nothing { path: path.clone() }),
            None => Ok(()),
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
    Ok(empty)
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
