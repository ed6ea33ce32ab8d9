//! The lines of `events.jsonl`, the truth about a loop.

use crate::answer::StepAnswer;
use crate::bill::Bill;
use crate::control::Control;
use crate::outcome::Outcome;
use crate::rules::Rules;
use crate::state::State;
use crate::step::{Fence, Step, WorkTask};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize, de};
use serde_json::{Map, Value};

/// Version of the record's shape.
pub(crate) const VERSION: u64 = 1;

/// One line: `{"v":1,"seq":n,"at":"…","kind":…, …}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    pub body: Body,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// A tick takes its number: it has found work, or has to say that a cap of
    /// the loop is reached.
    Opened(Opened),
    /// A step with an effect outside is about to start.
    Began {
        /// The tick; `None` outside a tick.
        tick: Option<u64>,
        /// What its answer has to carry.
        fence: Fence,
        /// The process that drives it.
        pid: u32,
    },
    /// A step has ended.
    Answer(Answered),
    /// A request was taken in.
    Control(Requested),
    /// A look for work that found none, or failed.
    Idle {
        /// How it ended.
        outcome: Outcome,
        /// Why.
        why: String,
    },
    /// The end of the log was torn and has been mended.
    Healed {
        /// How many bytes were cut.
        cut_bytes: u64,
        /// Where they were kept.
        kept: String,
    },
    /// The tick has ended.
    Closed(Box<Closed>),
}

/// The start of a tick: everything that its replay needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The tick's number.
    pub tick: u64,
    /// The version of the engine; a replay never crosses two.
    pub engine: String,
    /// What the decisions depend on.
    pub rules: Rules,
    /// The task.
    pub task: Option<WorkTask>,
    /// Sixteen random hex digits.
    pub nonce: String,
}

/// The end of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The tick; `None` outside a tick.
    pub tick: Option<u64>,
    /// Which step and attempt, of which tick.
    pub fence: Fence,
    /// How long it took.
    pub elapsed_ms: u64,
    /// What the call of a harness used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<Bill>,
    /// What happened.
    pub answer: StepAnswer,
}

/// A request and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requested {
    /// The request, with who asked.
    pub control: Control,
    /// Whether it was granted.
    pub accepted: bool,
    /// What it did, or why it was denied, in one line.
    pub said: String,
}

/// The end of a tick: the whole bounded state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// The tick's number.
    pub tick: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in one sentence.
    pub why: String,
    /// The loop's state from here on.
    pub state: State,
}

impl Body {
    /// Whether the record has to be on disk before anything else happens.
    #[must_use]
    pub fn needs_sync(&self) -> bool {
        matches!(
            self,
            Self::Began { .. } | Self::Closed(_) | Self::Control(_)
        )
    }

    /// Returns the step that the record is about.
    #[must_use]
    pub fn step(&self) -> Option<Step> {
        match self {
            Self::Began { fence, .. } => Some(fence.step),
            Self::Answer(answered) => Some(answered.fence.step),
            _ => None,
        }
    }
}

