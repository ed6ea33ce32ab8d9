//! What `loop tick --json` prints: the outcome of one tick for programs.

use crate::Usd;
use crate::bill::{CostSource, Usage};
use crate::explain::what_to_do_in;
use crate::gate::{GateReport, Level};
use crate::outcome::{Outcome, Skip};
use crate::profile::Tokens;
use crate::rules::Rules;
use crate::scope::Violation;
use crate::state::State;
use crate::step::Ended;
use crate::time::Timestamp;
use crate::verdict::Verdict;
use serde::Serialize;

/// One tick's outcome, in the shape that programs read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TickReport {
    /// Version of the shape: 1.
    pub v: u32,
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The tick's number; null when it took none.
    pub tick: Option<u64>,
    /// The outcome's word.
    pub outcome: String,
    /// The reason's word.
    pub reason: Option<String>,
    /// The same, when the outcome is `skipped`.
    pub skip_reason: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// The phase that it is in now.
    pub phase: Option<String>,
    /// Attempts spent on it.
    pub iteration: u32,
    /// Attempts it gets; null when there is no such limit.
    pub max_iterations: Option<u32>,
    /// The judgement.
    pub verdict: Option<Verdict>,
    /// What the acceptance gate said; null when it was not run.
    pub gate: Option<GateWords>,
    /// Changes that were not allowed.
    pub violations: Vec<Violation>,
    /// The reason again, when a brake tripped.
    pub brake: Option<String>,
    /// What the tick's calls cost; null when nobody knows.
    pub cost_usd: Option<Usd>,
    /// Where that number comes from: `reported`, `estimated` or `unknown`.
    pub cost_source: &'static str,
    /// The tokens of the tick's calls; null when nobody knows.
    pub tokens: Option<Tokens>,
    /// What happens next.
    pub next: Next,
    /// Why it ended so, in one line.
    pub why: String,
    /// What a person can do about it, in one line.
    #[serde(rename = "do")]
    pub what_to_do: Option<String>,
    /// The process's exit code.
    pub exit: u8,
}

/// What the acceptance gate said, for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateWords {
    /// The literal exit code; 124 when it took too long.
    pub exit: i32,
    /// How many tests ran; null when nobody can tell.
    pub tests: Option<u64>,
    /// How far it can be trusted, from 0 to 3.
    pub level: Level,
    /// Whether the work is accepted.
    pub green: bool,
    /// What a person should look at, a line each.
    pub flags: Vec<String>,
}

impl GateWords {
    fn of(report: &GateReport) -> Self {
        Self {
            exit: report.exit,
            tests: report.tests,
            level: report.level,
            green: report.green,
            flags: report.flags.clone(),
        }
    }
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Next {
    /// No tick works before this time.
    pub at: Option<Timestamp>,
    /// What a person has to do first: `approve`, `resume` or `fix`.
    pub needs: Option<&'static str>,
}

impl TickReport {
    /// Tells of a tick of the loop called `name`.
    #[must_use]
    pub fn new(name: &str, ended: &Ended, state: &State, rules: Option<&Rules>, exit: u8) -> Self {
        let outcome = &ended.outcome;
        let reason = outcome.reason().map(str::to_owned);
        let brake = match outcome {
            Outcome::HumanIntervention(halt) | Outcome::Parked(halt) if halt.is_brake() => {
                reason.clone()
            }
            _ => None,
        };
        let (cost, source) = cost_of(&ended.used, rules);
        Self {
            v: 1,
            loop_name: name.to_owned(),
            tick: ended.tick,
            outcome: outcome.as_str().to_owned(),
            skip_reason: match outcome {
                Outcome::Skipped(_) => reason.clone(),
                _ => None,
            },
            reason,
            task: ended.task.clone(),
            phase: ended.phase.clone(),
            iteration: ended.iteration,
            max_iterations: rules.and_then(|rules| rules.brakes.max_iterations),
            verdict: ended.verdict.clone(),
            gate: ended.gate.as_ref().map(GateWords::of),
            violations: ended.violations.clone(),
            brake,
            cost_usd: cost,
            cost_source: source.as_str(),
            tokens: ended.used.known_tokens().filter(|_| ended.used.calls > 0),
            next: Next {
                at: next_time(outcome, state, rules),
                needs: needs(outcome, state),
            },
            why: ended.why.clone(),
            what_to_do: what_to_do_in(outcome, state, name),
            exit,
        }
    }
}

/// Returns what calls have cost, and how well that is known. Where no call was made,
/// it is zero only if calls would be priced.
#[must_use]
pub fn cost_of(used: &Usage, rules: Option<&Rules>) -> (Option<Usd>, CostSource) {
    let source = match (used.calls, rules) {
        (0, Some(rules)) => rules.implement.cost_source(),
        (0, None) => CostSource::Unknown,
        _ => used.source(),
    };
    let known = source != CostSource::Unknown;
    (used.known_cost().filter(|_| known), source)
}

/// Returns the time before which no tick works, if there is one.
fn next_time(outcome: &Outcome, state: &State, rules: Option<&Rules>) -> Option<Timestamp> {
    match outcome {
        Outcome::Skipped(Skip::Window) => rules?.closed_until,
        _ => state.not_before,
    }
}

fn needs(outcome: &Outcome, state: &State) -> Option<&'static str> {
    match outcome {
        Outcome::Error(_) | Outcome::Skipped(Skip::ContextFloor) => Some("fix"),
        _ if state.reason.is_some() => Some("approve"),
        _ if state.paused => Some("resume"),
        _ => None,
    }
}
