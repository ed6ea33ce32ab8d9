//! A task's record, `task.json`, and the moves that it allows.

use crate::phase::{COMPLETE, HUMAN_INTERVENTION, Phases};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What `task.json` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Version of the shape: 1.
    pub v: u32,
    /// The task's folder name.
    pub name: String,
    /// What it is about, in a person's words.
    pub title: String,
    /// Where it stands.
    pub phase: String,
    /// The phase it was in before it was handed to a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_phase: Option<String>,
    /// The task's own copy of its phases, in order.
    pub phases: Vec<String>,
    /// The phases that only a person may end.
    pub approval_phases: Vec<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Every move, oldest first.
    #[serde(default)]
    pub history: Vec<Move>,
}

/// Where a task comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Who or what made it.
    pub kind: OriginKind,
    /// Its name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The file it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where people can read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Who or what made a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A person.
    Person,
    /// A line of a backlog.
    Backlog,
    /// A violation that the audit found.
    Audit,
    /// An item that a program printed.
    Command,
}

impl Origin {
    /// A task that a person made.
    #[must_use]
    pub fn person() -> Self {
        Self {
            kind: OriginKind::Person,
            id: None,
            file: None,
            line: None,
            url: None,
        }
    }
}

/// One move of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// The phase it left.
    pub from: String,
    /// The phase it entered.
    pub to: String,
    /// When.
    pub at: Timestamp,
    /// Who moved it: `loop`, or a person's name.
    pub by: String,
    /// The loop, when one did.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub loop_name: Option<String>,
    /// The tick, when one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<u64>,
}

/// A move that a task does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The task is not where the mover thought.
    #[error("the task is in phase `{found}`, not in `{expected}`")]
    Elsewhere {
        /// Where the mover thought it was.
        expected: String,
        /// Where it is.
        found: String,
    },
    /// A task may only go one step on, or to a person.
    #[error("a task in phase `{from}` can go to {allowed}, not to `{to}`")]
    NotAllowed {
        /// Where it is.
        from: String,
        /// Where it was to go.
        to: String,
        /// Where it can go, in words.
        allowed: String,
    },
    /// Leaving the phase needs a person.
    #[error("leaving phase `{from}` needs a person's approval")]
    NeedsApproval {
        /// Where it is.
        from: String,
    },
}

/// Whether a move changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It did.
    Now,
    /// The task was already there: the same move, made before.
    Before,
}

impl Task {
    /// Makes a record; the task starts in the first of `phases`.
    #[must_use]
    pub fn new(name: &str, title: &str, phases: Phases, origin: Origin, at: Timestamp) -> Self {
        Self {
            v: 1,
            name: name.to_owned(),
            title: title.to_owned(),
            phase: phases.first().to_owned(),
            previous_phase: None,
            phases: phases.list,
            approval_phases: phases.approval,
            origin,
            created_at: at,
            updated_at: at,
            history: Vec::new(),
        }
    }

    /// Returns the task's own copy of its phases.
    #[must_use]
    pub fn phases(&self) -> Phases {
        Phases {
            list: self.phases.clone(),
            approval: self.approval_phases.clone(),
        }
    }

    /// Takes over a loop's phases, starting in the first, if the task has not
    /// moved yet (decision D-9). Returns whether anything changed.
    pub fn adopt(&mut self, phases: &Phases, at: Timestamp) -> bool {
        if !self.history.is_empty() || self.phases() == *phases {
            return false;
        }
        self.phase = phases.first().to_owned();
        self.phases.clone_from(&phases.list);
        self.approval_phases.clone_from(&phases.approval);
        self.updated_at = at;
        true
    }

    /// Puts the task back to the first of `phases`, for a run that starts over; the
    /// moves so far stay in its history.
    pub fn start_over(
        &mut self,
        phases: &Phases,
        by: &str,
        loop_name: Option<&str>,
        at: Timestamp,
    ) {
        phases.first().clone_into(&mut self.phase);
        self.previous_phase = None;
        self.phases.clone_from(&phases.list);
        self.approval_phases.clone_from(&phases.approval);
        self.updated_at = at;
        if let Some(last) = self.history.last() {
            let step = Move {
                from: last.to.clone(),
                to: self.phase.clone(),
                at,
                by: by.to_owned(),
                loop_name: loop_name.map(str::to_owned),
                tick: None,
            };
            self.history.push(step);
        }
    }

    /// Checks that the phase is the one that the moves lead to: a record that was
    /// edited by hand must not pass for work that was judged.
    ///
    /// # Errors
    ///
    /// [`MoveError::Elsewhere`] with the phase that the moves lead to.
    pub fn check_history(&self) -> Result<(), MoveError> {
        let first = self.phases.first().map_or(COMPLETE, String::as_str);
        let led_to = self.history.last().map_or(first, |step| step.to.as_str());
        if self.phase == led_to {
            return Ok(());
        }
        Err(MoveError::Elsewhere {
            expected: led_to.to_owned(),
            found: self.phase.clone(),
        })
    }

