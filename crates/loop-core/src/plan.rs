//! A planner's answer: the contract of an autonomous run, or a refusal.
//!
//! The planner turns a task into a gate, and says in one JSON block what the
//! plan is and which check proves each part of it. The last line of its final
//! text decides: [`Planned`]. Nothing is repaired and nothing is asked twice.

mod check;
mod cover;
mod find;
mod placeholder;
mod refusal;
#[cfg(test)]
mod tests;

use crate::config::ProjectPath;
use serde::{Deserialize, Serialize};

pub use check::is_written_by_the_loop;
pub use cover::uncovered;
pub use placeholder::{PLACEHOLDER, Placeholder, placeholder};
pub use refusal::RefusalCode;

/// The most entries that a list of a plan has.
pub const MAX_ITEMS: usize = 100;
/// The most characters that a text of a plan has.
pub const MAX_TEXT: usize = 2_000;

/// What the work consists of, and what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Why the task belongs in a loop.
    pub boxes: Boxes,
    /// The steps of the work.
    pub plan: Vec<PlanItem>,
    /// Which check proves which line of "Done when".
    #[serde(default)]
    pub covers: Vec<Cover>,
    /// What is frozen besides the gate and the task, relative to the project.
    #[serde(default)]
    pub frozen: Vec<ProjectPath>,
}

/// The four-box test: why each box holds, in the planner's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boxes {
    /// It names its end state and its area, and a handful of passes can finish it.
    pub bounded: String,
    /// Something can automatically reject bad output.
    pub rejectable: String,
    /// The agent can do it end to end.
    pub end_to_end: String,
    /// "Done" is objective.
    pub objective: String,
}

/// A step of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub item: String,
    /// The check in the gate that proves it.
    pub check: String,
}

/// A line of "Done when", and the check that proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// The line, word for word.
    pub line: String,
    /// The index in [`Plan::plan`], from 0, of the item whose check covers it.
    pub check: usize,
}

/// What a planner answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// It planned the work.
    Plan(Plan),
    /// It refused the task. Nothing is tried instead.
    Refused {
        /// Why.
        code: RefusalCode,
        /// How a person could make the task loopable; may be empty.
        how: String,
    },
    /// It broke its contract.
    Broken {
        /// What is wrong with the answer, in one line.
        why: String,
    },
}

/// Reads a planner's final text.
///
/// The last line that is not blank decides: `REFUSED`, with or without a code
/// and a text, is a refusal, whether there is a block or not; `PLANNED` needs
/// exactly one fenced `json` block that keeps the contract. Anything else is
/// broken, and so is a word that merely occurs in the text.
#[must_use]
pub fn read(text: &str) -> Planned {
    let text = crate::text::without_controls(text.trim_start_matches('\u{feff}'));
    let last = crate::text::last_line(&text).unwrap_or_default();
    if let Some((code, how)) = refusal::read(last) {
        return Planned::Refused { code, how };
    }
    match planned(&text, last) {
        Ok(plan) => Planned::Plan(plan),
        Err(why) => Planned::Broken { why },
    }
}

fn planned(text: &str, last: &str) -> Result<Plan, String> {
    if last != "PLANNED" {
        return Err(
            "the planner's last line is neither `PLANNED` nor `REFUSED: code: text`".into(),
        );
    }
    check::plan(find::block(text)?)
}
