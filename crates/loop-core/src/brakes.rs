//! When to stop and ask a person.

use crate::outcome::Halt;
use crate::state::{Attempt, KEPT, Progress};
use crate::{Score, Usd};
use serde::{Deserialize, Serialize};

/// Two scores that differ by less than this are equal.
const SAME_SCORE: f64 = 1e-9;

/// The limits that a loop runs under; `None` and 0 mean what the fields say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brakes {
    /// Attempts a task gets; `None` only where another cap is live.
    pub max_iterations: Option<u32>,
    /// Failing scores without a rise that stop a task; 0 is off, 32 the most.
    pub score_plateau_window: u32,
    /// How much a score has to rise inside the window to count as one.
    pub score_plateau_delta: f64,
    /// The lowest score that counts as a pass.
    pub min_score: Score,
    /// Failures of implement, and of verify, in a row that stop a task.
    pub max_harness_failures: u32,
    /// Attempts that change nothing that stop a task; 0 is off, 32 the most.
    pub no_progress_window: u32,
    /// Milliseconds that a task's ticks may run in all.
    pub max_wall_ms: Option<u64>,
    /// Ticks a UTC day.
    pub max_ticks_per_day: Option<u32>,
    /// Cost of the loop in all.
    pub max_cost: Option<Usd>,
    /// Tokens of the loop in all, read and written.
    pub max_tokens: Option<u64>,
}

impl Brakes {
    /// Returns the brake that a task's record trips, if any. The order is
    /// fixed: harness failures, no progress, iterations, plateau (row B-05).
    #[must_use]
    pub fn tripped(&self, progress: &Progress) -> Option<Halt> {
        if progress.harness_failures >= self.max_harness_failures {
            Some(Halt::HarnessFailures)
        } else if self.no_progress(progress) {
            Some(Halt::NoProgress)
        } else if self
            .max_iterations
            .is_some_and(|max| progress.iteration >= max)
        {
            Some(Halt::MaxIterations)
        } else if self.plateau(&progress.scores) {
            Some(Halt::ScorePlateau)
        } else {
            None
        }
    }

    /// Whether none of the last `score_plateau_window` failing scores exceeds
    /// the first of them (row B-03).
    fn plateau(&self, scores: &[Score]) -> bool {
        let Some([first, later @ ..]) = last(scores, self.score_plateau_window) else {
            return false;
        };
        let to_beat = first.get() + self.score_plateau_delta + SAME_SCORE;
        later.iter().all(|score| score.get() <= to_beat)
    }

    /// Whether each of the last `no_progress_window` spent attempts left the tree
    /// as it was, or in a loop without a judge left the gate red in the same way
    /// (decision D-19). The latest one is not spent while it is held.
    fn no_progress(&self, progress: &Progress) -> bool {
        let spent = match progress.attempts.as_slice() {
            [spent @ .., _held] if progress.unjudged.is_some() => spent,
            spent => spent,
        };
        last(spent, self.no_progress_window).is_some_and(|attempts| {
            let [first, later @ ..] = attempts else {
                return false;
            };
            let same_red = |other: &Attempt| other.gate == first.gate;
            attempts.iter().all(|attempt| !attempt.changed)
                || (first.gate.is_some() && later.iter().all(same_red))
        })
    }
}

