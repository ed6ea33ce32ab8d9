//! One value that stands for the state of a workspace.

use std::{fmt, str::FromStr, sync::atomic::AtomicBool};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::hex;

use super::{
    snapshot::{Reach, Snapshot, SnapshotError},
    workspace::Workspace,
};

/// The state of a workspace as one value, rendered as 64 hexadecimal digits.
///
/// Two equal values mean the same files with the same contents, executable bits and link targets,
/// whether or not they were committed. See [`Snapshot`] for what is covered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TreeHash(String);

/// Tells that a text is not a tree hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tree hash: {0:?}")]
pub struct InvalidTreeHash(String);

impl TreeHash {
    /// Hashes the project's part of a workspace.
    ///
    /// Returns `None` when the state is unknown, which counts as changed; see [`Snapshot::take`].
    ///
    /// # Errors
    ///
    /// Those of [`Snapshot::take`].
    pub fn of(workspace: &Workspace, stop: &AtomicBool) -> Result<Option<Self>, SnapshotError> {
        Ok(Snapshot::take(workspace, Reach::Project, stop)?.map(|snapshot| snapshot.tree_hash()))
    }

    /// Returns the 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Snapshot {
    /// Returns the value that stands for this state.
    #[must_use]
    pub fn tree_hash(&self) -> TreeHash {
        let mut hash = Sha256::new();
        for (path, entry) in &self.entries {
            hash.update(entry.line(path.as_ref()));
        }
        TreeHash(hex(&hash.finalize()))
    }
}

impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TreeHash {
    type Err = InvalidTreeHash;

    fn from_str(text: &str) -> Result<Self, InvalidTreeHash> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for TreeHash {
    type Error = InvalidTreeHash;

    fn try_from(text: String) -> Result<Self, InvalidTreeHash> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() == 64 && text.bytes().all(is_digit) {
            Ok(Self(text))
        } else {
            Err(InvalidTreeHash(text))
        }
    }
}

impl From<TreeHash> for String {
    fn from(hash: TreeHash) -> Self {
        hash.0
    }
}
