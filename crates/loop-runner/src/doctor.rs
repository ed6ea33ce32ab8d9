//! Looks for what would keep a loop from working, before a night is lost to it.
//!
//! Changes nothing, starts nothing, spends nothing: what it says it has read, or
//! asked the system.

mod gate;
mod harness;
mod loops;
mod machine;
mod project;
mod room;
mod state;
mod timer;
mod tool;

use crate::setup::Surroundings;
use loop_core::exit;
use serde::Serialize;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What is to be looked at.
#[derive(Clone, Debug)]
pub struct Exam<'a> {
    /// Where the command was started.
    pub around: &'a Surroundings,
    /// One loop; all loops of the project when absent.
    pub name: Option<&'a str>,
    /// Whether to look with the environment that a timer gives, instead of the
    /// one that the command was started in.
    pub as_scheduled: bool,
    /// This program's own file, if it is known.
    pub program: Option<PathBuf>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Everything that was looked at, in the order of looking.
    pub findings: Vec<Finding>,
    /// Whether a configuration is wrong, which keeps a tick from starting at all.
    pub config_is_wrong: bool,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, in a word.
    pub check: &'static str,
    /// The loop that it is about; none when it concerns them all.
    #[serde(rename = "loop")]
    pub loop_name: Option<String>,
    /// How it stands.
    pub severity: Severity,
    /// Why, in one sentence.
    pub why: String,
    /// What mends it, as a rule a command.
    #[serde(rename = "do")]
    pub mend: Option<String>,
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// A loop can work, and a person should know.
    Warning,
    /// A loop cannot work.
    Problem,
}

impl Severity {
    /// Returns the severity's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Finding {
    pub(crate) fn ok(check: &'static str, why: impl Into<String>) -> Self {
        Self {
            check,
            loop_name: None,
            severity: Severity::Ok,
            why: why.into(),
            mend: None,
        }
    }

    pub(crate) fn warning(
        check: &'static str,
        why: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            mend: Some(mend.into()),
            ..Self::ok(check, why)
        }
    }

    pub(crate) fn problem(
        check: &'static str,
        why: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Problem,
            ..Self::warning(check, why, mend)
        }
    }

    fn of_loop(self, name: &str) -> Self {
        Self {
            loop_name: Some(name.to_owned()),
            ..self
        }
    }
}

impl Report {
    /// Returns the exit code: 2 for a wrong configuration, 1 for another problem.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let is_problem = |finding: &Finding| finding.severity == Severity::Problem;
        match (self.config_is_wrong, self.findings.iter().any(is_problem)) {
            (true, _) => exit::USAGE,
            (false, true) => exit::FAILED,
            (false, false) => exit::DONE,
        }
    }
}

/// Looks at the machine, the project, and its loops.
///
/// # Errors
///
/// What the system said, when the loops of the project cannot be listed.
pub fn examine(exam: &Exam<'_>) -> io::Result<Report> {
    let here = exam.around;
    let bare = Surroundings {
        environment: timer::environment(&here.environment),
        ..here.clone()
    };
    let around = if exam.as_scheduled { &bare } else { here };
    let names = match exam.name {
        Some(name) => vec![name.to_owned()],
        None => here.project.loops()?,
    };
    let mut report = Report::default();
    report.findings.extend(machine::checks(exam, around));
    if exam.as_scheduled {
        report.findings.extend(timer::checks(here, around));
    }
    report.findings.extend(project::checks(around));
    for name in names {
        if exam.as_scheduled {
            let (around, said) = timer::of_loop(here, &bare, &name);
            report.findings.extend(said.map(|said| said.of_loop(&name)));
            loops::check(&name, exam, &around, &mut report);
        } else {
            loops::check(&name, exam, around, &mut report);
        }
    }
    Ok(report)
}
