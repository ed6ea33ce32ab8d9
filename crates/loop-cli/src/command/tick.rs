//! `loop tick`: one tick, the unit that timers, CI and people all call.

use crate::args::Tick;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::answer::WorktreeRecord;
use loop_core::explain::what_to_do_in;
use loop_core::gate::GateReport;
use loop_core::outcome::{Error, Outcome, Skip};
use loop_core::report::TickReport;
use loop_core::rules::Rules;
use loop_core::state::State;
use loop_core::step::Ended;
use loop_core::{Step, exit};
use loop_runner::changes::stray_of;
use loop_runner::driver::{self, Ticked};
use loop_runner::git::Stray;
use loop_runner::notify;
use loop_runner::setup::{Setup, SetupError};
use loop_runner::watch::Watch;
use std::path::Path;

/// Makes one tick.
pub(crate) fn run(context: &Context, args: &Tick) -> Result<u8, Failure> {
    if args.dry_run {
        return super::dry_run::run(context, &args.name);
    }
    context.person_only("make a tick")?;
    let setup = match Setup::read(&context.around, &args.name) {
        Ok(setup) => setup,
        Err(error) => return not_read(args, error),
    };
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
        report(&setup.name, &ticked, Some(&setup.rules()), code)?;
    } else {
        tell(&setup, &ticked, context.quiet);
    }
    notify::tell(&setup, &ticked.notices, &interrupt, &mut view);
    Ok(code)
}

/// A loop that cannot be read ends the tick as well; programs are told so.
fn not_read(args: &Tick, error: SetupError) -> Result<u8, Failure> {
    let failure = Failure::from(error);
    if args.json && failure.code == exit::USAGE {
        let outcome = Outcome::Error(Error::Config);
        let ticked = Ticked::without_state(outcome, failure.to_string());
        report(&args.name, &ticked, None, failure.code)?;
    }
    Err(failure)
}

fn report(name: &str, ticked: &Ticked, rules: Option<&Rules>, code: u8) -> Result<(), Failure> {
    let unknown = State::new();
    let state = ticked.state.as_ref().unwrap_or(&unknown);
    show::json(&TickReport::new(name, &ticked.ended, state, rules, code))
}

/// Says how it ended, why, and what to do; after a pass, where the work is.
pub(crate) fn tell(setup: &Setup, ticked: &Ticked, quiet: bool) {
    let ended = &ticked.ended;
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
    let unknown = State::new();
    let state = ticked.state.as_ref().unwrap_or(&unknown);
    if let Some(what) = what_to_do_in(&ended.outcome, state, &setup.name) {
        show::line(format!("  do: {what}"));
    }
    if quiet {
        return;
    }
    for line in ended.gate.iter().flat_map(GateReport::lines) {
        show::line(format!("  gate: {line}"));
    }
    if ended.used.calls > 0 {
        show::line(format!("  used: {}", ended.used.in_words()));
    }
    match &ended.outcome {
        Outcome::Pass => {
            for line in work_lines(setup, ended.task.as_deref(), ended.worktree.as_ref()) {
                show::line(format!("  {line}"));
            }
        }
        Outcome::Fail(_) => show::line(format!("  next: loop tick {} tries again", setup.name)),
        Outcome::Parked(_) => show::line(format!(
            "  next: loop tick {0} takes the next item; loop approve {0} {1} takes this one back",
            setup.name,
            ended.task.as_deref().unwrap_or("TASK")
        )),
        _ => {}
    }
}

/// Says where the work of a task is, and the command that brings it home.
pub(crate) fn work_lines(
    setup: &Setup,
    task: Option<&str>,
    worktree: Option<&WorktreeRecord>,
) -> [String; 2] {
    let project = show::quoted(&setup.project.root().to_string_lossy());
    let Some(worktree) = worktree else {
        return [
            format!("work: {}", setup.project.root().display()),
            format!("see it: git -C {project} status"),
        ];
    };
    let path = show::quoted(&worktree.path);
    // What is merged has to be what the commit goes to, wherever the agent went.
    let (at, merged) = match stray_of(setup, worktree) {
        None => (
            format!("branch {}", worktree.branch),
            show::quoted(&worktree.branch),
        ),
        Some(Stray::Branch(branch)) => (format!("branch {branch}"), show::quoted(&branch)),
        Some(stray) => (
            format!("at {stray}"),
            format!("\"$(git -C {path} rev-parse HEAD)\""),
        ),
    };
    [
        format!("work: {} ({at})", worktree.path),
        format!(
            // The agent may have committed everything itself.
            "take it: git -C {path} add -A && {{ git -C {path} diff --cached --quiet || \
             git -C {path} commit -m {}; }} && git -C {project} merge {merged}",
            show::quoted(task.unwrap_or("Work of a loop")),
        ),
    ]
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
        let long = matches!(
            step,
            Step::Plan | Step::Implement | Step::Verify | Step::Orchestrate
        );
        if self.shown && long {
            show::note(format!("  {:<12} ...", step.as_str()));
        }
    }

    fn ended(&mut self, step: Step, what: &str) {
        if self.shown {
            show::note(format!("  {:<12} {}", step.as_str(), show::one_line(what)));
        }
    }

    fn note(&mut self, message: &str) {
        if self.shown {
            show::note(format!("  {message}"));
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
