//! What a person is told of: which of a tick's ends is worth a message.
//!
//! Pure: from the state before and after a tick, and how it ended, to a list of
//! notices. Each thing is told once, by the tick in which it comes about, so a
//! loop that stays halted does not tell of it again on every tick it skips.

mod redact;

pub use redact::{REDACTED, Secrets};

use crate::Usd;
use crate::config::NotifyEvent;
use crate::explain::what_to_do;
use crate::outcome::{Halt, Outcome, Skip};
use crate::state::State;
use crate::step::Ended;
use crate::text::{cut, without_controls};
use crate::time::Timestamp;
use serde::Serialize;

/// The most characters of a sentence in a message.
const SENTENCE: usize = 2_000;
/// The part of the cost cap that is told of, in percent.
const BUDGET_PERCENT: i64 = 80;

/// Something that a person may want to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub event: NotifyEvent,
    /// The task that it is about.
    pub task: Option<String>,
    /// The tick that it came about in.
    pub tick: Option<u64>,
    /// The reason's word; none when the work is done.
    pub reason: Option<String>,
    /// Why, in one sentence.
    pub why: String,
    /// What to do, in one line; none when there is nothing.
    pub what_to_do: Option<String>,
    /// What the loop has cost in all; none when nobody knows.
    pub cost: Option<Usd>,
}

/// What is known of a loop before and after a call of the driver.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The loop's name.
    pub name: &'a str,
    /// Its cap on cost.
    pub max_cost: Option<Usd>,
    /// Its state when it was opened.
    pub before: &'a State,
    /// How the tick, or look for work, before this one ended.
    pub latest: Option<&'a Outcome>,
    /// Its state now.
    pub after: &'a State,
    /// How the tick, or look for work, ended.
    pub ended: &'a Ended,
}

/// Lists what a person is to be told of a tick, in the order in which it happened.
#[must_use]
pub fn notices(call: &Call<'_>) -> Vec<Notice> {
    budget(call).into_iter().chain(end(call)).collect()
}

impl Notice {
    /// Whether an entry of `notify` that names the events `on` is told of it. A
    /// judge that does not judge stops the loop, so whoever wants to hear of stops
    /// hears of that.
    #[must_use]
    pub fn concerns(&self, on: &[NotifyEvent]) -> bool {
        let stops = self.event == NotifyEvent::VerifierBroken;
        on.contains(&self.event) || stops && on.contains(&NotifyEvent::Stopped)
    }

    /// Makes the message: nothing in it is a secret, or acts on a terminal.
    #[must_use]
    pub fn message(&self, from: &Sender<'_>, secrets: &Secrets) -> Message {
        let sentence = |text: &str| {
            let line = without_controls(text).replace(['\n', '\t'], " ");
            cut(&secrets.redact(&line), SENTENCE)
        };
        Message {
            v: 1,
            event: self.event,
            loop_name: from.loop_name.to_owned(),
            project: from.project.to_owned(),
            task: self.task.clone(),
            tick: self.tick,
            reason: self.reason.as_deref().map(sentence),
            why: sentence(&self.why),
            what_to_do: self.what_to_do.as_deref().map(sentence),
            cost_usd: self.cost,
            at: from.at,
        }
    }
}

/// Who sends a message, and when.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    /// The loop.
    pub loop_name: &'a str,
    /// The project's folder.
    pub project: &'a str,
    /// The time.
    pub at: Timestamp,
}

/// What a command of `notify` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Version of the shape: 1.
    pub v: u32,
    /// What happened.
    pub event: NotifyEvent,
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The project's folder.
    pub project: String,
    /// The task that it is about.
    pub task: Option<String>,
    /// The tick that it came about in.
    pub tick: Option<u64>,
    /// The reason's word.
    pub reason: Option<String>,
    /// Why, in one sentence.
    pub why: String,
    /// What to do, in one line.
    #[serde(rename = "do")]
    pub what_to_do: Option<String>,
    /// What the loop has cost in all; null when nobody knows.
    pub cost_usd: Option<Usd>,
    /// When the message was made.
    pub at: Timestamp,
}

/// Tells that four fifths of the cap are spent, in the tick that passes them.
fn budget(call: &Call<'_>) -> Option<Notice> {
    let cap = call.max_cost?;
    let spent = call.after.spent.used.usd;
    // An amount has at most 15 digits, so nothing here leaves an i64.
    let passed = |spent: Usd| spent.micros() * 100 >= cap.micros() * BUDGET_PERCENT;
    let now = passed(spent) && !passed(call.before.spent.used.usd);
    now.then(|| Notice {
        event: NotifyEvent::Budget80,
        reason: Some("max_cost".to_owned()),
        why: format!("${spent} of ${cap} are spent"),
        what_to_do: Some("raise brakes.max_cost_usd, or let it stop there".to_owned()),
        ..of_end(call, NotifyEvent::Budget80)
    })
}

fn end(call: &Call<'_>) -> Option<Notice> {
    let outcome = &call.ended.outcome;
    let event = match outcome {
        Outcome::Pass if call.ended.complete => NotifyEvent::Done,
        Outcome::HumanIntervention(halt) | Outcome::Parked(halt) => stop(*halt),
        // It was halted in this call, but in no tick.
        Outcome::Skipped(Skip::HumanIntervention(halt))
            if call.before.reason.is_none() && call.after.reason.is_some() =>
        {
            stop(*halt)
        }
        // Every tick fails in the same way until somebody mends it.
        Outcome::Error(_) if call.latest != Some(outcome) => NotifyEvent::Stopped,
        _ => return None,
    };
    Some(of_end(call, event))
}

fn stop(halt: Halt) -> NotifyEvent {
    match halt {
        Halt::ApprovalRequired => NotifyEvent::Approval,
        Halt::VerifierBroken => NotifyEvent::VerifierBroken,
        _ => NotifyEvent::Stopped,
    }
}

fn of_end(call: &Call<'_>, event: NotifyEvent) -> Notice {
    let Call { ended, name, .. } = *call;
    let what_to_do = match (&ended.outcome, &ended.task) {
        (Outcome::Pass, Some(task)) => Some(format!("look at it: loop diff {name} {task}")),
        (Outcome::Parked(Halt::ApprovalRequired), Some(task)) => Some(format!(
            "look at it, and let it go on: loop approve {name} {task}"
        )),
        (Outcome::Parked(_), Some(task)) => {
            Some(format!("take it back with: loop approve {name} {task}"))
        }
        (outcome, _) => what_to_do(outcome, name),
    };
    Notice {
        event,
        task: ended.task.clone(),
        tick: ended.tick,
        reason: ended.outcome.reason().map(str::to_owned),
        why: ended.why.clone(),
        what_to_do,
        cost: call.after.known_cost(),
    }
}

#[cfg(test)]
mod tests;
