//! A loop's record that was removed while a tick ran, as `git clean -fdx` does.
//!
//! The engine still knows what was spent. If the next tick found nothing, every
//! limit would start from zero.

use super::error::OpenError;
use super::file::{At, sync_folder};
use super::held::Held;
use super::lock::Lock;
use super::log;
use loop_core::outcome::{Error, Outcome};
use loop_core::record::{Body, Closed, Record};
use std::io::Write;

impl Held {
    /// Writes the state down anew where its record was, so that what was spent
    /// stays spent. A loop that is gone altogether stays gone, and a record that
    /// somebody else has begun stays theirs. Returns whether it was written.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the system refused.
    pub fn restore(&self) -> Result<bool, OpenError> {
        if !self.dir.root().join("loop.json").is_file() {
            return Ok(false);
        }
        let events = self.dir.events();
        let _lock = Lock::acquire(&self.dir)?;
        if events.symlink_metadata().is_ok() {
            return Ok(false);
        }
        let mut state = self.machine.state().clone();
        state.in_progress = None;
        state.running = None;
        let outcome = Outcome::Error(Error::StateRemoved);
        state.last_outcome = Some(outcome.clone());
        let record = Record {
            seq: self.log.seq() + 1,
            at: self.now(),
            body: Body::Closed(Box::new(Closed {
                tick: state.tick,
                outcome,
                why: "the loop's record was removed while a tick ran, and is written anew"
                    .to_owned(),
                state,
            })),
        };
        let mut line = serde_json::to_vec(&record)
            .map_err(std::io::Error::from)
            .at("write", &events)?;
        line.push(b'\n');
        let mut file = log::open_file(&events).at("make", &events)?;
        file.write_all(&line).at("write", &events)?;
        file.sync_all().at("sync", &events)?;
        sync_folder(self.dir.root())?;
        Ok(true)
    }
}
