//! Contents that need not be read again.
//!
//! Whoever writes to a file changes the time of its last status change, and no program can set that
//! time: `utime` and its like set the others, and this one with them to the present. A file that has
//! the same device, number, length, mode and times as when it was read therefore holds what was read,
//! but for a change within the same tick of the file system's clock. So nothing is remembered of a
//! file that had changed within the last two seconds before it was read.
//!
//! What was seen is kept in this process only, where no agent can change it. Left out are those who
//! can do as they like anyway: one with the rights to set the machine's clock or to write to the
//! disk below the file system.

use std::{
    collections::HashMap,
    fs::Metadata,
    os::unix::fs::MetadataExt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::snapshot::Entry;

/// How long a file has to have been as it is. Some file systems count in whole seconds.
const SETTLED: Duration = Duration::from_secs(2);
/// The most files of which something is remembered; beyond, everything is forgotten.
const MAX_SEEN: usize = 1_000_000;

/// What can be seen of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) mode: u32,
    pub(super) length: u64,
    pub(super) modified: (i64, i64),
    pub(super) changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            mode: meta.mode(),
            length: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    const fn key(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

type Known = HashMap<(u64, u64), (Stamp, Entry)>;

/// What was read of files, for all states that one process takes.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Arc<Known>>);

impl Seen {
    /// Begins to take a state.
    pub(super) fn pass(&self) -> Pass {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Pass {
            known: Arc::clone(&known),
            settled: now.unwrap_or_default().saturating_sub(SETTLED),
        }
    }

    /// Remembers what was read in a pass.
    pub(super) fn remember(&self, pass: Pass, read: Vec<(Stamp, Entry)>) {
        // Nobody else then holds it, and it need not be copied.
        drop(pass);
        if read.is_empty() {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::make_mut(&mut known);
        if known.len() + read.len() > MAX_SEEN {
            known.clear();
        }
        known.extend(
            read.into_iter()
                .map(|(stamp, entry)| (stamp.key(), (stamp, entry))),
        );
    }
}

/// What was known when a state began to be taken.
#[derive(Debug)]
pub(super) struct Pass {
    known: Arc<Known>,
    /// The time since when nothing may have changed, since 1970.
    settled: Duration,
}

impl Pass {
    /// Returns what a file holds, if it was read and not changed since.
    pub(super) fn find(&self, stamp: &Stamp) -> Option<Entry> {
        let (known, entry) = self.known.get(&stamp.key())?;
        (known == stamp).then_some(*entry)
    }

    /// Tells whether what is read of a file now may be remembered.
    pub(super) fn is_settled(&self, stamp: &Stamp) -> bool {
        let (seconds, nanos) = stamp.changed;
        match (u64::try_from(seconds), u32::try_from(nanos)) {
            (Ok(seconds), Ok(nanos)) => Duration::new(seconds, nanos) < self.settled,
            // A clock from before 1970 tells nothing.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{hash_file::blob_id, snapshot::EntryKind};

    fn stamp(changed: i64) -> Stamp {
        Stamp {
            device: 1,
            inode: 2,
            mode: 3,
            length: 4,
            modified: (5, 6),
            changed: (changed, 7),
        }
    }

    // rows: D-19
    // cases: 89
    #[test]
    fn a_file_is_known_only_as_it_was_when_it_was_read() {
        let entry = Entry {
            kind: EntryKind::File,
            id: blob_id(b"x").unwrap(),
        };
        let seen = Seen::default();
        seen.remember(seen.pass(), vec![(stamp(100), entry)]);
        assert_eq!(seen.pass().find(&stamp(100)), Some(entry));
        let others: [fn(&mut Stamp); 7] = [
            |stamp| stamp.device += 1,
            |stamp| stamp.inode += 1,
            |stamp| stamp.mode += 1,
            |stamp| stamp.length += 1,
            |stamp| stamp.modified.1 += 1,
            |stamp| stamp.changed.0 += 1,
            |stamp| stamp.changed.1 += 1,
        ];
        for (at, change) in others.into_iter().enumerate() {
            let mut other = stamp(100);
            change(&mut other);
            assert_eq!(seen.pass().find(&other), None, "{at}");
        }
    }

    // rows: D-19
    // cases: 89
    #[test]
    fn a_file_that_has_just_changed_is_not_remembered() {
        let pass = Pass {
            known: Arc::default(),
            settled: Duration::new(100, 7),
        };
        for (changed, is_settled) in [(99, true), (100, false), (101, false), (-1, false)] {
            assert_eq!(pass.is_settled(&stamp(changed)), is_settled, "{changed}");
        }
        let seen = Seen::default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        assert!(!seen.pass().is_settled(&stamp(now - 1)));
        assert!(seen.pass().is_settled(&stamp(now - 10)));
    }
}
