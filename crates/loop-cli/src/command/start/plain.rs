//! What happens as plain lines, where there is no terminal.

use super::words;
use crate::context::Context;
use crate::show;
use loop_core::Step;
use loop_runner::start::{Audience, News};

/// Prints results to standard output, and what is going on to standard error.
pub(super) struct Plain<'a> {
    context: &'a Context,
}

impl<'a> Plain<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self { context }
    }

    fn note(&self, text: String) {
        if !self.context.quiet {
            show::note(show::one_line(&text));
        }
    }
}

impl Audience for Plain<'_> {
    fn hear(&mut self, name: &str, news: &News) {
        match news {
            News::Opened { tick, task } => {
                let task = task.as_deref().unwrap_or("no task");
                self.note(format!("{name} tick {tick}: {task}"));
            }
            News::StepStarted(step) if calls(*step) => self.note(format!("{name} {step} ...")),
            News::StepStarted(_) => {}
            News::StepEnded(step, what) => self.note(format!("{name} {step}: {what}")),
            News::Note(text) => self.note(format!("{name} {text}")),
            News::Waits(wait) => self.note(words::waits(name, *wait)),
            News::Warning(_) | News::Ticked(_) | News::Over(_) => {
                for said in results(self.context, name, news) {
                    said.print();
                }
            }
        }
    }
}

/// A line that stays.
pub(super) enum Said {
    Fact(String),
    Warning(String),
}

impl Said {
    pub(super) fn print(&self) {
        match self {
            Self::Fact(line) => show::line(line),
            Self::Warning(line) => show::warning(line),
        }
    }
}

/// Returns what is shown of news however the rest is shown.
pub(super) fn results(context: &Context, name: &str, news: &News) -> Vec<Said> {
    let lines = match news {
        News::Warning(text) => return vec![Said::Warning(format!("{name}: {text}"))],
        News::Ticked(ticked) => words::ticked(context, name, ticked),
        News::Over(ending) => words::over(name, ending),
        _ => Vec::new(),
    };
    lines.into_iter().map(Said::Fact).collect()
}

/// Whether a step calls an agent, which takes its time.
fn calls(step: Step) -> bool {
    matches!(
        step,
        Step::Plan | Step::Implement | Step::Verify | Step::Orchestrate
    )
}
