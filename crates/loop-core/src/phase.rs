//! The phases a task goes through.

use serde::{Deserialize, Serialize};

/// The phase that ends every task; implied behind every list.
pub const COMPLETE: &str = "complete";
/// The phase of a task that was handed over to a person.
pub const HUMAN_INTERVENTION: &str = "human_intervention";

/// The seeds' phases, each with the document that it leaves in the task's folder.
const SEEDED: [(&str, &str); 5] = [
    ("research", "RESEARCH.md"),
    ("spec", "SPEC.md"),
    ("implement", "IMPLEMENTATION.md"),
    ("code_review", "CODE_REVIEW.md"),
    ("bug_find", "BUG_FIND.md"),
];

/// An ordered list of phases, and those that only a person may end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// The phases in order, without [`COMPLETE`].
    pub list: Vec<String>,
    /// Members of `list` whose end needs a person's approval.
    pub approval: Vec<String>,
}

impl Default for Phases {
    /// The seeds' five phases; leaving `spec` and `bug_find` needs approval.
    fn default() -> Self {
        Self {
            list: SEEDED
                .iter()
                .map(|(phase, _)| (*phase).to_owned())
                .collect(),
            approval: vec!["spec".to_owned(), "bug_find".to_owned()],
        }
    }
}

impl Phases {
    /// Returns the phase in which a task starts.
    #[must_use]
    pub fn first(&self) -> &str {
        self.list.first().map_or(COMPLETE, String::as_str)
    }

    /// Returns the phase after `phase`; `None` when `phase` is not in the list.
    #[must_use]
    pub fn after(&self, phase: &str) -> Option<&str> {
        let at = self.list.iter().position(|p| p == phase)?;
        Some(self.list.get(at + 1).map_or(COMPLETE, String::as_str))
    }

    /// Whether the list has `phase`.
    #[must_use]
    pub fn contains(&self, phase: &str) -> bool {
        self.list.iter().any(|p| p == phase)
    }

    /// Whether only a person may let a task leave `phase`.
    #[must_use]
    pub fn needs_approval(&self, phase: &str) -> bool {
        self.approval.iter().any(|p| p == phase)
    }

    /// Returns the name of the document that `phase` leaves in the task's
    /// folder; only the seeds' phases have one.
    #[must_use]
    pub fn artifact(phase: &str) -> Option<&'static str> {
        SEEDED
            .iter()
            .find(|(name, _)| *name == phase)
            .map(|(_, file)| *file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: B-07
    #[test]
    fn each_phase_has_one_next_and_the_last_is_complete() {
        let phases = Phases::default();
        let mut phase = phases.first().to_owned();
        let mut seen = vec![phase.clone()];
        while let Some(next) = phases.after(&phase) {
            assert!(seen.len() < 9, "there is an end: {seen:?}");
            phase = next.to_owned();
            seen.push(phase.clone());
        }
        assert_eq!(
            seen,
            [
                "research",
                "spec",
                "implement",
                "code_review",
                "bug_find",
                COMPLETE
            ]
        );
        assert!(phases.needs_approval("spec") && phases.needs_approval("bug_find"));
        assert!(!phases.needs_approval("implement"));
        assert!(phases.contains("bug_find") && !phases.contains(COMPLETE));
        assert_eq!(phases.after(HUMAN_INTERVENTION), None);
        assert_eq!(Phases::artifact("spec"), Some("SPEC.md"));
        assert_eq!(Phases::artifact("polish"), None);
    }
}
