//! What is owed outside a tick: moves that a person has approved, and items that
//! their source has to be told of. No agent is started for either.

use super::perform;
use crate::clock::Clock;
use crate::interrupt::Interrupt;
use crate::setup::Setup;
use crate::sources;
use crate::store::{Held, HeldError};
use crate::tasks::Tasks;
use loop_core::StepAnswer;
use loop_core::step::Action;

/// What is needed to do it.
pub(super) struct Means<'a> {
    pub(super) tasks: &'a Tasks,
    pub(super) name: &'a str,
    pub(super) clock: &'a dyn Clock,
    /// The loop, if its items may be finished now: that can run a program.
    pub(super) source: Option<(&'a Setup, &'a Interrupt)>,
}

/// Does what is owed, as far as it can be done now. Afterwards the machine asks
/// for what could not.
///
/// # Errors
///
/// [`HeldError`] when a record could not be written.
pub(super) fn make(held: &mut Held, means: &Means<'_>) -> Result<(), HeldError> {
    loop {
        let (answer, elapsed) = match (held.machine().action(), means.source) {
            (Some(Action::Advance(advance)), _) => {
                held.begin()?;
                perform::advance(means.tasks, means.name, means.clock, &advance)
            }
            (Some(Action::Finish(finishing)), Some((setup, interrupt))) => {
                held.begin()?;
                let started = means.clock.monotonic();
                let (answer, notes) =
                    sources::finish(setup, &finishing, &mut || sources::until(interrupt));
                for (level, note) in notes {
                    held.note(level, &note);
                }
                (answer, perform::since(means.clock, started))
            }
            _ => return Ok(()),
        };
        let failed = matches!(answer, StepAnswer::Failed(_));
        held.answer(answer, elapsed)?;
        if failed {
            return Ok(());
        }
    }
}
