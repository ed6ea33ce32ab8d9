//! A look at what a harness says while it runs: what it has used, and whether it
//! has said its last word.

use loop_core::answer::Cap;
use loop_core::profile::{Profile, Reader, Used};
use loop_core::step::Budget;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a harness that has said its last word may take to exit.
const LINGER: Duration = Duration::from_secs(30);
/// How long a harness may stand in the same trouble.
const TROUBLE: Duration = Duration::from_secs(300);
/// The most that is read in one look, in bytes.
const LOOK: usize = 1024 * 1024;

/// Why a call does not go on, though nobody asked for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enough {
    /// What it has used has reached a cap.
    Capped(Cap),
    /// It has said its last word, and has not exited since.
    Done,
    /// It tells of an error and tries again, without end.
    Stuck,
}

/// The output of a harness that runs, read as it grows.
pub(super) struct Tail<'p> {
    reader: Reader<'p>,
    budget: Budget,
    /// The file; none as long as there is none.
    file: Option<File>,
    read: u64,
    looked: Instant,
    done: Option<Instant>,
    /// How long it may stand in trouble, and since when it does.
    patience: Duration,
    trouble: Option<Instant>,
}

impl<'p> Tail<'p> {
    /// Follows a call. An error that stands longer than `idle` is no sign of life.
    pub(super) fn new(profile: &'p Profile, budget: Budget, idle: Option<Duration>) -> Self {
        Self {
            reader: Reader::new(profile),
            budget,
            file: None,
            read: 0,
            looked: Instant::now(),
            done: None,
            patience: idle.map_or(TROUBLE, |idle| idle.min(TROUBLE)),
            trouble: None,
        }
    }

    /// Reads on in the file at `path`, and says whether the call has had enough.
    pub(super) fn look(&mut self, path: &Path) -> Option<Enough> {
        if self.looked.elapsed() >= PAUSE {
            self.looked = Instant::now();
            self.read_on(path);
        }
        if let Some(cap) = self.over() {
            return Some(Enough::Capped(cap));
        }
        if self.done.is_some_and(|since| since.elapsed() >= LINGER) {
            return Some(Enough::Done);
        }
        let stuck = self
            .trouble
            .is_some_and(|since| since.elapsed() >= self.patience);
        stuck.then_some(Enough::Stuck)
    }

    /// Returns what has been used so far.
    pub(super) fn used(&self) -> Used {
        self.reader.used()
    }

    /// Whether it has said its last word.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    fn over(&self) -> Option<Cap> {
        let used = self.reader.used();
        if let (Some(cost), Some(left)) = (used.cost, self.budget.usd)
            && cost >= left
        {
            return Some(Cap::Cost);
        }
        let (tokens, left) = (used.tokens?.total(), self.budget.tokens?);
        (tokens >= left).then_some(Cap::Tokens)
    }

    /// What cannot be read is read at the call's end, from what the holder kept.
    fn read_on(&mut self, path: &Path) {
        if self.file.is_none() {
            self.file = open(path);
        }
        let Some(file) = &self.file else { return };
        let mut chunk = vec![0; LOOK];
        let Ok(length) = file.read_at(&mut chunk, self.read) else {
            return;
        };
        self.read += length as u64;
        self.reader.push(&chunk[..length]);
        match self.reader.in_trouble() {
            true => {
                self.trouble.get_or_insert_with(Instant::now);
            }
            false => self.trouble = None,
        }
        if self.reader.is_done() {
            self.done.get_or_insert_with(Instant::now);
        }
    }
}

/// Opens a regular file, without waiting and through no link.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    file.metadata()
        .is_ok_and(|meta| meta.is_file())
        .then_some(file)
}
