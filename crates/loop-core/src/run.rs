//! What a person sees of an autonomous run: `STATE.md` while it goes on, and
//! the report at its end.
//!
//! Both are made of the same [`StateFile`], so that they cannot differ.

mod change;
mod ending;
mod header;
mod line;
mod pass;
mod report;
mod state_file;
#[cfg(test)]
mod tests;
mod words;

pub use change::{Changed, ChangedFile, MAX_FILES, Size};
pub use ending::Ending;
pub use header::Header;
pub use pass::Pass;
pub use report::RunReport;
pub use state_file::StateFile;
pub use words::{RunOutcome, RunPhase, TreeAtStart};
