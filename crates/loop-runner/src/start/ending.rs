//! How driving a loop, and all of them, ended.

use loop_core::exit;
use loop_core::outcome::Outcome;
use loop_core::state::State;

/// How one loop ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The outcome; `done` when there is nothing left to do.
    pub outcome: Outcome,
    /// Why, in one line.
    pub why: String,
    /// Numbered ticks that were made.
    pub ticks: u64,
    /// The loop's state afterwards, if it could be read.
    pub state: Option<State>,
}

/// How all of them ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Every loop with its ending, in the order in which they were given.
    pub loops: Vec<(String, Ending)>,
    /// Whether a signal ended it.
    pub interrupted: bool,
}

impl Finished {
    /// Returns the exit code: 130 after a signal, else that of the first loop that
    /// ended in an error, else that of the first that is not done.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.interrupted {
            return exit::INTERRUPTED;
        }
        let codes = || self.loops.iter().map(|(_, end)| end.outcome.exit_code());
        let is_error = |code: &u8| matches!(*code, exit::FAILED | exit::USAGE);
        codes()
            .find(is_error)
            .or_else(|| codes().find(|code| *code != exit::DONE))
            .unwrap_or(exit::DONE)
    }
}
