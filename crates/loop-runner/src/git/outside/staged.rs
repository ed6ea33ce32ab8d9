//! What a person has staged.

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    index::entry::Mode,
};
use std::collections::BTreeMap;

use crate::git::workspace::to_path;

use super::{Exempt, OutsideChange, shown};

/// What an index lists, without what it remembers of the files on disk: looking at those, as `git
/// status` does, is no change.
#[derive(Debug)]
pub(super) struct Staged {
    entries: BTreeMap<(BString, u32), (Mode, ObjectId)>,
}

impl Staged {
    pub(super) fn of(index: &gix::index::State, exempt: &Exempt) -> Self {
        let entries = index.entries().iter().map(|entry| {
            let path = entry.path(index).to_owned();
            ((path, entry.stage_raw()), (entry.mode, entry.id))
        });
        Self {
            entries: entries
                .filter(|((path, _), _)| !exempt.holds(path.as_bstr()))
                .collect(),
        }
    }

    /// What was edited before may be staged meanwhile: `is_dirty` tells.
    pub(super) fn compare(
        &self,
        after: &Self,
        is_dirty: impl Fn(&BStr) -> bool,
        changes: &mut Vec<OutsideChange>,
    ) {
        let added = after
            .entries
            .keys()
            .filter(|key| !self.entries.contains_key(*key));
        for key in self.entries.keys().chain(added) {
            let path = key.0.as_bstr();
            if self.entries.get(key) != after.entries.get(key) && !is_dirty(path) {
                let path = shown(to_path(path));
                let what = format!("what is staged of {path} was changed");
                changes.push(OutsideChange::new(what));
            }
        }
    }
}