/// Returns the last `window` items, if there are as many and `window` is not 0.
/// A window that is wider than what a task keeps must not turn a brake off, so it
/// ends there.
fn last<T>(items: &[T], window: u32) -> Option<&[T]> {
    let window = usize::try_from(window).ok().filter(|window| *window > 0)?;
    items.get(items.len().checked_sub(window.min(KEPT))?..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::RedGate;

    fn brakes() -> Brakes {
        Brakes {
            max_iterations: Some(10),
            score_plateau_window: 3,
            score_plateau_delta: 0.0,
            min_score: Score::try_from(0.7).unwrap(),
            max_harness_failures: 3,
            no_progress_window: 3,
            max_wall_ms: None,
            max_ticks_per_day: None,
            max_cost: None,
            max_tokens: None,
        }
    }

    fn scored(scores: &[f64]) -> Progress {
        Progress {
            scores: scores
                .iter()
                .map(|s| Score::try_from(*s).unwrap())
                .collect(),
            ..Progress::default()
        }
    }

    // rows: B-03, B-04
    #[test]
    fn plateau_looks_at_the_first_of_the_window() {
        for (scores, window, delta, tripped) in [
            (&[0.4, 0.4, 0.4][..], 3, 0.0, true),
            (&[0.5, 0.4, 0.3], 3, 0.0, true),
            (&[0.0, 0.4, 0.4], 3, 0.0, false),
            (&[0.4, 0.3, 0.41], 3, 0.0, false),
            (&[0.4, 0.4], 3, 0.0, false),
            (&[], 3, 0.0, false),
            (&[0.1, 0.4, 0.4, 0.4], 3, 0.0, true),
            (&[0.4, 0.4 + 1e-10, 0.4], 3, 0.0, true),
            (&[0.4, 0.45, 0.45], 3, 0.1, true),
            (&[0.4, 0.6, 0.45], 3, 0.1, false),
            (&[0.4, 0.4], 2, 0.0, true),
            (&[0.4, 0.4, 0.4, 0.4, 0.4], 0, 0.0, false),
        ] {
            let brakes = Brakes {
                score_plateau_window: window,
                score_plateau_delta: delta,
                ..brakes()
            };
            let expected = tripped.then_some(Halt::ScorePlateau);
            assert_eq!(
                brakes.tripped(&scored(scores)),
                expected,
                "{scores:?} {window}"
            );
        }
    }

    // rows: B-02, B-05
    #[test]
    fn brakes_trip_at_their_number_and_in_their_order() {
        let attempts = |changes: &[bool]| {
            changes
                .iter()
                .map(|changed| Attempt {
                    changed: *changed,
                    gate: None,
                })
                .collect::<Vec<_>>()
        };
        let progress = |iteration, harness_failures, changes: &[bool]| Progress {
            iteration,
            harness_failures,
            attempts: attempts(changes),
            ..scored(&[0.4, 0.4, 0.4])
        };
        for (progress, expected) in [
            (progress(10, 3, &[false; 3]), Some(Halt::HarnessFailures)),
            (progress(10, 2, &[false; 3]), Some(Halt::NoProgress)),
            (
                progress(10, 2, &[false, false, true]),
                Some(Halt::MaxIterations),
            ),
            (
                progress(9, 2, &[true, false, false]),
                Some(Halt::ScorePlateau),
            ),
            (
                Progress {
                    scores: vec![],
                    ..progress(9, 2, &[false; 2])
                },
                None,
            ),
            (
                Progress {
                    scores: vec![],
                    ..progress(9, 0, &[true, false, false, false])
                },
                Some(Halt::NoProgress),
            ),
        ] {
            assert_eq!(brakes().tripped(&progress), expected, "{progress:?}");
        }
        let off = Brakes {
            max_iterations: None,
            no_progress_window: 0,
            score_plateau_window: 0,
            ..brakes()
        };
        assert_eq!(off.tripped(&progress(9_999, 0, &[false; 9])), None);
    }

    // rows: G-34, U-42
    // cases: 103
    #[test]
    fn a_gate_that_is_red_in_the_same_way_is_no_progress() {
        let red = |exit, output: &str| {
            Some(RedGate {
                exit,
                output: output.to_owned(),
            })
        };
        let (same, other) = (red(7, "3 failed"), red(7, "2 failed"));
        for (gates, tripped) in [
            ([same.clone(), same.clone(), same.clone()], true),
            ([other.clone(), same.clone(), same.clone()], false),
            ([same.clone(), same.clone(), other], false),
            ([same.clone(), red(1, "3 failed"), same.clone()], false),
            ([None, same.clone(), same], false),
            ([None, None, None], false),
        ] {
            let attempts = gates.into_iter().map(|gate| Attempt {
                changed: true,
                gate,
            });
            let progress = Progress {
                attempts: attempts.collect(),
                ..Progress::default()
            };
            let expected = tripped.then_some(Halt::NoProgress);
            assert_eq!(brakes().tripped(&progress), expected, "{progress:?}");
        }
    }
}
