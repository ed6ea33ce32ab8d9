//! What tells one writing of a file from another.

use super::walk::is_real;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Which file is at a path, and when it was changed last. The time of the last
/// change of an inode cannot be set by any program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    changed: (i64, i64),
    length: u64,
}

impl Identity {
    /// Looks at a path below `folder`, without following a link on the way; `None`
    /// when nothing is there.
    pub(super) fn of(folder: &Path, path: &Path) -> Option<Self> {
        let meta = folder.join(path).symlink_metadata().ok();
        Some(Self::from(&meta.filter(|_| is_real(folder, path))?))
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            changed: (meta.ctime(), meta.ctime_nsec()),
            length: meta.len(),
        }
    }
}
