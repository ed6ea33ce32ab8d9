//! A loop while its lock is held: the machine and the log in step.

use super::cache;
use super::error::HeldError;
use super::file::FileError;
use super::inbox;
use super::journal::{Journal, Level};
use super::lock::Lock;
use super::log::Log;
use super::paths::LoopDir;
use super::read::Snapshot;
use crate::clock::Clock;
use crate::fault;
use loop_core::answer::{Answer, Reply, StepAnswer, Work};
use loop_core::bill::Bill;
use loop_core::outcome::{Interruption, Outcome};
use loop_core::record::{Answered, Body, Closed, Opened, Record};
use loop_core::rules::Rules;
use loop_core::step::{Action, Ended};
use loop_core::time::Timestamp;
use loop_core::{Fence, Machine, Refused, Start};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A loop while its lock is held.
///
/// Each input is first given to a copy of the machine; if the machine takes it,
/// its record is appended, and only then does the copy take the machine's place.
/// So an input that is refused writes nothing, and a write that fails changes
/// nothing. The lock is freed when the value is dropped.
///
/// A driver is this, whoever performs the steps:
///
/// ```no_run
/// # use loop_core::{Action, StepAnswer, Work, rules::Rules};
/// # use loop_runner::clock::SystemClock;
/// # use loop_runner::store::{Held, LoopDir};
/// # use std::sync::Arc;
/// # fn drive(
/// #     dir: &LoopDir,
/// #     rules: Rules,
/// #     find: impl Fn() -> Work,
/// #     perform: impl Fn(Action) -> (StepAnswer, u64),
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let mut held = Held::open(dir, "0.1.0", Arc::new(SystemClock::new()), || Ok(()))?;
/// held.drain()?;
/// if held.machine().action().is_none() {
///     held.start(rules)?;
/// }
/// while let Some(action) = held.machine().action() {
///     match action {
///         Action::FindWork => held.work(find())?,
///         Action::Open(_) => held.open_tick("0123456789abcdef")?,
///         Action::Close(_) => held.close()?,
///         step => {
///             if step.step().acts_outside() {
///                 held.begin()?;
///             }
///             let (answer, elapsed_ms) = perform(step);
///             held.answer(answer, elapsed_ms)?;
///         }
///     }
///     held.drain()?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Held {
    pub(super) dir: LoopDir,
    pub(super) lock: Lock,
    pub(super) log: Log,
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) machine: Machine,
    pub(super) engine: String,
    /// How the latest tick, or look for work, ended, as the log has it.
    pub(super) latest: Option<Outcome>,
    /// Whether the open tick was opened by an earlier process.
    pub(super) found_open: bool,
    /// Entries of the inbox that can neither be moved nor removed.
    pub(super) stuck: BTreeSet<PathBuf>,
    /// The size from which on a closed log is put aside, in bytes.
    pub(super) grown: u64,
}

/// What a step took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// Milliseconds, from a clock that only goes forward.
    pub elapsed_ms: u64,
    /// What the call of a harness used.
    pub bill: Option<Bill>,
}

impl From<u64> for Took {
    fn from(elapsed_ms: u64) -> Self {
        Self {
            elapsed_ms,
            bill: None,
        }
    }
}

impl Held {
    /// Returns the machine, which says what to do next.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the names of the loop's files.
    #[must_use]
    pub fn dir(&self) -> &LoopDir {
        &self.dir
    }

    /// Returns how the latest tick, or look for work, ended, as the log has it.
    #[must_use]
    pub fn latest(&self) -> Option<&Outcome> {
        self.latest.as_ref()
    }

    /// Whether the open tick was opened by an earlier process. While its loop is
    /// paused, such a tick stays open, and only moves that it owes are made.
    #[must_use]
    pub fn found_open(&self) -> bool {
        self.found_open && self.machine.state().in_progress.is_some()
    }

    /// Looks whether a tick may work, and asks for work if so. Nothing is
    /// written: a tick begins with [`Held::open_tick`].
    ///
    /// # Errors
    ///
    /// [`HeldError::Refused`] while a tick is open or a move is owed.
    pub fn start(&mut self, rules: Rules) -> Result<(), HeldError> {
        let now = self.now();
        Ok(self.machine.start(Start { rules, now })?)
    }

    /// Hands the work source's answer in. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`HeldError::Refused`] when work was not asked for.
    pub fn work(&mut self, work: Work) -> Result<(), HeldError> {
        let reply = self.reply(Answer::Work(work), 0);
        let fence = self.fence()?;
        Ok(self.machine.answer(fence, reply)?)
    }

    /// Ends a look for work that a signal cut short. Nothing is written.
    pub fn abandon(&mut self, by: Interruption) {
        self.machine.abandon(by);
    }

    /// Opens the tick that is asked for; `nonce` is sixteen random hex digits.
    ///
    /// # Errors
    ///
    /// [`HeldError`]; the machine and the log are as they were.
    pub fn open_tick(&mut self, nonce: &str) -> Result<(), HeldError> {
        let Some(Action::Open(open)) = self.machine.action() else {
            return Err(self.not_asked());
        };
        let rules = self.machine.rules().ok_or(Refused::Stale)?.clone();
        let answer = Answer::Opened {
            seq: self.next_seq(),
            nonce: nonce.to_owned(),
        };
        let reply = self.reply(answer, 0);
        let (at, fence) = (reply.at, self.fence()?);
        let mut machine = self.machine.clone();
        machine.answer(fence, reply)?;
        let opened = Opened {
            tick: open.tick,
            engine: self.engine.clone(),
            rules,
            task: open.task,
            nonce: nonce.to_owned(),
        };
        self.commit(machine, at, Body::Opened(opened))?;
        self.found_open = false;
        fault::point("step.opened");
        Ok(())
    }