impl Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let Value::Object(body) = serde_json::to_value(&self.body).map_err(S::Error::custom)?
        else {
            return Err(S::Error::custom("a record's body is an object"));
        };
        let mut line = Map::new();
        line.insert("v".to_owned(), VERSION.into());
        line.insert("seq".to_owned(), self.seq.into());
        line.insert("at".to_owned(), self.at.to_string().into());
        line.extend(body);
        line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut line: Map<String, Value> = Map::deserialize(deserializer)?;
        let mut take = |key: &'static str| {
            line.shift_remove(key)
                .ok_or_else(|| de::Error::missing_field(key))
        };
        let (version, seq, at) = (take("v")?, take("seq")?, take("at")?);
        if version != VERSION {
            return Err(de::Error::custom(format_args!(
                "version {version} of the record is not known to this engine"
            )));
        }
        Ok(Self {
            seq: serde_json::from_value(seq).map_err(de::Error::custom)?,
            at: serde_json::from_value(at).map_err(de::Error::custom)?,
            body: serde_json::from_value(Value::Object(line)).map_err(de::Error::custom)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Request;
    use crate::outcome::Skip;

    fn record(body: Body) -> Record {
        Record {
            seq: 7,
            at: Timestamp::default(),
            body,
        }
    }

    fn fence(step: Step) -> Fence {
        Fence {
            opened: 3,
            step,
            attempt: 1,
        }
    }

    fn bodies() -> [(Body, &'static str, bool, Option<Step>); 6] {
        [
            (
                Body::Began {
                    tick: Some(2),
                    fence: fence(Step::Verify),
                    pid: 9,
                },
                "began",
                true,
                Some(Step::Verify),
            ),
            (
                Body::Answer(Answered {
                    tick: None,
                    fence: fence(Step::Report),
                    elapsed_ms: 5,
                    bill: None,
                    answer: StepAnswer::Report,
                }),
                "answer",
                false,
                Some(Step::Report),
            ),
            (
                Body::Control(Requested {
                    control: Control {
                        id: "c1".to_owned(),
                        request: Request::Pause,
                        by: "ada".to_owned(),
                        note: None,
                    },
                    accepted: true,
                    said: "paused".to_owned(),
                }),
                "control",
                true,
                None,
            ),
            (
                Body::Idle {
                    outcome: Outcome::Skipped(Skip::Paused),
                    why: "the loop is paused".to_owned(),
                },
                "idle",
                false,
                None,
            ),
            (
                Body::Healed {
                    cut_bytes: 3,
                    kept: "events.torn-6".to_owned(),
                },
                "healed",
                false,
                None,
            ),
            (
                Body::Closed(Box::new(Closed {
                    tick: 2,
                    outcome: Outcome::Pass,
                    why: "t passed".to_owned(),
                    state: State::new(),
                })),
                "closed",
                true,
                None,
            ),
        ]
    }

    // rows: L-12
    #[test]
    fn a_record_is_a_line_that_says_what_it_is() {
        for (body, kind, needs_sync, step) in bodies() {
            assert_eq!(body.needs_sync(), needs_sync, "{kind}");
            assert_eq!(body.step(), step, "{kind}");
            let record = record(body);
            let line = serde_json::to_string(&record).unwrap();
            let start =
                format!(r#"{{"v":1,"seq":7,"at":"1970-01-01T00:00:00.000Z","kind":"{kind}""#);
            assert!(line.starts_with(&start), "{line}");
            assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
        }
    }

    // rows: L-08
    #[test]
    fn a_line_of_another_shape_is_no_record() {
        let idle = r#""kind":"idle","outcome":{"outcome":"skipped","reason":"paused"},"why":"x""#;
        let at = r#""at":"1970-01-01T00:00:00.000Z""#;
        let read = |line: &str| serde_json::from_str::<Record>(line);
        assert!(read(&format!(r#"{{"v":1,"seq":1,{at},{idle}}}"#)).is_ok());
        for (line, why) in [
            (
                format!(r#"{{"v":2,"seq":1,{at},{idle}}}"#),
                "version 2 of the record is not known to this engine",
            ),
            (format!(r#"{{"seq":1,{at},{idle}}}"#), "missing field `v`"),
            (format!(r#"{{"v":1,{at},{idle}}}"#), "missing field `seq`"),
            (format!(r#"{{"v":1,"seq":1,{idle}}}"#), "missing field `at`"),
            (format!(r#"{{"v":1,"seq":1,{at}}}"#), "missing field `kind`"),
            (
                format!(r#"{{"v":1,"seq":-1,{at},{idle}}}"#),
                "invalid value",
            ),
            (
                format!(r#"{{"v":1,"seq":1,"at":"today",{idle}}}"#),
                "`today` is not a time",
            ),
        ] {
            let error = read(&line).unwrap_err().to_string();
            assert!(error.starts_with(why), "{line}: {error}");
        }
    }
}
