//! The event store: one loop's truth, its lock, its inbox and its readers.
//!
//! `events.jsonl` is the truth; only the process that holds the loop's `.lock`
//! appends to it. [`Held`] is that process's view: it keeps the machine that
//! decides and the log in step, so that replaying the log gives the machine's
//! state. Everybody else reads without a lock ([`read_state`], [`records`]) or
//! leaves a request in `control/` ([`submit`], [`request()`]).

mod cache;
mod drain;
mod error;
mod file;
mod growth;
mod held;
mod inbox;
mod journal;
mod journal_lines;
mod lock;
mod log;
mod open;
mod paths;
mod read;
mod render;
mod request;
mod restore;
mod scan;

#[cfg(test)]
mod tests;

pub use drain::Taken;
pub use error::{HeldError, LogError, OpenError, ReadError};
pub use file::FileError;
pub(crate) use file::{draft, open_to_write};
pub use held::{Held, Took};
pub use inbox::{SubmitError, submit};
pub use journal::Level;
pub(crate) use journal::note_outside;
pub use journal_lines::{JournalLines, journal_lines};
pub use open::AttemptAlive;
pub use paths::LoopDir;
pub use read::{Records, Snapshot, read_state, records, records_after};
pub use request::{Answered, RequestError, request};
