//! What a run of the acceptance gate means (decision D-13).
//!
//! An exit code alone says little: a gate can be red because its script is
//! missing, and green because nothing ran. So what it printed is read too: how
//! many tests were executed and which, whether something did not build, and how
//! far the place that it ran in can be trusted. Everything here is text in,
//! judgement out; running the gate is the driver's part.

mod baseline;
mod hint;
mod judge;
mod junit;
mod level;
mod lint;
mod mask;
mod runners;
mod start;
mod tap;
mod unbuilt;
mod words;

pub use baseline::Baseline;
pub use hint::red_hint;
pub use judge::{Expected, GateEnd, GateReport, GateRun, ReportFile, judge};
pub use level::{Level, UnknownLevel};
pub use lint::{Finding, lint_argv, lint_script};
pub use mask::mask;
pub use runners::{ReportFault, TestReport, TestRunner, read_report, read_tests};
pub use start::{Start, UNWRITTEN, classify, is_unwritten};
pub use unbuilt::unbuilt;
