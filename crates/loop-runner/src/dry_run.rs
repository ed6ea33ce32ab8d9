//! What the next tick would do, without doing it.

use crate::preview::{Preview, PreviewError, preview};
use crate::setup::Setup;
use crate::store::read_state;
use loop_core::rules::Rules;
use loop_core::state::State;
use loop_core::step::Ended;
use loop_core::{Machine, Role, Start};

/// The next tick, foretold.
#[derive(Debug)]
pub struct DryRun {
    /// Why it would do nothing, if it would.
    pub skipped: Option<Ended>,
    /// The task that the loop has now.
    pub task: Option<String>,
    /// What the implementer would be sent; `None` without a task.
    pub prompt: Option<Preview>,
    /// The loop's state.
    pub state: State,
}

/// Foretells the next tick. Takes no lock, starts and writes nothing; a source
/// other than `single` is not asked, because its answer may make a task.
///
/// # Errors
///
/// [`PreviewError`] when the state or what the role knows cannot be read.
pub fn dry_run(setup: &Setup) -> Result<DryRun, PreviewError> {
    let state = read_state(&setup.dir)?.state;
    let mut machine = Machine::new(state.clone());
    let start = Start {
        rules: Rules::of(&setup.config),
        now: setup.clock.now(),
    };
    // A machine that was just made is not busy.
    let skipped = match machine.start(start) {
        Ok(()) => machine.ended().cloned(),
        Err(_) => None,
    };
    let configured = setup.config.work_source().task.as_ref();
    Ok(DryRun {
        skipped,
        task: state
            .current_task
            .clone()
            .or_else(|| configured.map(|task| task.as_str().to_owned())),
        prompt: match preview(setup, Role::Implement, None) {
            Ok(shown) => Some(shown),
            Err(PreviewError::NoTask { .. }) => None,
            Err(error) => return Err(error),
        },
        state,
    })
}
