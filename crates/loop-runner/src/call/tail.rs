//! An ear on what a harness says while it runs: what it has used, and whether it
//! has said its last word.

use loop_core::answer::Cap;
use loop_core::profile::{Profile, Reader, Used};
use loop_core::step::Budget;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a harness that has said its last word may take to exit.
const LINGER: Duration = Duration::from_secs(30);
/// How long a harness may stand in the same trouble.
const TROUBLE: Duration = Duration::from_secs(300);
/// How long its last words may take to arrive once everything of it is gone.
const LAST_WORDS: Duration = Duration::from_secs(2);

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

/// The output of a harness that runs, read as it comes.
pub(super) struct Tail<'p> {
    heard: Mutex<Heard<'p>>,
    budget: Budget,
    /// How long it may stand in trouble.
    patience: Duration,
    /// Whether everything of the call is gone.
    over: AtomicBool,
}

struct Heard<'p> {
    reader: Reader<'p>,
    done: Option<Instant>,
    trouble: Option<Instant>,
}

impl<'p> Tail<'p> {
    /// Follows a call. An error that stands longer than `idle` is no sign of life.
    pub(super) fn new(profile: &'p Profile, budget: Budget, idle: Option<Duration>) -> Self {
        Self {
            heard: Mutex::new(Heard {
                reader: Reader::new(profile),
                done: None,
                trouble: None,
            }),
            budget,
            patience: idle.map_or(TROUBLE, |idle| idle.min(TROUBLE)),
            over: AtomicBool::new(false),
        }
    }

    /// Hears everything, until the call is over and has no more to say.
    pub(super) fn follow(&self, output: &Receiver<Vec<u8>>) {
        let mut give_up = None;
        loop {
            match output.recv_timeout(LAST_WORDS / 10) {
                Ok(piece) => self.heard().hear(&piece),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Somebody who was given the pipe may keep it open, and may even write into it.
            if self.over.load(Ordering::Relaxed) {
                let until = *give_up.get_or_insert_with(|| Instant::now() + LAST_WORDS);
                if Instant::now() >= until {
                    return;
                }
            }
        }
    }

    /// Says that everything of the call is gone.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Says whether the call has had enough.
    pub(super) fn look(&self) -> Option<Enough> {
        let heard = self.heard();
        if let Some(since) = heard.done {
            // What it has used is used: ending it now would only lose its work.
            return (since.elapsed() >= LINGER).then_some(Enough::Done);
        }
        if let Some(cap) = self.over_budget(heard.reader.used()) {
            return Some(Enough::Capped(cap));
        }
        let stuck = heard
            .trouble
            .is_some_and(|since| since.elapsed() >= self.patience);
        stuck.then_some(Enough::Stuck)
    }

    /// Returns what has been used so far.
    pub(super) fn used(&self) -> Used {
        self.heard().reader.used()
    }

    /// Whether it has said its last word.
    pub(super) fn is_done(&self) -> bool {
        self.heard().done.is_some()
    }

    /// Returns the reader of all that was heard.
    pub(super) fn into_reader(self) -> Reader<'p> {
        let heard = self.heard.into_inner();
        heard.unwrap_or_else(PoisonError::into_inner).reader
    }

    fn over_budget(&self, used: Used) -> Option<Cap> {
        if let (Some(cost), Some(left)) = (used.cost, self.budget.usd)
            && cost >= left
        {
            return Some(Cap::Cost);
        }
        let (tokens, left) = (used.tokens?.total(), self.budget.tokens?);
        (tokens >= left).then_some(Cap::Tokens)
    }

    fn heard(&self) -> MutexGuard<'_, Heard<'p>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard<'_> {
    fn hear(&mut self, piece: &[u8]) {
        self.reader.push(piece);
        since(&mut self.trouble, self.reader.in_trouble());
        // Who goes on after its last word has not said it yet.
        since(&mut self.done, self.reader.is_done());
    }
}

/// Keeps since when something `is` so.
fn since(time: &mut Option<Instant>, is: bool) {
    if is {
        time.get_or_insert_with(Instant::now);
    } else {
        *time = None;
    }
}
