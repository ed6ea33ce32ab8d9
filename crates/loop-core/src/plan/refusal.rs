//! Why a planner refuses a task.

use super::MAX_TEXT;
use crate::text::cut;
use std::fmt;

/// What a task lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCode {
    /// It names no end state or no area, or is too large.
    NotBounded,
    /// Nothing can automatically reject bad output.
    NotRejectable,
    /// The agent cannot do it alone.
    NotEndToEnd,
    /// Two strangers would not agree on "done".
    NotObjective,
    /// Every criterion holds already.
    AlreadyGreen,
    /// It needs a person.
    NeedsPerson,
    /// It does something that cannot be taken back.
    Irreversible,
}

impl RefusalCode {
    /// Every code.
    pub const ALL: [Self; 7] = [
        Self::NotBounded,
        Self::NotRejectable,
        Self::NotEndToEnd,
        Self::NotObjective,
        Self::AlreadyGreen,
        Self::NeedsPerson,
        Self::Irreversible,
    ];

    /// Returns the word as it stands in the planner's last line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotBounded => "not_bounded",
            Self::NotRejectable => "not_rejectable",
            Self::NotEndToEnd => "not_end_to_end",
            Self::NotObjective => "not_objective",
            Self::AlreadyGreen => "already_green",
            Self::NeedsPerson => "needs_person",
            Self::Irreversible => "irreversible",
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads `REFUSED`, `REFUSED: code`, `REFUSED: text` or `REFUSED: code: text`.
/// A refusal without a known code needs a person, to say what it means (row
/// G-37).
pub(super) fn read(line: &str) -> Option<(RefusalCode, String)> {
    let rest = line.strip_prefix("REFUSED")?.trim_start();
    if rest.is_empty() {
        return Some((RefusalCode::NeedsPerson, String::new()));
    }
    let rest = rest.strip_prefix(':')?.trim();
    let (word, how) = rest.split_once(':').unwrap_or((rest, ""));
    let mut known = RefusalCode::ALL.into_iter();
    Some(match known.find(|code| code.as_str() == word.trim()) {
        Some(code) => (code, cut(how.trim(), MAX_TEXT)),
        None => (RefusalCode::NeedsPerson, cut(rest, MAX_TEXT)),
    })
}
