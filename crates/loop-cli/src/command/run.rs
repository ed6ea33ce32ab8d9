//! `loop run` and `loop iterate`: from `TASK.md` to a green gate.

use super::config::text_row;
use super::harness;
use super::tick::View;
use crate::args::{Iterate, Run};
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::config::Supported;
use loop_core::exit;
use loop_core::run::{RunReport, TreeAtStart};
use loop_runner::run::{self, Begun, NotBegun, RunOptions, begin};
use loop_runner::setup::Setup;
use std::path::{Path, PathBuf};

/// What a person hears of a task that does not say when it is done.
const NO_LIST: &str = "the task has no list under \"Done when\": nothing says what done means";

/// Plans, arms, and makes passes until the gate is green or a brake says no.
pub(crate) fn run(context: &Context, args: &Run) -> Result<u8, Failure> {
    context.person_only("start a run")?;
    let options = RunOptions {
        task_file: args.task.as_deref().map(from_here).transpose()?,
        cap: args.cap,
        stuck: args.stuck,
        freeze: args.freeze.clone(),
        strict: args.strict,
        harness: harness::choice(&args.harness)?,
        plans: true,
    };
    if args.dry_run {
        return foretell(context, &options);
    }
    let begun = begin(&context.around, &options, &context::user()).map_err(not_begun)?;
    before(&begun);
    let interrupt = signals::interrupt().map_err(|error| Failure::of(&error))?;
    let report = run::run(
        &begun,
        &interrupt,
        &mut View::new(!context.quiet && !args.json),
    );
    tell(&report, args.json)
}

/// Makes one pass by hand; arms first if nothing is armed.
pub(crate) fn iterate(context: &Context, args: &Iterate) -> Result<u8, Failure> {
    context.person_only("make a pass")?;
    let options = RunOptions {
        harness: harness::choice(&args.harness)?,
        ..RunOptions::default()
    };
    let begun = begin(&context.around, &options, &context::user()).map_err(not_begun)?;
    before(&begun);
    let interrupt = signals::interrupt().map_err(|error| Failure::of(&error))?;
    let report = run::iterate(
        &begun,
        &interrupt,
        &mut View::new(!context.quiet && !args.json),
    );
    tell(&report, args.json)
}

/// Takes a path as a person gives it: from the current folder.
fn from_here(path: &Path) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::of(&error))?;
    Ok(here.join(path))
}

/// Says what a person should know before anything is spent.
fn before(begun: &Begun) {
    match begun.tree {
        TreeAtStart::Dirty { files } => show::warning(&format!(
            "{} changed before the run, which works among them",
            show::count(files, "file")
        )),
        TreeAtStart::NoGit => show::warning(
            "the project has no commit of git: what a run changes cannot be undone with it",
        ),
        TreeAtStart::Clean | TreeAtStart::Unknown => {}
    }
    if begun.done_when.is_empty() {
        show::warning(NO_LIST);
    }
}

/// Shows what a run would do, and does nothing.
fn foretell(context: &Context, options: &RunOptions) -> Result<u8, Failure> {
    let foretold = run::foretell(&context.around, options).map_err(not_begun)?;
    if let Ok(setup) = Setup::read(&context.around, run::NAME) {
        context.tell_trust(&setup);
    }
    show::field("task", foretold.task_file.display().to_string());
    if foretold.done_when.is_empty() {
        show::warning(NO_LIST);
    }
    for line in &foretold.done_when {
        show::field("done when", line);
    }
    for row in (foretold.config).effective(&Supported::THIS_VERSION, &foretold.harnesses) {
        if row.key.starts_with("gate.") || row.key.starts_with("brakes.") {
            show::line(text_row(&row));
        }
    }
    for words in foretold.config.uncapped(&foretold.harnesses) {
        show::line(words);
    }
    Ok(exit::DONE)
}

fn tell(report: &RunReport, json: bool) -> Result<u8, Failure> {
    if json {
        show::json(report)?;
    } else {
        show::line(report.to_string().trim_end());
    }
    Ok(report.ending.exit)
}

fn not_begun(error: NotBegun) -> Failure {
    match error {
        NotBegun::Placeholder { .. }
        | NotBegun::Elsewhere { .. }
        | NotBegun::Config { .. }
        | NotBegun::Freeze { .. }
        | NotBegun::NoCriteria { .. }
        | NotBegun::Setup(_)
        | NotBegun::Read { .. } => Failure::usage(error.to_string()),
        NotBegun::Untrusted(_) => Failure::with(exit::PERSON, error.to_string()),
        error => Failure::of(&error),
    }
}
