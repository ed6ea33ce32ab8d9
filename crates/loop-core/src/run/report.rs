//! The report at the end of a run.

use super::ending::Ending;
use super::line::line;
use super::pass::Pass;
use super::state_file::StateFile;
use super::words::TreeAtStart;
use serde::Serialize;
use std::fmt;

/// The most lines of a list that a person gets; `STATE.md` and JSON have all.
const SHOWN: usize = 10;

/// What became of a run (row U-44): shown, ten seconds' reading; serialized,
/// the document of `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// Version of the shape: 1.
    pub v: u32,
    /// The ending.
    #[serde(flatten)]
    pub ending: Ending,
    /// The gate's last literal exit code; null when it did not run.
    pub gate_exit: Option<i32>,
    /// Passes that were begun.
    pub passes: u32,
    /// Passes that it got; null when there was no such limit.
    pub cap: Option<u32>,
    /// What the files were like when it began.
    pub tree_at_start: TreeAtStart,
    /// The lines of "Done when" that no check covers.
    pub uncovered: Vec<String>,
    /// What was tried, pass by pass.
    pub tried: Vec<Pass>,
}

impl RunReport {
    /// Tells of the run that `state` shows; `None` while it goes on.
    #[must_use]
    pub fn of(state: &StateFile) -> Option<Self> {
        Some(Self {
            v: 1,
            ending: state.ending.clone()?,
            gate_exit: state.gate_exit,
            passes: state.pass,
            cap: state.cap,
            tree_at_start: state.tree,
            uncovered: state.uncovered.clone(),
            tried: state.log.clone(),
        })
    }
}

/// Shows the report as the lines that a person reads.
impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = &self.ending;
        writeln!(f, "outcome: {}", ending.outcome)?;
        match line(&ending.reason()) {
            reason if reason.is_empty() => {}
            reason => writeln!(f, "reason: {reason}")?,
        }
        match self.gate_exit {
            Some(code) => writeln!(f, "gate exit code: {code}")?,
            None => writeln!(f, "gate exit code: not run")?,
        }
        match self.cap {
            Some(cap) => writeln!(f, "passes: {} of {cap}", self.passes)?,
            None => writeln!(f, "passes: {}", self.passes)?,
        }
        writeln!(f, "dirty: {}", self.tree_at_start)?;
        self.tried(f)?;
        self.changed(f)?;
        if !self.uncovered.is_empty() {
            writeln!(f, "no check covers:")?;
            some(
                f,
                self.uncovered.iter().map(|text| line(text)),
                self.uncovered.len() as u64,
            )?;
        }
        writeln!(f, "cost: {}", ending.cost())?;
        match &ending.next {
            Some(next) => writeln!(f, "next: {}", line(next)),
            None => Ok(()),
        }
    }
}

impl RunReport {
    /// Shows the last passes, which tell most.
    fn tried(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tried.is_empty() {
            return Ok(());
        }
        writeln!(f, "tried:")?;
        let earlier = self.tried.len().saturating_sub(SHOWN);
        if earlier > 0 {
            writeln!(f, "  {earlier} earlier: see STATE.md")?;
        }
        for pass in &self.tried[earlier..] {
            writeln!(f, "  {}. {pass}", pass.number)?;
        }
        Ok(())
    }

    fn changed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ending.changed {
            None => writeln!(f, "changed: unknown"),
            Some(changed) => {
                writeln!(f, "changed: {}", changed.size)?;
                some(
                    f,
                    changed.names.iter().map(ToString::to_string),
                    changed.size.files,
                )
            }
        }
    }
}

/// Shows the first lines, and how many more there are of `all`.
fn some(f: &mut fmt::Formatter<'_>, lines: impl Iterator<Item = String>, all: u64) -> fmt::Result {
    for line in lines.take(SHOWN) {
        writeln!(f, "  {line}")?;
    }
    match all.saturating_sub(SHOWN as u64) {
        0 => Ok(()),
        more => writeln!(f, "  and {more} more"),
    }
}
