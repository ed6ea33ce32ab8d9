//! What `STATE.md` shows.

use super::ending::Ending;
use super::line::{line, or_dash};
use super::pass::Pass;
use super::words::{RunPhase, TreeAtStart};
use crate::plan::Plan;
use std::fmt::{self, Write};

/// A run as it stands, for a person: what `STATE.md` says (row U-41).
///
/// The engine alone writes the file. A new one is the shipped template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFile {
    /// Where the run is; an ending decides it.
    pub phase: RunPhase,
    /// Passes that were begun.
    pub pass: u32,
    /// Passes that it gets; `None` when there is no such limit.
    pub cap: Option<u32>,
    /// What the files were like when it began.
    pub tree: TreeAtStart,
    /// The gate's last literal exit code; `None` when it has not run.
    pub gate_exit: Option<i32>,
    /// The digest of the gate's script, when it is frozen.
    pub verify_sha256: Option<String>,
    /// The digest of `TASK.md`, when it is frozen.
    pub task_sha256: Option<String>,
    /// The plan.
    pub plan: Option<Plan>,
    /// The lines of "Done when" that no check covers.
    pub uncovered: Vec<String>,
    /// What was tried, a line for each pass.
    pub log: Vec<Pass>,
    /// How it ended.
    pub ending: Option<Ending>,
}

impl StateFile {
    /// Returns the phase, which an ending decides.
    #[must_use]
    pub fn phase(&self) -> RunPhase {
        let ended = self.ending.as_ref().map(|ending| ending.outcome.phase());
        ended.unwrap_or(self.phase)
    }

    /// Returns the gate's exit code in words: the literal number, or `not run`.
    #[must_use]
    pub fn gate_exit_words(&self) -> String {
        self.gate_exit
            .map_or_else(|| "not run".to_owned(), |code| code.to_string())
    }
}

/// Shows the Markdown of `STATE.md`.
impl fmt::Display for StateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "# State of the run\n\n\
             Written by `loop` alone, in every pass. What anybody else writes here is lost.\n\n",
        )?;
        self.header(f)?;
        f.write_str("\n## Plan\n\n")?;
        self.plan(f)?;
        f.write_str("\n## Log\n\n")?;
        if self.log.is_empty() {
            f.write_str("No pass yet.\n")?;
        }
        for pass in &self.log {
            writeln!(f, "- pass {} (tick {}): {pass}", pass.number, pass.tick)?;
        }
        match &self.ending {
            Some(ending) => end(f, ending),
            None => Ok(()),
        }
    }
}

impl StateFile {
    fn header(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = self.ending.as_ref();
        let digest = |digest: &Option<String>| or_dash(digest.as_deref().unwrap_or_default());
        writeln!(f, "phase: {}", self.phase().as_str())?;
        writeln!(f, "pass: {}", self.pass)?;
        let outcome = ending.map_or("-", |ending| ending.outcome.as_str());
        writeln!(f, "outcome: {outcome}")?;
        let reason = ending.map(Ending::reason).unwrap_or_default();
        writeln!(f, "reason: {}", or_dash(&reason))?;
        writeln!(f, "dirty: {}", self.tree)?;
        writeln!(f, "gate_exit: {}", self.gate_exit_words())?;
        writeln!(f, "verify_sha256: {}", digest(&self.verify_sha256))?;
        writeln!(f, "task_sha256: {}", digest(&self.task_sha256))
    }

    fn plan(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(plan) = &self.plan else {
            return f.write_str("None yet.\n");
        };
        for (index, step) in plan.plan.iter().enumerate() {
            writeln!(f, "{}. {}", index + 1, line(&step.item))?;
            writeln!(f, "   - check: {}", line(&step.check))?;
        }
        list(f, "No check covers", &self.uncovered)?;
        let frozen: Vec<_> = plan.frozen.iter().map(ToString::to_string).collect();
        list(f, "Frozen besides the gate and the task", &frozen)
    }
}

/// Shows a list under a line of its own, if there is anything in it.
fn list(f: &mut fmt::Formatter<'_>, title: &str, items: &[String]) -> fmt::Result {
    if !items.is_empty() {
        write!(f, "\n{title}:\n\n")?;
    }
    items
        .iter()
        .try_for_each(|item| writeln!(f, "- {}", line(item)))
}

fn end(f: &mut fmt::Formatter<'_>, ending: &Ending) -> fmt::Result {
    f.write_str("\n## Changed\n\n")?;
    match &ending.changed {
        None => f.write_str("Unknown.\n")?,
        Some(changed) => {
            writeln!(f, "{}", changed.size)?;
            if !changed.names.is_empty() {
                f.write_char('\n')?;
            }
            for file in &changed.names {
                writeln!(f, "- {file}")?;
            }
            let named = changed.names.len() as u64;
            if changed.size.files > named {
                writeln!(f, "- and {} more", changed.size.files - named)?;
            }
        }
    }
    write!(f, "\n## Cost\n\n{}\n", ending.cost())?;
    match &ending.next {
        Some(next) => write!(f, "\n## Next\n\n    {}\n", line(next)),
        None => Ok(()),
    }
}
