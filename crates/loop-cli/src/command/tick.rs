//! `loop tick`: one tick, the unit that timers, CI and people all call.

use crate::args::Tick;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::Step;
use loop_core::explain::what_to_do;
use loop_core::outcome::{Outcome, Skip};
use loop_core::report::TickReport;
use loop_core::rules::Rules;
use loop_core::state::State;
use loop_core::step::Ended;
use loop_runner::driver::{self, Ticked};
use loop_runner::setup::Setup;
use loop_runner::watch::Watch;
use std::path::Path;

/// Makes one tick.
pub(crate) fn run(context: &Context, args: &Tick) -> Result<u8, Failure> {
    context.person_only("make a tick")?;
    let setup = context.setup(&args.name)?;
    setup.check_runnable()?;
    let interrupt = signals::interrupt().map_err(|error| Failure::of(&error))?;
    let mut view = View::new(!context.quiet && !args.json);
    let ticked = driver::tick(&setup, &interrupt, &mut view);
    let outcome = &ticked.ended.outcome;
    let code = if args.exit_code {
        outcome.exit_code()
    } else {
        outcome.plain_exit_code()
    };
    if args.json {
        show::json(&report(&setup, &ticked, code))?;
    } else {
        tell(&setup, &ticked.ended, context.quiet);
    }
    Ok(code)
}

fn report(setup: &Setup, ticked: &Ticked, code: u8) -> TickReport {
    let rules = Rules::of(&setup.config);
    let unknown = State::new();
    let state = ticked.state.as_ref().unwrap_or(&unknown);
    TickReport::new(&setup.name, &ticked.ended, state, Some(&rules), code)
}

/// Says how it ended, why, and what to do; after a pass, where the work is.
pub(crate) fn tell(setup: &Setup, ended: &Ended, quiet: bool) {
    let number = ended
        .tick
        .map_or_else(String::new, |tick| format!(" tick {tick}"));
    let line = format!(
        "{}{number}: {}: {}",
        setup.name,
        word(&ended.outcome),
        ended.why
    );
    match &ended.outcome {
        Outcome::Error(_) => show::note(format!("error: {}", show::one_line(&line))),
        _ => show::line(show::one_line(&line)),
    }
    if let Some(what) = what_to_do(&ended.outcome, &setup.name) {
        show::line(format!("  do: {what}"));
    }
    if quiet || ended.outcome != Outcome::Pass {
        return;
    }
    match &ended.worktree {
        Some(worktree) => {
            show::line(format!(
                "  work: {} (branch {})",
                worktree.path, worktree.branch
            ));
            show::line(format!(
                "  take it: git -C '{0}' add -A && git -C '{0}' commit -m '{1}' && git merge '{2}'",
                worktree.path,
                ended.task.as_deref().unwrap_or("work of a loop"),
                worktree.branch
            ));
        }
        None => {
            show::line(format!("  work: {}", setup.project.root().display()));
            show::line("  see it: git status");
        }
    }
}

fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Skipped(Skip::HumanIntervention(halt)) => {
            format!("skipped (human_intervention, {halt})")
        }
        Outcome::Blocked(_) => "blocked".to_owned(),
        other => other.to_string(),
    }
}

/// Shows on standard error what a tick does.
pub(crate) struct View {
    shown: bool,
}

impl View {
    pub(crate) fn new(shown: bool) -> Self {
        Self { shown }
    }
}

impl Watch for View {
    fn opened(&mut self, tick: u64, task: Option<&str>) {
        if self.shown {
            show::note(format!("tick {tick}: {}", task.unwrap_or("no task")));
        }
    }

    fn started(&mut self, step: Step) {
        let long = matches!(step, Step::Implement | Step::Verify | Step::Orchestrate);
        if self.shown && long {
            show::note(format!("  {:<12} ...", step.as_str()));
        }
    }

    fn ended(&mut self, step: Step, what: &str) {
        if self.shown {
            show::note(format!("  {:<12} {}", step.as_str(), show::one_line(what)));
        }
    }

    fn warning(&mut self, message: &str) {
        show::warning(message);
    }

    fn over(&mut self, _ended: &Ended, outputs: &Path) {
        if self.shown && outputs.is_dir() {
            show::note(format!("  outputs in {}", outputs.display()));
        }
    }
}
