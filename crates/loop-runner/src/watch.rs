//! What a person can see of a running tick.

use loop_core::Step;
use loop_core::state::Frozen;
use loop_core::step::Ended;
use std::path::Path;

/// Is told what a tick does, as it does it. All methods have empty defaults.
pub trait Watch {
    /// A tick was opened.
    fn opened(&mut self, tick: u64, task: Option<&str>) {
        let _unused = (tick, task);
    }

    /// A step starts.
    fn started(&mut self, step: Step) {
        let _unused = step;
    }

    /// A step has ended; `what` says how, in a few words.
    fn ended(&mut self, step: Step, what: &str) {
        let _unused = (step, what);
    }

    /// The acceptance gate was frozen; its record says what it is made of.
    fn frozen(&mut self, gate: &Frozen) {
        let _unused = gate;
    }

    /// Something worth knowing before anything is spent.
    fn note(&mut self, message: &str) {
        let _unused = message;
    }

    /// Something that a person should hear about, though the tick goes on.
    fn warning(&mut self, message: &str) {
        let _unused = message;
    }

    /// The tick, or the look for work, is over.
    fn over(&mut self, ended: &Ended, outputs: &Path) {
        let _unused = (ended, outputs);
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatch;

impl Watch for NoWatch {}
