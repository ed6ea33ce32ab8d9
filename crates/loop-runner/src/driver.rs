//! The standard driver: asks the machine what to do, does it, and answers.

mod check;
mod gate;
mod inside;
mod owed;
mod perform;
mod plan;
mod receipt;
mod request;

pub use request::request;

use crate::causes::with_causes;
use crate::gate::clean_up as gate_clean_up;
use crate::holder::{self, Wish};
use crate::interrupt::Interrupt;
use crate::nonce::random_bits;
use crate::setup::Setup;
use crate::sources;
use crate::store::{
    AttemptAlive, Held, HeldError, Level, LoopDir, OpenError, Snapshot, read_state,
};
use crate::trust;
use crate::watch::Watch;
use loop_core::bill::Usage;
use loop_core::config::WorkSourceKind;
use loop_core::notice::{Call, Notice, notices};
use loop_core::outcome::{Error, Interruption, Outcome, Skip};
use loop_core::state::State;
use loop_core::step::{Action, Ended};
use loop_core::{Machine, Step, StepAnswer};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The engine's version, as it stands in the records; a replay never crosses two.
pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// How long the process of an earlier attempt is waited for before it is ended.
const STALE_PATIENCE: Duration = Duration::from_secs(10);

/// Why a call made no tick of its own while the loop is paused in one.
const STAYS_OPEN: &str = "the loop is paused, and its open tick waits";

/// What came of one tick.
#[derive(Clone, Debug)]
pub struct Ticked {
    /// How it ended.
    pub ended: Ended,
    /// The loop's state afterwards; `None` when it could not be opened.
    pub state: Option<State>,
    /// What people are to be told of it: see [`notify::tell`](crate::notify::tell).
    pub notices: Vec<Notice>,
}

impl Ticked {
    /// A tick that ended before the loop was opened, as a wrong configuration
    /// or another running tick ends it.
    #[must_use]
    pub fn without_state(outcome: Outcome, why: String) -> Self {
        Self {
            ended: not_opened(outcome, why),
            state: None,
            notices: Vec::new(),
        }
    }
}

/// Opens a loop for driving it.
///
/// # Errors
///
/// [`OpenError`] when another process drives it, or its files cannot be trusted.
pub fn open(setup: &Setup) -> Result<Held, OpenError> {
    Held::open(&setup.dir, ENGINE, Arc::clone(&setup.clock), || {
        end_stale(&setup.dir)
    })
}

/// Makes sure that nothing of an earlier attempt is alive.
fn end_stale(dir: &LoopDir) -> Result<(), AttemptAlive> {
    match holder::end_stale(&dir.step_lock(), STALE_PATIENCE) {
        Ok(_) => Ok(()),
        Err(error) => Err(AttemptAlive {
            why: error.to_string(),
        }),
    }
}

/// Makes one tick. Whatever happens, it ends on one path, and what it says is
/// in the loop's records.
pub fn tick(setup: &Setup, interrupt: &Interrupt, watch: &mut dyn Watch) -> Ticked {
    let ticked = match (trust::check(setup), setup.check_runnable()) {
        // Nothing of it is started, whatever else is to be said of it.
        (Err(untrusted), _) => {
            let outcome = Outcome::Skipped(Skip::Untrusted);
            Ticked::without_state(outcome, with_causes(&untrusted))
        }
        (Ok(()), Ok(())) => opened_tick(setup, interrupt, watch),
        (Ok(()), Err(error)) => {
            Ticked::without_state(Outcome::Error(Error::Config), with_causes(&error))
        }
    };
    if ticked.ended.outcome != Outcome::Skipped(Skip::Locked) {
        // What is there is of somebody else's tick.
        watch.over(&ticked.ended, &setup.dir.outputs());
    }
    ticked
}

fn opened_tick(setup: &Setup, interrupt: &Interrupt, watch: &mut dyn Watch) -> Ticked {
    match open(setup) {
        Ok(held) => Driver::new(setup, held, interrupt, watch).tick(),
        Err(error) => Ticked::without_state(error.outcome(), with_causes(&error)),
    }
}

/// Gives back the loop's claims on tasks that it does not work on: those of a
/// single loop that are no longer its own, and those that it has put aside.
/// While a tick runs, that tick does it at its end. A claim that cannot be given
/// back is only in another loop's way, and is tried again by the next tick.
pub fn release_claims(setup: &Setup) {
    let Ok(Snapshot { state, .. }) = read_state(&setup.dir) else {
        return;
    };
    if state.in_progress.is_some() {
        return;
    }
    let single = setup.config.work_source().kind() == WorkSourceKind::Single;
    // Another source may come back to a task that it has begun.
    let begun = state.progress.keys().filter(|_| !single);
    let keep = begun
        .filter(|task| !state.parked.contains_key(*task))
        .chain(&state.current_task)
        .map(String::as_str)
        .collect();
    let _tried_again = setup.tasks.release_others(&setup.name, &keep);
}

