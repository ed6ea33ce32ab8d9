//! Opening a loop: from its files to a machine that can go on.
//!
//! The numbers are those of the design: 1 read, 2 mend, 3 end what an earlier
//! process left running, 4 go on with its tick or close it. What waits in the
//! inbox is taken in by [`Held::drain`], the fifth.

use super::cache::Cached;
use super::error::{LogError, OpenError};
use super::file::{At, draft, is_own_folder, open_to_read, sync_folder};
use super::growth;
use super::held::{Held, outcome};
use super::journal::{Journal, Level};
use super::lock::Lock;
use super::log::{self, Log};
use super::paths::LoopDir;
use super::scan::{Tail, read_tail};
use crate::clock::Clock;
use crate::fault;
use crate::holder::Command;
use loop_core::Step;
use loop_core::answer::StepAnswer;
use loop_core::outcome::{Interruption, Outcome};
use loop_core::record::Body;
use loop_core::replay::Replayed;
use loop_core::step::Action;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A process of an earlier attempt that cannot be ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct AttemptAlive {
    /// Which one, and why it cannot be ended.
    pub why: String,
}

impl Held {
    /// Takes the loop's lock and makes the loop ready to go on.
    ///
    /// `engine` is the version of the engine. `end_stale` ends what is left of a
    /// step that an earlier process began and did not answer; it is called
    /// before that step counts as interrupted.
    ///
    /// Requests that wait are not taken in: the caller's next step is
    /// [`Held::drain`]. If the lock-holder died in a tick, either that tick is
    /// closed now ([`Machine::ended`](loop_core::Machine::ended) tells how), or
    /// [`Machine::action`](loop_core::Machine::action) says how it goes on.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; where it says that the log or the records cannot be
    /// trusted, no file was changed.
    pub fn open(
        dir: &LoopDir,
        engine: &str,
        clock: Arc<dyn Clock>,
        end_stale: impl FnOnce() -> Result<(), AttemptAlive>,
    ) -> Result<Self, OpenError> {
        let lock = Lock::acquire(dir)?;
        Self::open_locked(lock, dir, engine, clock, end_stale)
    }

    pub(super) fn open_locked(
        lock: Lock,
        dir: &LoopDir,
        engine: &str,
        clock: Arc<dyn Clock>,
        end_stale: impl FnOnce() -> Result<(), AttemptAlive>,
    ) -> Result<Self, OpenError> {
        for folder in [dir.control(), dir.outputs()] {
            is_own_folder(&folder)?;
        }
        fault::point("open.1");
        let found = Found::read(dir, engine)?;
        let machine = found.replay(dir)?.machine;

        fault::point("open.2");
        growth::clear_leftovers(dir)?;
        let mut held = Self {
            dir: dir.clone(),
            lock,
            log: found.log(dir)?,
            journal: Journal::open(dir)?,
            clock,
            found_open: machine.state().in_progress.is_some(),
            machine,
            engine: engine.to_owned(),
            latest: found.tail.records.iter().rev().find_map(outcome).cloned(),
            stuck: BTreeSet::new(),
            grown: growth::GROWN,
        };
        held.heal(&found.tail.torn)?;
        held.mend_cache(&found.cached)?;

        held.end_left_over(end_stale)?;
        held.end_interrupted()?;
        fault::point("open.5");
        Ok(held)
    }

    /// Answers a step that an earlier process began and did not end, once
    /// nothing of it is alive.
    fn end_left_over(
        &mut self,
        end_stale: impl FnOnce() -> Result<(), AttemptAlive>,
    ) -> Result<(), OpenError> {
        fault::point("open.3");
        if self.machine.begun() {
            end_stale()?;
            fault::point("open.3.ended");
            self.interrupt()?;
            fault::point("open.3.interrupted");
        }
        Ok(())
    }

    /// Closes a tick that was interrupted, as one is that another version of the
    /// engine opened. A tick that was interrupted in orchestrate goes on, and so
    /// does one that owes a move.
    fn end_interrupted(&mut self) -> Result<(), OpenError> {
        fault::point("open.4");
        match self.machine.action() {
            Some(Action::Close(closing))
                if matches!(closing.ended.outcome, Outcome::Interrupted(_)) =>
            {
                Ok(self.close()?)
            }
            _ => Ok(()),
        }
    }

    /// Answers the step that was begun as interrupted. Moves and copies are left:
    /// they are made again. A step of another version's tick has no answer: it is
    /// counted in the record that closes the tick.
    fn interrupt(&mut self) -> Result<(), OpenError> {
        if let Some(Action::Close(_)) = self.machine.action() {
            self.machine.write_off(self.now(), self.ran_at_most_ms());
            return Ok(());
        }
        let by = self.machine.stopping().unwrap_or(Interruption::Crash);
        let answer = StepAnswer::Interrupted(by);
        let step = self.machine.action().map(|action| action.step());
        if step.is_some_and(|step| answer.fits(step)) {
            self.answer(answer, self.ran_at_most_ms())?;
        }
        Ok(())
    }

