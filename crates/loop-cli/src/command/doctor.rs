//! `loop doctor`: what would keep a loop from working.

use crate::args::Doctor;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_runner::doctor::{Exam, Finding, Report, Severity, examine};
use serde_json::json;

/// Looks, and tells.
pub(crate) fn run(context: &Context, args: &Doctor) -> Result<u8, Failure> {
    if let Some(name) = &args.name {
        context.loop_exists(name)?;
    }
    let report = examine(&Exam {
        around: &context.around,
        name: args.name.as_deref(),
        as_scheduled: args.as_scheduled,
        program: std::env::current_exe().ok(),
    });
    let report = report.map_err(|error| Failure::of(&error))?;
    let code = report.exit_code();
    if args.json {
        show::json(&json!({
            "v": 1,
            "project": context.around.project.root(),
            "as_scheduled": args.as_scheduled,
            "findings": report.findings,
            "exit": code,
        }))?;
    } else {
        tell(&report, context.quiet);
    }
    Ok(code)
}

fn tell(report: &Report, quiet: bool) {
    let shown = report.findings.iter();
    for finding in shown.filter(|finding| !quiet || finding.severity > Severity::Ok) {
        show::line(line(finding));
        if let Some(mend) = &finding.mend {
            show::line(format!("           do: {}", show::one_line(mend)));
        }
    }
    let count = |severity| {
        let of = |finding: &&Finding| finding.severity == severity;
        report.findings.iter().filter(of).count() as u64
    };
    show::line(format!(
        "{}, {}",
        show::count(count(Severity::Problem), "problem"),
        show::count(count(Severity::Warning), "warning")
    ));
}

fn line(finding: &Finding) -> String {
    let of = finding.loop_name.as_deref();
    let of = of.map_or_else(String::new, |name| format!("{name}: "));
    let why = show::one_line(&finding.why);
    format!("{:<10} {of}{}: {why}", finding.severity, finding.check)
}
