//! The records of a tick that another version of the engine opened.
//!
//! A replay never crosses two versions: another one may decide otherwise, or
//! write what this one cannot read. What all of them write alike is enough to
//! close such a tick with everything counted that was spent.

use super::Replayed;
use crate::control::Control;
use crate::machine::Machine;
use crate::record::VERSION;
use crate::rules::Rules;
use crate::state::State;
use crate::step::Step;
use crate::time::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A record as every version of the engine can read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bare {
    /// Its number.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    pub(crate) fact: Fact,
}

/// What is understood of a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fact {
    Opened(Box<ForeignOpened>),
    Began { step: Option<Step>, pid: u32 },
    Answer { elapsed_ms: u64 },
    Control { control: Control, accepted: bool },
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignOpened {
    pub(crate) tick: Option<u64>,
    pub(crate) rules: Option<Rules>,
    pub(crate) task: Option<ForeignTask>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignTask {
    pub(crate) name: String,
    pub(crate) phase: Option<String>,
}

impl Bare {
    /// Reads what is understood of a line; `None` when not even its number is.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let line: Map<String, Value> = serde_json::from_slice(line).ok()?;
        if line.get("v")? != VERSION {
            return None;
        }
        Some(Self {
            seq: get(&line, "seq")?,
            at: get(&line, "at")?,
            fact: Fact::of(&line),
        })
    }
}

impl Fact {
    fn of(line: &Map<String, Value>) -> Self {
        match line.get("kind").and_then(Value::as_str) {
            Some("opened") => Self::Opened(Box::new(ForeignOpened {
                tick: get(line, "tick"),
                rules: get(line, "rules"),
                task: line.get("task").and_then(Value::as_object).and_then(task),
            })),
            Some("began") => Self::Began {
                step: line.get("fence").and_then(|fence| read(fence.get("step")?)),
                pid: get(line, "pid").unwrap_or_default(),
            },
            Some("answer") => Self::Answer {
                elapsed_ms: get(line, "elapsed_ms").unwrap_or_default(),
            },
            Some("control") => match get(line, "control") {
                Some(control) => Self::Control {
                    control,
                    accepted: get(line, "accepted").unwrap_or_default(),
                },
                None => Self::Other,
            },
            _ => Self::Other,
        }
    }
}

fn task(task: &Map<String, Value>) -> Option<ForeignTask> {
    Some(ForeignTask {
        name: get(task, "name")?,
        phase: get(task, "phase").flatten(),
    })
}

fn get<T: DeserializeOwned>(object: &Map<String, Value>, key: &str) -> Option<T> {
    read(object.get(key)?)
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// Takes in the records of a tick that `engine`, another version, opened, from
/// the latest `closed` record on, which holds `state`.
///
/// The machine then asks for the tick to be closed as interrupted. If a step of
/// it [was begun](Machine::begun), it has to be [written off](Machine::write_off)
/// before.
#[must_use]
pub fn replay_foreign<'r>(
    state: State,
    records: impl IntoIterator<Item = &'r Bare>,
    engine: &str,
) -> Replayed {
    let mut machine = Machine::new(state);
    for record in records {
        machine.take_foreign(record);
    }
    machine.end_foreign(engine);
    Replayed {
        machine,
        engine: Some(engine.to_owned()),
    }
}
