//! How much content is read to learn the state of a workspace.
//!
//! An agent can make a file of any length at no cost, so without a limit it decides how long the
//! engine is busy. The limits are far above what a repository holds, and are checked against the
//! lengths that files say they have, before anything is read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// The most content that is read for one state, in bytes.
const MAX_ALL: u64 = 4 << 30;

/// What may still be read; shared by the threads that read.
#[derive(Debug)]
pub(super) struct Budget {
    file: u64,
    all: u64,
    used: AtomicU64,
    exceeded: AtomicBool,
}

impl Budget {
    /// The budget of a state that is taken in every tick, while nobody watches.
    pub(super) const fn of_state() -> Self {
        Self::new(MAX_FILE, MAX_ALL)
    }

    /// The budget of a comparison that a person asked for and can end. Only single files are
    /// limited, so that a large repository can be compared.
    pub(super) const fn of_comparison() -> Self {
        Self::new(MAX_FILE, u64::MAX)
    }

    /// A budget of `file` bytes for one file, and of `all` bytes for all of them.
    pub(super) const fn new(file: u64, all: u64) -> Self {
        Self {
            file,
            all,
            used: AtomicU64::new(0),
            exceeded: AtomicBool::new(false),
        }
    }

    /// Tells whether a file of `length` bytes may be read, and counts it.
    pub(super) fn admits(&self, length: u64) -> bool {
        let used = || self.used.fetch_add(length, Ordering::Relaxed);
        let fits = length <= self.file && used().saturating_add(length) <= self.all;
        if !fits {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// Tells whether a file was refused, so that the state is not known in full.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-19
    #[test]
    fn a_long_file_or_too_many_bytes_exceed_a_budget() {
        for (lengths, exceeded) in [
            (&[][..], false),
            (&[3, 3, 1], false),
            (&[3, 3, 1, 0], false),
            (&[3, 3, 2], true),
            (&[4], true),
            (&[u64::MAX, 1], true),
        ] {
            let budget = Budget::new(3, 7);
            let all_admitted = lengths.iter().all(|length| budget.admits(*length));
            assert_eq!(budget.is_exceeded(), exceeded, "{lengths:?}");
            assert_eq!(all_admitted, !exceeded, "{lengths:?}");
        }
    }
}
