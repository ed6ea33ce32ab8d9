//! Taking in the requests that wait in the inbox.

use super::error::HeldError;
use super::file::{FileError, remove};
use super::held::Held;
use super::inbox::{self, Message};
use super::journal::Level;
use crate::fault;
use loop_core::control::Control;
use loop_core::record::{Body, Requested};

/// How many entries of the inbox are looked at, one after the other, before the
/// driver looks at its step again.
pub(super) const AT_ONCE: usize = 256;

/// A request that was taken in, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The number of its record.
    pub seq: u64,
    /// The request and the answer to it.
    pub requested: Requested,
}

impl Held {
    /// Takes in the requests that wait, up to 256 of them. To be called before
    /// each action, at least once a second while a step runs, and before a tick
    /// is started.
    ///
    /// Each is on disk as a record before its file goes; one that was taken in
    /// before is not done again. What cannot be read is set aside. An entry that
    /// cannot be moved or removed stays, with a warning: anybody may leave one,
    /// and it must not hold up what others ask for.
    ///
    /// # Errors
    ///
    /// [`HeldError`] when a record could not be written or the inbox not be
    /// read; requests that were not taken in wait for the next time.
    pub fn drain(&mut self) -> Result<Vec<Taken>, HeldError> {
        let mut taken = Vec::new();
        for path in inbox::waiting(self.dir(), &self.stuck, AT_ONCE)? {
            let Some(message) = inbox::read(path) else {
                continue;
            };
            fault::point("drain.read");
            match &message.control {
                Err(why) => self.set_aside(&message, why),
                Ok(control) => {
                    if !self.machine().knows(&control.id) {
                        taken.push(self.take(control)?);
                    }
                    if !message.stays_in(self.machine().state().in_progress) {
                        self.clear(&message);
                    }
                }
            }
        }
        Ok(taken)
    }

    fn take(&mut self, control: &Control) -> Result<Taken, HeldError> {
        let (at, seq) = (self.now(), self.next_seq());
        let mut machine = self.machine().clone();
        let (accepted, said) = match machine.control(seq, at, control) {
            Ok(granted) => (true, granted.what),
            Err(denied) => (false, denied.why),
        };
        let requested = Requested {
            control: control.clone(),
            accepted,
            said,
        };
        self.commit(machine, at, Body::Control(requested.clone()))?;
        fault::point("drain.recorded");
        Ok(Taken { seq, requested })
    }

    /// Removes the file of a request that was taken in.
    fn clear(&mut self, message: &Message) {
        match remove(&message.path) {
            Ok(()) => fault::point("drain.removed"),
            Err(error) => self.leave(message, &error),
        }
    }

    fn set_aside(&mut self, message: &Message, why: &str) {
        match inbox::set_aside(self.dir(), &message.path) {
            Ok(kept) => {
                fault::point("drain.set_aside");
                let what = format!(
                    "a request cannot be read and was set aside: {why}; kept={}",
                    kept.display()
                );
                self.note(Level::Warning, &what);
            }
            Err(error) => self.leave(message, &error),
        }
    }

    /// Leaves an entry where it is, and says so once.
    fn leave(&mut self, message: &Message, error: &FileError) {
        let what = format!(
            "an entry of the inbox stays where it is: {error}: {}",
            error.source
        );
        self.note(Level::Warning, &what);
        self.stuck.insert(message.path.clone());
    }
}