    /// Returns how long the step that an earlier process began ran at the most,
    /// in milliseconds; 0 when none was begun.
    ///
    /// When it ended is unknown. Charging nothing would turn the cap on running
    /// time off (decision D-3), and the time since then may be a night: it ran no
    /// longer than its call may, grace included.
    fn ran_at_most_ms(&self) -> u64 {
        let Some(running) = self.machine.state().running else {
            return 0;
        };
        let longest = match self.machine.action() {
            Some(
                Action::Plan(call)
                | Action::Implement(call)
                | Action::Verify(call)
                | Action::Orchestrate(call),
            ) => Duration::from_millis(call.timeout_ms),
            _ => self.timeout_of(running.step),
        };
        let longest = longest.saturating_add(Command::GRACE).as_millis();
        let (now, began) = (self.now().unix_millis(), running.since.unix_millis());
        // A clock that was set back makes nothing negative.
        let since = u64::try_from(now.saturating_sub(began)).unwrap_or(0);
        since.min(u64::try_from(longest).unwrap_or(u64::MAX))
    }

    /// Returns the longest that a step may take by the rules of the tick.
    fn timeout_of(&self, step: Step) -> Duration {
        let rules = self.machine.rules();
        if let (Step::Arm | Step::Gate, Some(gate)) = (step, rules.and_then(|rules| rules.gate)) {
            return Duration::from_millis(gate.timeout_ms);
        }
        let call = step
            .role()
            .zip(rules)
            .and_then(|(role, rules)| rules.call(role));
        let longest = call.and_then(|call| call.harnesses.iter().map(|h| h.timeout_ms).max());
        longest.map_or(Command::TIMEOUT, Duration::from_millis)
    }

    /// Keeps the torn end of the log, cuts it off, and says so in the log. A
    /// crash in between is made good: what is kept under the next number was cut
    /// and not yet told.
    fn heal(&mut self, torn: &[u8]) -> Result<(), OpenError> {
        let kept = self.dir.torn(self.next_seq());
        let cut_bytes = if torn.is_empty() {
            match kept.symlink_metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                // Nothing that this engine has kept.
                Ok(other) if !other.is_file() => return Ok(()),
                metadata => metadata.at("read", &kept)?.len(),
            }
        } else {
            let draft = draft(self.dir.root(), torn).at("write", &kept)?;
            draft.as_file().sync_all().at("sync", &kept)?;
            draft
                .persist(&kept)
                .map_err(|error| error.error)
                .at("write", &kept)?;
            sync_folder(self.dir.root())?;
            fault::point("open.2.kept");
            self.log.cut_behind_end()?;
            fault::point("open.2.cut");
            torn.len() as u64
        };
        let healed = Body::Healed {
            cut_bytes,
            kept: kept.display().to_string(),
        };
        self.commit(self.machine.clone(), self.now(), healed)?;
        fault::point("open.2.healed");
        Ok(())
    }

    fn mend_cache(&mut self, cached: &Cached) -> Result<(), OpenError> {
        let current = match cached {
            Cached::Missing => self.log.seq() == 0,
            Cached::Found(found) => (found.seq, found.end) == (self.log.seq(), self.log.end()),
            Cached::Unreadable { why } => {
                let path = self.dir.cache();
                let what = format!(
                    "{} cannot be read and is rebuilt from {}: {why}",
                    path.display(),
                    self.log.path().display()
                );
                self.note(Level::Warning, &what);
                false
            }
        };
        if !current {
            // The cache must never know of a record that a power cut can take.
            self.log.sync()?;
            self.save_cache();
        }
        Ok(())
    }
}

/// What is found on disk, before anything is changed.
struct Found {
    tail: Tail,
    cached: Cached,
}

impl Found {
    fn read(dir: &LoopDir, engine: &str) -> Result<Self, LogError> {
        let cached = Cached::read(dir)?;
        let path = dir.events();
        let tail = match open_to_read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                cached.check_new(dir)?;
                Tail::default()
            }
            file => {
                let tail = read_tail(&file.at("open", &path)?, &path, engine)?;
                cached.check_against(dir, tail.seq)?;
                tail
            }
        };
        Ok(Self { tail, cached })
    }

    fn replay(&self, dir: &LoopDir) -> Result<Replayed, OpenError> {
        self.tail.fold().map_err(|source| OpenError::Replay {
            path: dir.events(),
            engine: self.tail.engine().map(str::to_owned),
            source,
        })
    }

    fn log(&self, dir: &LoopDir) -> Result<Log, OpenError> {
        let path = dir.events();
        let file = log::open_file(&path).at("open", &path)?;
        if self.tail.seq == 0 {
            // The first record must not be lost for want of the file's name.
            sync_folder(dir.root())?;
        }
        Ok(Log::new(file, path, self.tail.seq, self.tail.end))
    }
}
