//! Claims: which loop works on a task, so that no two do.

use super::error::ClaimError;
use super::folder::Folder;
use super::{Tasks, check_name};
use crate::project::holds_loop;
use loop_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

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
    /// The loop's folder, absolute; `None` in a claim by another program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

/// What came of asking for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The task is the asking loop's: since now, or since an earlier tick.
    Ours(Claim),
    /// The task is the asking loop's since now. It was another loop's that is gone,
    /// whose claim this is.
    TakenOver(Claim),
    /// Another loop works on it.
    Theirs(Claim),
}

impl Tasks {
    /// Claims a task for a loop. Exactly one of any number of loops gets it, and
    /// that one may ask again. The claim of a loop that is gone holds nobody off.
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
            home: self.loops.join(loop_name).to_str().map(str::to_owned),
        };
        let text = serde_json::to_string(&asked).expect("texts always have a JSON form");
        if folder.add(FILE, &mut text.as_bytes())? {
            return Ok(Claimed::Ours(asked));
        }
        let held = read(&folder)?.unwrap_or(asked);
        if held.loop_name == loop_name {
            return Ok(Claimed::Ours(held));
        }
        if self.is_there(&held) {
            return Ok(Claimed::Theirs(held));
        }
        folder.replace(FILE, text.as_bytes())?;
        Ok(Claimed::TakenOver(held))
    }

    /// Tells whether the loop of a claim is still there: in the folder that the claim
    /// names, or among this project's loops, since a project can be moved.
    fn is_there(&self, claim: &Claim) -> bool {
        let name = claim.loop_name.as_str();
        let home = claim.home.as_deref().map(Path::new);
        // An agent can have written this. Another loop's folder is none of its loop.
        let is_own =
            |home: &&Path| home.is_absolute() && home.file_name() == Some(OsStr::new(name));
        home.filter(is_own).is_some_and(holds_loop)
            || (check_name(name).is_ok() && holds_loop(&self.loops.join(name)))
    }

    /// Returns who works on a task, if anyone does; a loop that is gone does not.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the claim cannot be read.
    pub fn claimed(&self, task: &str) -> Result<Option<Claim>, ClaimError> {
        let held = read(&self.folder(task)?)?;
        Ok(held.filter(|held| self.is_there(held)))
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
            let held = read(&self.folder(task)?)?;
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
