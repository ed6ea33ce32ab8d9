//! `loop audit`: what is out of order in a project; a report, so it exits with
//! 0 unless `--strict` asks otherwise.

use crate::args::Audit;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::audit::audit;
use loop_runner::setup::Setup;
use loop_runner::sources::loop_facts;
use loop_runner::tasks::Tasks;

/// Audits the project.
pub(crate) fn run(context: &Context, args: &Audit) -> Result<u8, Failure> {
    let tasks = Tasks::new(context.around.project.data());
    let facts = loop_facts(&context.around).map_err(|error| Failure::of(&error))?;
    for loop_name in facts.iter().map(|facts| &facts.entry.name) {
        if let Ok(setup) = Setup::read(&context.around, loop_name) {
            context.tell_trust(&setup);
        }
    }
    let report = audit(&tasks, &facts).map_err(|error| Failure::of(&error))?;
    if args.json {
        show::json(&report)?;
    } else {
        show::line(format!(
            "{}, {}, {} without a record, {}",
            show::count(report.loops.len() as u64, "loop"),
            show::count(report.total_tasks as u64, "task"),
            report.untracked_tasks,
            show::count(report.violations.len() as u64, "violation")
        ));
        for violation in &report.violations {
            let severity = violation
                .severity
                .map_or_else(|| "-".to_owned(), |severity| severity.to_string());
            show::line(format!(
                "{severity:<5} {}",
                show::one_line(&violation.message)
            ));
        }
    }
    let strict = args.strict && !report.violations.is_empty();
    Ok(if strict { exit::FAILED } else { exit::DONE })
}
