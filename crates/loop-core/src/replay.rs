//! From records back to the machine.

mod foreign;

pub use foreign::{Bare, replay_foreign};
pub(crate) use foreign::{Fact, ForeignTask};

use crate::answer::{Answer, Reply};
use crate::machine::{Machine, Refused};
use crate::record::{Body, Record};
use crate::state::State;

/// Records that do not follow from each other.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq} does not follow from the ones before it: {why}")]
pub struct ReplayError {
    /// The record's number.
    pub seq: u64,
    /// What is wrong.
    pub why: String,
}

/// A machine as its records left it.
#[derive(Debug)]
pub struct Replayed {
    /// The machine.
    pub machine: Machine,
    /// The version of the engine that opened the tick which is still open.
    pub engine: Option<String>,
}

/// Replays the records that follow a loop's latest `closed` record, which holds
/// `state`; for a loop without one, all its records and a new state.
///
/// # Errors
///
/// [`ReplayError`] at the first record that the machine does not take.
pub fn replay<'r>(
    state: State,
    records: impl IntoIterator<Item = &'r Record>,
) -> Result<Replayed, ReplayError> {
    let mut replayed = Replayed {
        machine: Machine::new(state),
        engine: None,
    };
    let mut before: Option<u64> = None;
    for record in records {
        let follows = before.is_none_or(|before| record.seq == before + 1);
        let taken = if follows {
            replayed.take(record)
        } else {
            Err("a record is missing before it".to_owned())
        };
        taken.map_err(|why| ReplayError {
            seq: record.seq,
            why,
        })?;
        before = Some(record.seq);
    }
    Ok(replayed)
}

impl Replayed {
    fn take(&mut self, record: &Record) -> Result<(), String> {
        let machine = &mut self.machine;
        let refused = |refused: Refused| refused.to_string();
        match &record.body {
            Body::Opened(opened) => {
                machine
                    .reopen(opened.rules.clone(), opened.task.clone(), record.at)
                    .map_err(refused)?;
                same_tick(Some(opened.tick), Some(machine.state().tick + 1))?;
                self.engine = Some(opened.engine.clone());
                give(
                    machine,
                    record,
                    0,
                    Answer::Opened {
                        seq: record.seq,
                        nonce: opened.nonce.clone(),
                    },
                )
            }
            Body::Began { tick, fence, pid } => {
                machine.begin(*fence, record.at, *pid).map_err(refused)?;
                same_tick(*tick, machine.state().in_progress)
            }
            Body::Answer(answered) => {
                let reply = Reply {
                    at: record.at,
                    elapsed_ms: answered.elapsed_ms,
                    bill: answered.bill.clone(),
                    answer: Answer::Step(answered.answer.clone()),
                };
                machine.answer(answered.fence, reply).map_err(refused)?;
                same_tick(answered.tick, machine.state().in_progress)
            }
            Body::Control(requested) => {
                // Denied or granted, the machine decides the same again.
                let _same_again = machine.control(record.seq, record.at, &requested.control);
                Ok(())
            }
            Body::Closed(closed) => {
                self.engine = None;
                give(machine, record, 0, Answer::Closed)?;
                let ended = machine.ended().ok_or("no tick has ended")?;
                same_tick(Some(closed.tick), ended.tick)?;
                if (&closed.outcome, &closed.why) != (&ended.outcome, &ended.why) {
                    Err("its records lead to another outcome".to_owned())
                } else if *machine.state() != closed.state {
                    Err("the state in it is another than its records lead to".to_owned())
                } else {
                    Ok(())
                }
            }
            Body::Idle { .. } | Body::Healed { .. } => Ok(()),
        }
    }
}

/// Refuses a record that says it is of another tick than the one it stands in.
fn same_tick(said: Option<u64>, stands_in: Option<u64>) -> Result<(), String> {
    if said == stands_in {
        return Ok(());
    }
    let word =
        |tick: Option<u64>| tick.map_or_else(|| "no tick".to_owned(), |n| format!("tick {n}"));
    Err(format!(
        "it is of {}, and stands in {}",
        word(said),
        word(stands_in)
    ))
}

fn give(
    machine: &mut Machine,
    record: &Record,
    elapsed_ms: u64,
    answer: Answer,
) -> Result<(), String> {
    let fence = machine.fence().ok_or("nothing was asked for")?;
    let reply = Reply {
        at: record.at,
        elapsed_ms,
        bill: None,
        answer,
    };
    machine
        .answer(fence, reply)
        .map_err(|refused| refused.to_string())
}