    /// Records that the step that is asked for is about to start; when it
    /// returns, the record is on disk. A step that is asked for again after an
    /// earlier process began it is done without a second record.
    ///
    /// # Errors
    ///
    /// [`HeldError`]; the machine and the log are as they were.
    pub fn begin(&mut self) -> Result<(), HeldError> {
        let fence = self.fence()?;
        if fence.step.is_asked_again() && self.machine.begun() {
            return Ok(());
        }
        let (at, pid) = (self.now(), std::process::id());
        let mut machine = self.machine.clone();
        machine.begin(fence, at, pid)?;
        let tick = machine.state().in_progress;
        self.commit(machine, at, Body::Began { tick, fence, pid })?;
        fault::point("step.begun");
        Ok(())
    }

    /// Records how the step that is asked for ended, and what it took.
    ///
    /// # Errors
    ///
    /// [`HeldError`]; the machine and the log are as they were.
    pub fn answer(&mut self, answer: StepAnswer, took: impl Into<Took>) -> Result<(), HeldError> {
        let Took { elapsed_ms, bill } = took.into();
        let fence = self.fence()?;
        let mut reply = self.reply(Answer::Step(answer.clone()), elapsed_ms);
        reply.bill.clone_from(&bill);
        let at = reply.at;
        let tick = self.machine.state().in_progress;
        let mut machine = self.machine.clone();
        machine.answer(fence, reply)?;
        let answered = Answered {
            tick,
            fence,
            elapsed_ms,
            bill,
            answer,
        };
        self.commit(machine, at, Body::Answer(answered))?;
        fault::point("step.answered");
        Ok(())
    }

    /// Closes the tick with the whole state; when it returns, the record is on
    /// disk. [`Machine::ended`] then says how the tick ended.
    ///
    /// # Errors
    ///
    /// [`HeldError`]; the machine and the log are as they were.
    pub fn close(&mut self) -> Result<(), HeldError> {
        let Some(Action::Close(closing)) = self.machine.action() else {
            return Err(self.not_asked());
        };
        let tick = self.machine.state().tick;
        let reply = self.reply(Answer::Closed, 0);
        let (at, fence) = (reply.at, self.fence()?);
        let mut machine = self.machine.clone();
        machine.answer(fence, reply)?;
        let closed = Closed {
            tick,
            outcome: closing.ended.outcome,
            why: closing.ended.why,
            // As the machine has it afterwards: the time of closing is in it.
            state: machine.state().clone(),
        };
        self.commit(machine, at, Body::Closed(Box::new(closed)))?;
        self.found_open = false;
        fault::point("close.recorded");
        // Both are made good later: by the next drain, and by the next close.
        if let Err(error) = inbox::clear_transition(&self.dir, tick) {
            self.warn(&error);
        }
        fault::point("close.cleared");
        if let Err(error) = self.put_aside_if_grown() {
            self.warn(&error);
        }
        Ok(())
    }

    /// Records a look for work that opened no tick, if it ended otherwise than
    /// the one before.
    ///
    /// # Errors
    ///
    /// [`HeldError`] when the record could not be written.
    pub fn idle(&mut self, ended: &Ended) -> Result<(), HeldError> {
        if self.latest.as_ref() == Some(&ended.outcome) {
            return Ok(());
        }
        let idle = Body::Idle {
            outcome: ended.outcome.clone(),
            why: ended.why.clone(),
        };
        self.commit(self.machine.clone(), self.now(), idle)
    }

    /// Writes a line to `.state.log`, and nothing else.
    pub fn note(&mut self, level: Level, message: &str) {
        let now = self.now();
        self.journal.write(now, level, message);
    }

    /// Appends the record of an input that `machine` has taken, and swaps.
    pub(super) fn commit(
        &mut self,
        machine: Machine,
        at: Timestamp,
        body: Body,
    ) -> Result<(), HeldError> {
        // Before each record: a second writer must find nothing half done by us.
        if !self.lock.is_ours_alone() {
            return Err(HeldError::StateRemoved {
                path: self.lock.path().to_owned(),
            });
        }
        let synced = body.needs_sync();
        let record = self.log.append(at, body)?;
        self.machine = machine;
        if let Some(outcome) = outcome(&record) {
            self.latest = Some(outcome.clone());
        }
        if synced {
            self.save_cache();
        }
        self.journal.record(&record);
        Ok(())
    }

    /// Replaces the cache. The record is safe without it, and readers see that
    /// it is old, so a failure is only worth a line.
    pub(super) fn save_cache(&mut self) {
        let snapshot = Snapshot {
            state: self.machine.state().clone(),
            seq: self.log.seq(),
            end: self.log.end(),
        };
        if let Err(error) = cache::write(&self.dir, &snapshot) {
            self.warn(&error);
        }
    }

    fn warn(&mut self, error: &FileError) {
        self.note(Level::Warning, &format!("{error}: {}", error.source));
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.log.seq() + 1
    }

    fn fence(&self) -> Result<Fence, Refused> {
        self.machine.fence().ok_or(Refused::Stale)
    }

    fn reply(&self, answer: Answer, elapsed_ms: u64) -> Reply {
        Reply {
            at: self.now(),
            elapsed_ms,
            bill: None,
            answer,
        }
    }

    fn not_asked(&self) -> HeldError {
        HeldError::Refused(match self.machine.action() {
            Some(action) => Refused::NoAnswerTo {
                asked: action.step(),
            },
            None => Refused::Stale,
        })
    }
}

/// Returns the outcome that a record tells, if it tells one.
pub(super) fn outcome(record: &Record) -> Option<&Outcome> {
    match &record.body {
        Body::Idle { outcome, .. } => Some(outcome),
        Body::Closed(closed) => Some(&closed.outcome),
        _ => None,
    }
}