/// An ending for what could not even be opened.
pub(crate) fn not_opened(outcome: Outcome, why: String) -> Ended {
    let why = match outcome {
        Outcome::Skipped(Skip::Locked) => format!("another tick is running: {why}"),
        _ => why,
    };
    Ended {
        outcome,
        why,
        tick: None,
        task: None,
        phase: None,
        iteration: 0,
        verdict: None,
        gate: None,
        violations: Vec::new(),
        complete: false,
        worktree: None,
        used: Usage::default(),
    }
}

fn is_crash(outcome: &Outcome) -> bool {
    *outcome == Outcome::Interrupted(Interruption::Crash)
}

/// One tick in the making.
struct Driver<'a> {
    setup: &'a Setup,
    held: Held,
    interrupt: &'a Interrupt,
    watch: &'a mut dyn Watch,
    /// SHA-256 of each role's prompt of this tick.
    prompts: BTreeMap<String, String>,
    /// What went wrong with the store while a step ran.
    broken: Option<HeldError>,
}

impl<'a> Driver<'a> {
    fn new(
        setup: &'a Setup,
        held: Held,
        interrupt: &'a Interrupt,
        watch: &'a mut dyn Watch,
    ) -> Self {
        Self {
            setup,
            held,
            interrupt,
            watch,
            prompts: BTreeMap::new(),
            broken: None,
        }
    }

    fn tick(mut self) -> Ticked {
        let before = self.machine().state().clone();
        let latest = self.held.latest().cloned();
        let ended = match self.drive() {
            Ok(ended) => ended,
            Err(error) => {
                // What was spent must stay spent, whoever took the record away.
                if matches!(error, HeldError::StateRemoved { .. })
                    && let Err(lost) = self.held.restore()
                {
                    self.watch.warning(&with_causes(&lost));
                }
                let mut ended = not_opened(error.outcome(), with_causes(&error));
                ended.tick = self.held.machine().state().in_progress;
                ended
            }
        };
        let state = self.held.machine().state().clone();
        let notices = notices(&Call {
            name: &self.setup.name,
            max_cost: self.setup.config.brakes().max_cost(),
            before: &before,
            latest: latest.as_ref(),
            after: &state,
            ended: &ended,
        });
        Ticked {
            ended,
            state: Some(state),
            notices,
        }
    }

    fn drive(&mut self) -> Result<Ended, HeldError> {
        for warning in &self.setup.warnings {
            let shown = warning.with_file("loop.json").to_string();
            self.held.note(Level::Warning, &shown);
            self.watch.warning(&shown);
        }
        // A checkout that a killed engine left behind is in nobody's way.
        if let Err(error) = gate_clean_up(self.setup) {
            self.warn(&[error.to_string()]);
        }
        self.held.drain()?;
        let goes_on = self.held.found_open();
        if goes_on {
            self.run()?;
        }
        match self.machine().ended().cloned() {
            // It is told of, and this call makes a tick of its own. Opening the
            // loop has closed it already, unless it went on.
            Some(ended) if is_crash(&ended.outcome) => {
                let tick = ended.tick.unwrap_or_default();
                self.warn(&[format!("tick {tick} was interrupted: {}", ended.why)]);
            }
            Some(ended) if goes_on => return Ok(ended),
            None if goes_on => {
                return Ok(not_opened(
                    Outcome::Skipped(Skip::Paused),
                    STAYS_OPEN.to_owned(),
                ));
            }
            _ => {}
        }
        if let Some(ended) = self.make_owed()? {
            return Ok(ended);
        }
        self.held.start(self.setup.rules())?;
        self.run()?;
        release_claims(self.setup);
        let Some(ended) = self.machine().ended().cloned() else {
            return Err(HeldError::Refused(loop_core::Refused::Stale));
        };
        if ended.tick.is_none() && !matches!(ended.outcome, Outcome::Interrupted(_)) {
            self.held.idle(&ended)?;
        }
        Ok(ended)
    }

    /// Does what is owed outside a tick. What cannot be done ends the call: it
    /// comes before any other work.
    fn make_owed(&mut self) -> Result<Option<Ended>, HeldError> {
        let setup = self.setup;
        if self.machine().state().paused {
            // It waits for the end of the pause like all other work.
            if self.machine().action().is_some() {
                self.held.start(setup.rules())?;
            }
        } else {
            let means = owed::Means {
                tasks: &setup.tasks,
                name: &setup.name,
                clock: &*setup.clock,
                source: Some((setup, self.interrupt)),
            };
            owed::make(&mut self.held, &means)?;
        }
        if self.machine().action().is_none() {
            return Ok(None);
        }
        let ended = self.machine().ended().cloned();
        let ended = ended.ok_or(HeldError::Refused(loop_core::Refused::Stale))?;
        self.held.idle(&ended)?;
        Ok(Some(ended))
    }

