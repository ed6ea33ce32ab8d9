//! What the next tick would do, without doing it.

use crate::causes::with_causes;
use crate::driver::not_opened;
use crate::interrupt::Interrupt;
use crate::preview::{NextTask, Preview, PreviewError, preview_of};
use crate::setup::Setup;
use crate::sources::{Notes, survey};
use crate::store::read_state;
use crate::tasks::ReadError;
use crate::trust;
use loop_core::config::WorkSourceKind;
use loop_core::outcome::{Outcome, Skip};
use loop_core::state::State;
use loop_core::step::Ended;
use loop_core::time::Timestamp;
use loop_core::{Answer, Machine, Reply, Role, Start, Step, Work};
use loop_worksource::{Item, Standing, Surveyed};

/// The next tick, foretold.
#[derive(Debug)]
pub struct DryRun {
    /// Why it would do nothing, if it would.
    pub skipped: Option<Ended>,
    /// The task that it would work on.
    pub task: Option<String>,
    /// The item behind that task; `None` for the source `single`.
    pub item: Option<Item>,
    /// What its source says for people.
    pub notes: Notes,
    /// What the implementer would be sent; `None` without a task.
    pub prompt: Option<Preview>,
    /// The loop's state.
    pub state: State,
}

/// Foretells the next tick. Takes no lock of the loop's, makes no task and claims
/// none. Nothing is started but the program of a `command` source, and of a loop that
/// is not trusted not even that.
///
/// # Errors
///
/// [`PreviewError`] when the state or what the role knows cannot be read.
pub fn dry_run(setup: &Setup) -> Result<DryRun, PreviewError> {
    let state = read_state(&setup.dir)?.state;
    let mut machine = Machine::new(state.clone());
    let start = Start {
        rules: setup.rules(),
        now: setup.clock.now(),
    };
    // What is owed from earlier work keeps a machine that was just made busy.
    let skipped = match (trust::check(setup), machine.start(start)) {
        (Err(untrusted), _) => Some(not_opened(
            Outcome::Skipped(Skip::Untrusted),
            with_causes(&untrusted),
        )),
        (Ok(()), Ok(())) => machine.ended().cloned(),
        (Ok(()), Err(_)) => None,
    };
    let untrusted =
        matches!(&skipped, Some(ended) if ended.outcome == Outcome::Skipped(Skip::Untrusted));
    let mut foretold = DryRun {
        skipped,
        task: None,
        item: None,
        notes: Notes::new(),
        prompt: None,
        state,
    };
    let brief = match setup.config.work_source().kind() {
        WorkSourceKind::Single => {
            let configured = setup.config.work_source().task.as_ref();
            let current = foretold.state.current_task.clone();
            foretold.task = current.or_else(|| configured.map(|task| task.as_str().to_owned()));
            None
        }
        // Its program is not started either.
        WorkSourceKind::Command if untrusted => None,
        WorkSourceKind::Audit | WorkSourceKind::Backlog | WorkSourceKind::Command => {
            foretold.ask_source(setup, &mut machine)
        }
    };
    let next = NextTask {
        name: foretold.task.clone().unwrap_or_default(),
        brief,
    };
    foretold.prompt = match preview_of(setup, &foretold.state, Role::Implement, None, &next) {
        Ok(shown) => Some(shown),
        Err(PreviewError::NoTask { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(foretold)
}

impl DryRun {
    /// Looks for the item that would be taken; returns its brief if its task is
    /// yet to be made.
    fn ask_source(&mut self, setup: &Setup, machine: &mut Machine) -> Option<String> {
        let nothing = match survey(setup, &self.state, &Interrupt::default()) {
            Ok((surveyed, notes)) => {
                self.notes = notes;
                let mut items = surveyed.into_iter();
                match items.find(|item| item.standing == Standing::Open) {
                    Some(next) => return self.take(setup, next),
                    None => Work::Nothing(Skip::NoWork),
                }
            }
            Err(error) => Work::Failed {
                what: error.to_string(),
            },
        };
        self.end(machine, nothing, setup.clock.now());
        None
    }

    fn take(&mut self, setup: &Setup, next: Surveyed) -> Option<String> {
        let made = setup.tasks.read(&next.task);
        let brief = matches!(made, Err(ReadError::Missing { .. })).then(|| next.item.brief());
        self.task = Some(next.task);
        self.item = Some(next.item);
        brief
    }

    /// Lets the machine say how a tick without work ends.
    fn end(&mut self, machine: &mut Machine, nothing: Work, at: Timestamp) {
        let Some(fence) = machine.fence().filter(|fence| fence.step == Step::FindWork) else {
            return;
        };
        let reply = Reply {
            at,
            elapsed_ms: 0,
            bill: None,
            answer: Answer::Work(nothing),
        };
        if machine.answer(fence, reply).is_ok() {
            self.skipped = machine.ended().cloned();
        }
    }
}
