//! The world that a conductor works in: threads for ticks, files, the clock.

use super::cadence::Plan;
use super::lock::{NotOurs, StartLock};
use super::look::{Found, Mark, was_stopped};
use super::{News, Start};
use crate::causes::with_causes;
use crate::driver::{self, Ticked};
use crate::interrupt::Interrupt;
use crate::notify;
use crate::setup::{Setup, Surroundings, read_config};
use crate::store::LoopDir;
use crate::watch::Watch;
use loop_core::Step;
use loop_core::outcome::{Error, Outcome};
use loop_core::time::Timestamp;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::Scope;
use std::time::Duration;

/// What reaches the conductor while it rests.
#[derive(Debug)]
pub(super) enum Message {
    /// Somebody rang.
    Bell,
    /// A tick of the loop with this number says what it does.
    News(usize, News),
    /// It is over, and the loop was read as this.
    Made(usize, Box<Ticked>, Option<Plan>),
}

/// What a conductor needs of the world. Loops are numbered.
pub(super) trait World {
    fn now(&self) -> Timestamp;
    fn interrupted(&self) -> bool;
    /// Waits for a message, at most this long.
    fn rest(&mut self, limit: Duration) -> Option<Message>;
    /// Reads how a loop is to be driven; `None` when its configuration is broken.
    fn plan(&mut self, loop_: usize) -> Option<Plan>;
    fn lock(&mut self, loop_: usize) -> Result<(), NotOurs>;
    fn unlock(&mut self, loop_: usize);
    fn mark(&mut self, loop_: usize) -> Mark;
    fn found(&mut self, loop_: usize) -> Option<Found>;
    fn was_stopped(&mut self, loop_: usize, seq: u64) -> bool;
    /// Starts a tick, whose end will be a message.
    fn begin(&mut self, loop_: usize);
}

/// The real one.
pub(super) struct Stage<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    around: &'env Surroundings,
    interrupt: &'env Interrupt,
    loops: Vec<Loop<'env>>,
    messages: Sender<Message>,
    inbox: Receiver<Message>,
}

struct Loop<'env> {
    name: &'env str,
    dir: LoopDir,
    lock: Option<StartLock>,
}

impl<'scope, 'env> Stage<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        around: &'env Surroundings,
        names: &'env [String],
        interrupt: &'env Interrupt,
        start: Start,
    ) -> Self {
        let loops = names.iter().map(|name| Loop {
            name,
            dir: LoopDir::new(around.project.loop_dir(name)),
            lock: None,
        });
        Self {
            scope,
            around,
            interrupt,
            loops: loops.collect(),
            messages: start.messages,
            inbox: start.inbox,
        }
    }
}

impl World for Stage<'_, '_> {
    fn now(&self) -> Timestamp {
        self.around.clock.now()
    }

    fn interrupted(&self) -> bool {
        self.interrupt.asked() > 0
    }

    fn rest(&mut self, limit: Duration) -> Option<Message> {
        // The other end is held here, so it is never gone.
        self.inbox.recv_timeout(limit).ok()
    }

    fn plan(&mut self, loop_: usize) -> Option<Plan> {
        let config = read_config(&self.around.project, self.loops[loop_].name);
        config.ok().map(|config| Plan::of(&config))
    }

    fn lock(&mut self, loop_: usize) -> Result<(), NotOurs> {
        let driven = &mut self.loops[loop_];
        driven.lock = Some(StartLock::acquire(&driven.dir)?);
        Ok(())
    }

    fn unlock(&mut self, loop_: usize) {
        self.loops[loop_].lock = None;
    }

    fn mark(&mut self, loop_: usize) -> Mark {
        Mark::of(&self.loops[loop_].dir)
    }

    fn found(&mut self, loop_: usize) -> Option<Found> {
        // What cannot be read is told of by the next tick.
        Found::read(&self.loops[loop_].dir).ok()
    }

    fn was_stopped(&mut self, loop_: usize, seq: u64) -> bool {
        was_stopped(&self.loops[loop_].dir, seq)
    }

    fn begin(&mut self, loop_: usize) {
        let (around, interrupt) = (self.around, self.interrupt);
        let name = self.loops[loop_].name;
        let messages = self.messages.clone();
        self.scope.spawn(move || {
            let mut reporter = Reporter { loop_, messages };
            let (ticked, plan) = make_tick(around, name, interrupt, &mut reporter);
            reporter.send(Message::Made(loop_, Box::new(ticked), plan));
        });
    }
}

/// Reads the loop as every tick does, so that a change of its configuration counts
/// from the next tick on, and makes the tick.
fn make_tick(
    around: &Surroundings,
    name: &str,
    interrupt: &Interrupt,
    watch: &mut dyn Watch,
) -> (Ticked, Option<Plan>) {
    match Setup::read(around, name) {
        Ok(setup) => {
            let ticked = driver::tick(&setup, interrupt, watch);
            notify::tell(&setup, &ticked.notices, interrupt, watch);
            (ticked, Some(Plan::of(&setup.config)))
        }
        Err(error) => {
            let outcome = Outcome::Error(Error::Config);
            let ticked = Ticked::without_state(outcome, with_causes(&error));
            (ticked, None)
        }
    }
}

/// Passes on what a tick does.
struct Reporter {
    loop_: usize,
    messages: Sender<Message>,
}

impl Reporter {
    fn send(&self, message: Message) {
        // The conductor waits for every tick that it began.
        let _gone = self.messages.send(message);
    }

    fn tell(&self, news: News) {
        self.send(Message::News(self.loop_, news));
    }
}

impl Watch for Reporter {
    fn opened(&mut self, tick: u64, task: Option<&str>) {
        let task = task.map(str::to_owned);
        self.tell(News::Opened { tick, task });
    }

    fn started(&mut self, step: Step) {
        self.tell(News::StepStarted(step));
    }

    fn ended(&mut self, step: Step, what: &str) {
        self.tell(News::StepEnded(step, what.to_owned()));
    }

    fn note(&mut self, message: &str) {
        self.tell(News::Note(message.to_owned()));
    }

    fn warning(&mut self, message: &str) {
        self.tell(News::Warning(message.to_owned()));
    }
}
