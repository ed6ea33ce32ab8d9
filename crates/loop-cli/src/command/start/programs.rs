//! What happens as JSON, a line each.

use super::words;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::report::TickReport;
use loop_core::state::State;
use loop_runner::driver::Ticked;
use loop_runner::setup::Setup;
use loop_runner::start::{Audience, Finished, News};
use serde_json::json;

/// Prints the outcome of every tick, and at last how each loop ended.
pub(super) struct Programs<'a> {
    context: &'a Context,
    failed: Option<Failure>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            failed: None,
        }
    }

    fn ticked(&self, name: &str, ticked: &Ticked) -> Result<(), Failure> {
        let setup = Setup::read(&self.context.around, name);
        let rules = setup.ok().map(|setup| setup.rules());
        let unknown = State::new();
        let state = ticked.state.as_ref().unwrap_or(&unknown);
        let code = ticked.ended.outcome.exit_code();
        let report = TickReport::new(name, &ticked.ended, state, rules.as_ref(), code);
        show::json(&report)
    }

    /// Prints how it ended.
    pub(super) fn end(self, finished: &Finished) -> Result<(), Failure> {
        let loops = finished.loops.iter().map(|(name, ending)| {
            json!({
                "name": name,
                "outcome": ending.outcome.as_str(),
                "reason": ending.outcome.reason(),
                "ticks": ending.ticks,
                "why": ending.why,
                "do": words::what(name, ending),
                "exit": ending.outcome.exit_code(),
            })
        });
        let loops: Vec<_> = loops.collect();
        show::json(&json!({"v": 1, "loops": loops, "exit": finished.exit_code()}))?;
        self.failed.map_or(Ok(()), Err)
    }
}

impl Audience for Programs<'_> {
    fn hear(&mut self, name: &str, news: &News) {
        match news {
            News::Ticked(ticked) => {
                if let Err(failure) = self.ticked(name, ticked) {
                    self.failed = Some(failure);
                }
            }
            News::Waits(wait) if !self.context.quiet => show::note(words::waits(name, *wait)),
            News::Warning(text) => show::warning(&format!("{name}: {text}")),
            _ => {}
        }
    }
}
