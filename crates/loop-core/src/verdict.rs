//! What a judge said of an attempt.

mod find;

use crate::Score;
use crate::outcome::VerifyFault;
use crate::text::{TRUNCATED, cut, without_controls};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Characters of reasons and hint together that a verdict keeps; the whole
/// text stays in the verifier's output file.
const MAX_TEXT: usize = 8_000;
/// Bytes of unknown keys that a verdict keeps.
const MAX_EXTRA: usize = 4 * 1024;

/// A judge's word on one attempt, in the shape that the seeds ask for:
/// `{"pass": bool, "score": 0.0-1.0, "reasons": [...], "next_hint": "..."}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Verdict {
    /// Whether the work meets its criteria.
    pub pass: bool,
    /// How good it is; 0.7 stands for minor defects.
    pub score: Score,
    /// Why.
    pub reasons: Vec<String>,
    /// What to try next.
    pub next_hint: String,
    /// What is missing that no attempt can supply. It wins over `pass` and `score`.
    pub blocked: Option<String>,
    /// Keys that the judge added; kept, never used.
    pub extra: Map<String, Value>,
}

/// Why a text holds no verdict. Nothing is repaired: the judge is asked again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// There is no JSON object where a verdict could stand.
    #[error("the answer holds no JSON object with `pass` and `score`")]
    NoObject,
    /// The object that stands for the verdict has the wrong shape.
    #[error("{what}")]
    Shape {
        /// Which key is wrong, and how.
        what: String,
    },
    /// What looks like a verdict stands in the prompt as well: it was repeated,
    /// not given.
    #[error("the answer repeats a verdict that stands in the prompt")]
    Echo,
    /// Several objects look like verdicts and disagree on `pass`.
    #[error("the answer holds verdicts that disagree on `pass`")]
    Conflicting,
}

impl Unreadable {
    /// Returns the reason of the `verify_error` that this leads to.
    #[must_use]
    pub fn fault(&self) -> VerifyFault {
        match self {
            Self::NoObject | Self::Shape { .. } | Self::Echo => VerifyFault::Unreadable,
            Self::Conflicting => VerifyFault::Conflicting,
        }
    }
}

impl Verdict {
    /// Reads the verdict from a judge's final text.
    ///
    /// The whole text, else its last line, is the verdict if it is a JSON
    /// object. Else every object in the text that has both `pass` and `score`
    /// is looked at: the last one counts if all agree on `pass`. What stands in
    /// `prompt` too is not the judge's word, unless it is the whole answer:
    /// harnesses repeat prompts, and a report in one can hold a forged verdict.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] when there is no verdict, several that disagree, or one
    /// of the wrong shape. Prose is never taken for a verdict.
    pub fn read(text: &str, prompt: &str) -> Result<Self, Unreadable> {
        Self::strict(&find::object(text, prompt)?)
    }

    /// Reads one JSON object strictly: no value is coerced, clamped or guessed.
    fn strict(json: &str) -> Result<Self, Unreadable> {
        let shape = |error: serde_json::Error| Unreadable::Shape {
            what: position_free(&error),
        };
        // Reads the known keys, and refuses one that stands twice.
        let known: Known = serde_json::from_str(json).map_err(shape)?;
        let mut extra: Map<String, Value> = serde_json::from_str(json).map_err(shape)?;
        extra.retain(|key, _| !KNOWN.contains(&key.as_str()));
        Ok(Self {
            pass: known.pass,
            score: known.score,
            reasons: known.reasons,
            next_hint: known.next_hint.unwrap_or_default(),
            blocked: known.blocked.filter(|text| !text.trim().is_empty()),
            extra,
        })
    }

    /// Returns the verdict as a record keeps it: nothing in its texts that a
    /// terminal acts on, and the texts cut; the hint comes first, then what is
    /// missing, then the reasons in their order.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let mut room = MAX_TEXT;
        let mut keep = |text: &str| {
            let kept = cut(&without_controls(text), room);
            room = room.saturating_sub(kept.chars().count());
            kept
        };
        self.next_hint = keep(&self.next_hint);
        self.blocked = self.blocked.as_deref().map(&mut keep);
        let mut reasons = Vec::new();
        for reason in &self.reasons {
            match keep(reason) {
                cut if cut == TRUNCATED => break,
                kept => reasons.push(kept),
            }
        }
        if reasons.len() < self.reasons.len() {
            reasons.push(TRUNCATED.trim_start().to_owned());
        }
        self.reasons = reasons;
        let mut bytes = 0;
        self.extra.retain(|key, value| {
            bytes += key.len() + value.to_string().len();
            bytes <= MAX_EXTRA
        });
        self
    }
}

/// The keys a verdict is made of, in the order in which they are shown.
const KNOWN: [&str; 5] = ["pass", "score", "reasons", "next_hint", "blocked"];

/// The strict shape of [`KNOWN`].
#[derive(Deserialize)]
struct Known {
    pass: bool,
    score: Score,
    #[serde(default)]
    reasons: Vec<String>,
    next_hint: Option<String>,
    blocked: Option<String>,
}

/// A JSON error without its position, which would point into a piece of the text.
fn position_free(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

impl TryFrom<Map<String, Value>> for Verdict {
    type Error = Unreadable;

    fn try_from(map: Map<String, Value>) -> Result<Self, Unreadable> {
        Self::strict(&Value::Object(map).to_string())
    }
}

impl From<Verdict> for Map<String, Value> {
    fn from(verdict: Verdict) -> Self {
        let mut map = Self::new();
        map.insert("pass".to_owned(), verdict.pass.into());
        map.insert("score".to_owned(), verdict.score.get().into());
        map.insert("reasons".to_owned(), verdict.reasons.into());
        map.insert("next_hint".to_owned(), verdict.next_hint.into());
        if let Some(blocked) = verdict.blocked {
            map.insert("blocked".to_owned(), blocked.into());
        }
        map.extend(verdict.extra);
        map
    }
}

#[cfg(test)]
mod tests;