    /// Does what the machine asks for until the tick is closed, or asks for what
    /// a pause holds back.
    fn run(&mut self) -> Result<(), HeldError> {
        loop {
            self.held.drain()?;
            let Some(action) = self.machine().action() else {
                return Ok(());
            };
            let calls = !matches!(
                action,
                Action::Advance(_)
                    | Action::Receipt(_)
                    | Action::Report(_)
                    | Action::SetAside(_)
                    | Action::Close(_)
            );
            if self.held.found_open() && self.machine().state().paused && calls {
                return Ok(());
            }
            if let Some(broken) = self.broken.take() {
                return Err(broken);
            }
            let closes = matches!(action, Action::Close(_));
            self.perform(action)?;
            if closes {
                // What is owed from here on is owed outside the tick.
                return Ok(());
            }
        }
    }

    fn machine(&self) -> &Machine {
        self.held.machine()
    }

    fn perform(&mut self, action: Action) -> Result<(), HeldError> {
        let step = action.step();
        let may_end = StepAnswer::Interrupted(Interruption::Signal).fits(step);
        if let Some(by) = self.stopping().filter(|_| may_end) {
            return self.held.answer(StepAnswer::Interrupted(by), 0);
        }
        match action {
            Action::FindWork if self.stopping().is_some() => {
                self.held.abandon(Interruption::Signal);
                Ok(())
            }
            Action::FindWork => {
                self.watch.started(Step::FindWork);
                let (setup, state) = (self.setup, self.machine().state().clone());
                let (work, notes) = sources::next(setup, &state, &mut || self.poll_for_work());
                self.tell(notes);
                if self.stopping().is_some() {
                    self.held.abandon(Interruption::Signal);
                } else if self.looks_for_work() {
                    self.held.work(work)?;
                }
                Ok(())
            }
            Action::Open(open) => {
                self.held.open_tick(&format!("{:016x}", random_bits()))?;
                let task = open.task.as_ref().map(|task| task.name.as_str());
                self.watch.opened(open.tick, task);
                if open.tick == 1 {
                    self.tell_of_missing_caps();
                }
                Ok(())
            }
            Action::Worktree(place) => self.worktree(&place),
            Action::Plan(call) => self.plan(&call),
            Action::Baseline(place) => self.baseline(&place),
            Action::Arm(check) => self.arm(&check),
            Action::Tree(place) => self.tree(&place),
            Action::Scope(check) => self.scope(&check),
            Action::Gate(check) => self.gate(&check),
            Action::SetAside(check) => self.set_aside(&check),
            Action::Finish(finishing) => self.finish(&finishing),
            Action::Implement(call) => self.implement(&call),
            Action::Verify(call) => self.verify(&call),
            Action::Orchestrate(call) => self.orchestrate(&call),
            Action::Receipt(verified) => self.receipt(&verified),
            Action::Report(report) => self.report(&report),
            Action::Advance(advance) => {
                self.held.begin()?;
                self.watch.started(Step::Advance);
                let (answer, elapsed) = perform::advance(
                    &self.setup.tasks,
                    &self.setup.name,
                    &*self.setup.clock,
                    &advance,
                );
                self.watch
                    .ended(Step::Advance, &format!("to {}", advance.to));
                self.held.answer(answer, elapsed)
            }
            Action::Close(_) => self.held.close(),
        }
    }

    /// Returns why the tick has to end, if it has to.
    fn stopping(&self) -> Option<Interruption> {
        let signaled = (self.interrupt.asked() > 0).then_some(Interruption::Signal);
        self.machine().stopping().or(signaled)
    }

    /// Looks, while a step runs, at what people ask for and at signals.
    fn poll(&mut self) -> Wish {
        if self.broken.is_none()
            && let Err(error) = self.held.drain()
        {
            self.broken = Some(error);
        }
        match (self.stopping(), self.interrupt.asked()) {
            (_, 2..) => Wish::Kill,
            (Some(_), _) => Wish::End,
            (None, _) if self.broken.is_some() => Wish::End,
            (None, _) => Wish::GoOn,
        }
    }

    /// The same while work is looked for, which a pause calls off.
    fn poll_for_work(&mut self) -> Wish {
        match self.poll() {
            Wish::GoOn if !self.looks_for_work() => Wish::End,
            wish => wish,
        }
    }

    fn looks_for_work(&self) -> bool {
        matches!(self.machine().action(), Some(Action::FindWork))
    }

    /// Says before the first call what has no cap (decision D-3).
    fn tell_of_missing_caps(&mut self) {
        for words in self.setup.config.uncapped(&self.setup.harnesses) {
            self.held.note(Level::Info, &words);
            self.watch.note(&words);
        }
    }

    /// Passes on what a work source said.
    fn tell(&mut self, notes: sources::Notes) {
        for (level, note) in notes {
            self.held.note(level, &note);
            if level != Level::Info {
                self.watch.warning(&note);
            }
        }
    }

    fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.held.note(Level::Warning, warning);
            self.watch.warning(warning);
        }
    }
}
