//! The tick of another version of the engine: counted, never decided.
//!
//! What that version decided is unknown here, so nothing of it is taken over.
//! What was spent counts in any case: a tick, an attempt, time and cost.

use super::work::unknown;
use super::{Machine, interrupted_why};
use crate::outcome::{Interruption, Outcome};
use crate::replay::{Bare, Fact, ForeignTask};
use crate::rules::Rules;
use crate::state::Running;
use crate::step::{Step, WorkTask};
use crate::time::Timestamp;

impl Machine {
    /// Takes in what every version understands of a record.
    pub(crate) fn take_foreign(&mut self, record: &Bare) {
        if record.fact != Fact::Other {
            self.now = record.at;
        }
        match &record.fact {
            Fact::Opened(opened) => {
                let number = opened.tick.unwrap_or(self.state.tick + 1);
                self.open_foreign(
                    record.seq,
                    number,
                    opened.task.clone(),
                    opened.rules.clone(),
                );
            }
            Fact::Began { step, pid } => self.begin_foreign(*step, record.at, *pid),
            Fact::Answer { elapsed_ms } => self.write_off(record.at, *elapsed_ms),
            Fact::Control { control, accepted } => {
                if *accepted {
                    // What it asked for is done as far as it applies here.
                    let _denied = self.control(record.seq, record.at, control);
                } else {
                    self.state.remember_control(&control.id);
                }
            }
            Fact::Other => {}
        }
    }

    fn open_foreign(
        &mut self,
        seq: u64,
        number: u64,
        task: Option<ForeignTask>,
        rules: Option<Rules>,
    ) {
        let rules = rules.unwrap_or_else(|| Rules {
            single: self.state.single,
            ..Rules::default()
        });
        let task = task.map(|task| WorkTask {
            name: task.name,
            phase: task.phase,
            phases: rules.phases.clone(),
            item: None,
        });
        self.rules = Some(rules);
        self.state.owed = None;
        self.ended = None;
        self.take_number(number, seq, String::new(), task);
    }

    /// Nothing is given back of an attempt: whether a fault around the loop cut
    /// it short is not understood here.
    fn begin_foreign(&mut self, step: Option<Step>, at: Timestamp, pid: u32) {
        match &mut self.tick {
            Some(tick) => tick.begun = true,
            None => self.owed_begun = true,
        }
        let Some(step) = step else { return };
        self.state.running = Some(Running {
            step,
            since: at,
            pid,
        });
        if matches!(step, Step::Implement | Step::Verify) {
            self.spend_held();
        }
        self.count(step);
        if step == Step::Implement
            && let Some(progress) = self.progress_mut()
        {
            progress.push_attempt(unknown());
        }
    }

    /// Says that the step that was begun in the tick of another version is over,
    /// and charges the time that it took.
    pub fn write_off(&mut self, at: Timestamp, elapsed_ms: u64) {
        self.now = at;
        self.spend_time(elapsed_ms);
        self.state.running = None;
        match &mut self.tick {
            Some(tick) => tick.begun = false,
            // An approved move was made: where the task is stands in its record.
            None => {
                self.state.owed = None;
                self.owed_begun = false;
            }
        }
    }

    /// Ends the tick that another version opened; a step of it may have begun.
    pub(crate) fn end_foreign(&mut self, engine: &str) {
        let Some(tick) = &self.tick else { return };
        let (begun, by) = (tick.begun, tick.stopping.unwrap_or(Interruption::Crash));
        let why = match by {
            Interruption::Crash => {
                format!("engine {engine} opened the tick and did not close it")
            }
            by => interrupted_why(by, None),
        };
        self.finish(Outcome::Interrupted(by), why);
        if let Some(tick) = &mut self.tick {
            tick.begun = begun;
        }
    }
}