    /// Returns the phase after the current one; `None` at the end, and with a
    /// person.
    #[must_use]
    pub fn next_phase(&self) -> Option<String> {
        self.phases().after(&self.phase).map(str::to_owned)
    }

    /// Moves the task: compare `from`, then set. Allowed are the next phase, a
    /// person, and back from a person to where it was. Done twice, the second
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// [`MoveError`] when the task is elsewhere or the move is not allowed;
    /// nothing is changed then.
    pub fn advance(&mut self, step: Move) -> Result<Moved, MoveError> {
        let same = |last: &Move| last.from == step.from && last.to == step.to;
        if self.phase == step.to && self.history.last().is_some_and(same) {
            return Ok(Moved::Before);
        }
        if self.phase != step.from {
            return Err(MoveError::Elsewhere {
                expected: step.from,
                found: self.phase.clone(),
            });
        }
        let back = (self.phase == HUMAN_INTERVENTION)
            .then(|| self.previous_phase.clone())
            .flatten();
        let allowed: Vec<String> = back
            .into_iter()
            .chain(self.next_phase())
            .chain(
                (self.phase != COMPLETE && self.phase != HUMAN_INTERVENTION)
                    .then(|| HUMAN_INTERVENTION.to_owned()),
            )
            .collect();
        if !allowed.contains(&step.to) {
            return Err(MoveError::NotAllowed {
                allowed: match allowed.as_slice() {
                    [] => "no other phase".to_owned(),
                    some => some
                        .iter()
                        .map(|phase| format!("`{phase}`"))
                        .collect::<Vec<_>>()
                        .join(" or "),
                },
                from: step.from,
                to: step.to,
            });
        }
        self.previous_phase = (step.to == HUMAN_INTERVENTION).then(|| self.phase.clone());
        self.phase.clone_from(&step.to);
        self.updated_at = step.at;
        self.history.push(step);
        Ok(Moved::Now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(from: &str, to: &str) -> Move {
        Move {
            from: from.to_owned(),
            to: to.to_owned(),
            at: Timestamp::default(),
            by: "ada".to_owned(),
            loop_name: None,
            tick: None,
        }
    }

    fn task() -> Task {
        let origin = Origin::person();
        Task::new("t", "T", Phases::default(), origin, Timestamp::default())
    }

    // rows: C-14
    #[test]
    fn a_task_goes_one_step_or_to_a_person_and_back() {
        let mut task = task();
        assert_eq!(task.advance(step("research", "spec")), Ok(Moved::Now));
        assert_eq!(task.advance(step("research", "spec")), Ok(Moved::Before));
        assert_eq!(task.history.len(), 1);
        let refused = task.advance(step("spec", "bug_find")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a task in phase `spec` can go to `implement` or `human_intervention`, not to `bug_find`"
        );
        assert_eq!(
            task.advance(step("spec", "human_intervention")),
            Ok(Moved::Now)
        );
        assert_eq!(task.previous_phase.as_deref(), Some("spec"));
        assert!(
            task.advance(step("human_intervention", "implement"))
                .is_err()
        );
        assert_eq!(
            task.advance(step("human_intervention", "spec")),
            Ok(Moved::Now)
        );
        assert_eq!(task.previous_phase, None);
        assert_eq!(
            task.advance(step("research", "spec")),
            Err(MoveError::Elsewhere {
                expected: "research".to_owned(),
                found: "spec".to_owned()
            })
        );
    }

    // rows: U-24
    // cases: 18
    #[test]
    fn a_phase_that_no_move_led_to_is_noticed() {
        let mut task = task();
        assert_eq!(task.check_history(), Ok(()));
        task.phase = COMPLETE.to_owned();
        assert!(task.check_history().is_err());
        task.phase = "research".to_owned();
        assert_eq!(task.advance(step("research", "spec")), Ok(Moved::Now));
        assert_eq!(task.check_history(), Ok(()));
        task.phase = "bug_find".to_owned();
        assert_eq!(
            task.check_history().unwrap_err().to_string(),
            "the task is in phase `bug_find`, not in `spec`"
        );
    }

    #[test]
    fn a_complete_task_stays() {
        let mut task = task();
        let phases = Phases {
            list: vec!["implement".to_owned()],
            approval: vec![],
        };
        assert!(task.adopt(&phases, Timestamp::default()));
        assert_eq!(task.phase, "implement");
        assert_eq!(task.advance(step("implement", COMPLETE)), Ok(Moved::Now));
        assert_eq!(task.next_phase(), None);
        assert!(task.advance(step(COMPLETE, "implement")).is_err());
        assert!(task.advance(step(COMPLETE, HUMAN_INTERVENTION)).is_err());
        assert!(
            !task.adopt(&Phases::default(), Timestamp::default()),
            "it has moved"
        );
    }
}
