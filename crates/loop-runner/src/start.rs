//! The foreground driver: makes the ticks of one loop, or of all, until there is
//! nothing left to do.
//!
//! One thread decides, and sleeps until the next thing is due: a tick, or a look
//! at what people have changed from other terminals. A tick has a thread while it
//! runs, and a loop that is idle has none. What is told goes to an [`Audience`].
//!
//! ```no_run
//! use loop_runner::interrupt::Interrupt;
//! use loop_runner::setup::Surroundings;
//! use loop_runner::start::{Audience, News, Options, Start};
//!
//! struct Printed;
//!
//! impl Audience for Printed {
//!     fn hear(&mut self, name: &str, news: &News) {
//!         if let News::Over(ending) = news {
//!             println!("{name}: {}", ending.outcome);
//!         }
//!     }
//! }
//!
//! fn drive(around: &Surroundings) -> Option<u8> {
//!     let options = Options {
//!         names: vec!["fix".to_owned()],
//!         max_ticks: None,
//!         jobs: 1.try_into().ok()?,
//!         keeps_waiting: false,
//!     };
//!     // A handler of signals calls `ask`, and rings `start.bell()`.
//!     let interrupt = Interrupt::new();
//!     let start = Start::new();
//!     let finished = start.run(around, &options, &interrupt, &mut Printed);
//!     Some(finished.exit_code())
//! }
//! ```

mod cadence;
mod conductor;
mod ending;
mod entry;
mod lock;
mod look;
mod stage;

#[cfg(test)]
mod tests;

pub use ending::{Ending, Finished};

use crate::driver::Ticked;
use crate::interrupt::Interrupt;
use crate::setup::Surroundings;
use conductor::Conductor;
use loop_core::Step;
use loop_core::time::Timestamp;
use stage::{Message, Stage};
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// What is to be driven, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// The loops.
    pub names: Vec<String>,
    /// Numbered ticks that each of them gets; no such limit when absent.
    pub max_ticks: Option<u64>,
    /// Ticks that run at the same time. A loop that works in the project itself
    /// always ticks alone: others would take its changes for somebody else's.
    pub jobs: NonZeroUsize,
    /// Whether a loop that waits for a person is kept, and goes on when it is
    /// approved, as long as another one has something to do. Else it is over.
    pub keeps_waiting: bool,
}

/// What happens to a loop.
#[derive(Debug)]
pub enum News {
    /// A tick was opened.
    Opened {
        /// Its number.
        tick: u64,
        /// The task that it works on.
        task: Option<String>,
    },
    /// A step starts.
    StepStarted(Step),
    /// A step has ended, and how, in a few words.
    StepEnded(Step, String),
    /// Something worth knowing before anything is spent.
    Note(String),
    /// Something that a person should hear about.
    Warning(String),
    /// A tick was made, or skipped for another reason than the one before.
    Ticked(Box<Ticked>),
    /// It waits for something that is not a time. Told once.
    Waits(Wait),
    /// It is not driven any more.
    Over(Box<Ending>),
}

/// What a loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The end of another tick of it.
    Tick,
    /// The end of another foreground driver of it; its process, if it said so.
    Driver(Option<u32>),
    /// The end of a pause.
    Resume,
    /// A person's approval.
    Person,
}

/// What a loop is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Its next tick is due at this time; a past one waits for a free place.
    Due(Timestamp),
    /// It is in a tick.
    Ticking,
    /// It waits.
    Waiting(Wait),
    /// It is not driven any more.
    Over,
}

/// Hears what happens. It is called from the thread that called [`Start::run`].
pub trait Audience {
    /// Something happened to the loop called `name`.
    fn hear(&mut self, name: &str, news: &News);

    /// Nothing is to be done at the moment; called at least once in a few seconds
    /// with what every loop is doing, in the order of their names.
    fn rest(&mut self, now: Timestamp, loops: &mut dyn Iterator<Item = (&str, Doing)>) {
        let _unused = (now, loops);
    }
}

/// Wakes a driver that rests, for example after a signal.
#[derive(Clone, Debug)]
pub struct Bell {
    messages: Sender<Message>,
}

impl Bell {
    /// Rings it.
    pub fn ring(&self) {
        // Nobody is there any more to be woken.
        let _gone = self.messages.send(Message::Bell);
    }
}

/// A driver that is about to start.
#[derive(Debug)]
pub struct Start {
    messages: Sender<Message>,
    inbox: Receiver<Message>,
}

impl Default for Start {
    fn default() -> Self {
        Self::new()
    }
}

impl Start {
    /// Makes a driver.
    #[must_use]
    pub fn new() -> Self {
        let (messages, inbox) = mpsc::channel();
        Self { messages, inbox }
    }

    /// Returns what wakes it: whoever calls [`Interrupt::ask`] rings, so that a
    /// driver that rests ends at once.
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell {
            messages: self.messages.clone(),
        }
    }

    /// Drives the loops until all are over, only wait for a person, or `interrupt`
    /// was asked: then the running ticks are ended as [`tick`](crate::driver::tick)
    /// ends them.
    ///
    /// It holds one open file for each loop, a lock, so that a second driver of the
    /// same loop waits for the end of this one.
    pub fn run(
        self,
        around: &Surroundings,
        options: &Options,
        interrupt: &Interrupt,
        audience: &mut dyn Audience,
    ) -> Finished {
        thread::scope(|scope| {
            let stage = Stage::new(scope, around, &options.names, interrupt, self);
            Conductor::new(stage, options, audience).run()
        })
    }
}
