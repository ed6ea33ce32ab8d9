//! Claims: which loop works on a task, so that no two do.

use super::error::ClaimError;
use super::folder::Folder;
use super::{Tasks, check_name};
use loop_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The claim's file in a task's folder.
pub(super) const FILE: &str = ".claim";
/// The largest claim that is read.
const LARGEST: u64 = 64 * 1024;

/// What a claim says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The loop that works on the task.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// Since when.
    pub since: Timestamp,
}

/// What came of asking for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The task is the asking loop's: since now, or since an earlier tick.
    Ours(Claim),
    /// Another loop works on it.
    Theirs(Claim),
}

impl Tasks {
    /// Claims a task for a loop. Exactly one of any number of loops gets it, and
    /// that one may ask again.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the claim cannot be read or written: such a task is
    /// nobody's until a person has looked.
    pub fn claim(&self, task: &str, loop_name: &str, at: Timestamp) -> Result<Claimed, ClaimError> {
        let folder = self.folder(task)?.lock()?;
        let asked = Claim {
            loop_name: loop_name.to_owned(),
            since: at,
        };
        let text = serde_json::to_string(&asked)
            .expect("two texts under fixed keys always have a JSON form");
        if folder.add(FILE, &mut text.as_bytes())? {
            return Ok(Claimed::Ours(asked));
        }
        let held = read(&folder)?.unwrap_or(asked);
        Ok(if held.loop_name == loop_name {
            Claimed::Ours(held)
        } else {
            Claimed::Theirs(held)
        })
    }

    /// Returns who works on a task, if anyone does.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the claim cannot be read.
    pub fn claimed(&self, task: &str) -> Result<Option<Claim>, ClaimError> {
        read(&self.folder(task)?)
    }

    /// Gives back what a loop has claimed, but for the tasks in `keep`.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] for the first claim that cannot be looked at or removed.
    pub fn release_others(&self, loop_name: &str, keep: &BTreeSet<&str>) -> Result<(), ClaimError> {
        let mut names = self.names()?;
        names.retain(|name| check_name(name).is_ok() && !keep.contains(name.as_str()));
        for task in &names {
            let held = self.claimed(task)?;
            if held.is_some_and(|held| held.loop_name == loop_name) {
                self.release(task, loop_name)?;
            }
        }
        Ok(())
    }

    /// Gives a loop's claim on a task back; another loop's stays.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the claim cannot be read or removed.
    pub fn release(&self, task: &str, loop_name: &str) -> Result<(), ClaimError> {
        let folder = self.folder(task)?.lock()?;
        if read(&folder)?.is_some_and(|held| held.loop_name == loop_name) {
            folder.remove(FILE)?;
        }
        Ok(())
    }
}

fn read(folder: &Folder) -> Result<Option<Claim>, ClaimError> {
    let Some(bytes) = folder.read(FILE, LARGEST)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| ClaimError::Unreadable {
            path: folder.path_of(FILE),
            what: error.to_string(),
        })
}
