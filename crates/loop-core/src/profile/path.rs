//! Paths to values in an event.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::config::name::Malformed;

/// The most steps that a path may have.
const LONGEST: usize = 16;

/// A path such as `part.tokens.input`, `message.content.text` or `models.*.tokens`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Path(Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    /// A key of an object.
    Key(String),
    /// A member of an array, or the key that looks like a number.
    Index(usize),
    /// Each member of an object or array.
    Each,
}

impl Path {
    /// Returns the steps of the path; at least one.
    pub(super) fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl Segment {
    fn of(text: &str) -> Self {
        match text {
            "*" => Self::Each,
            // 007 is a key: written as a number it would not come back the same.
            _ => match text.parse::<usize>() {
                Ok(index) if index.to_string() == text => Self::Index(index),
                _ => Self::Key(text.to_owned()),
            },
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => index.fmt(f),
            Self::Each => f.write_str("*"),
        }
    }
}

impl TryFrom<String> for Path {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let segments: Vec<&str> = text.split('.').collect();
        if segments.len() > LONGEST || segments.iter().any(|segment| segment.is_empty()) {
            return Err(Malformed(format!(
                "{text:?} is no path; write up to {LONGEST} keys with dots between them, such as \
                 usage.input"
            )));
        }
        Ok(Self(segments.into_iter().map(Segment::of).collect()))
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.to_string()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{segment}")?;
        }
        Ok(())
    }
}

impl JsonSchema for Path {
    fn schema_name() -> Cow<'static, str> {
        "Path".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Keys with dots between them; * is each member, a number an index.",
            "type": "string",
            "pattern": "^[^.]+(\\.[^.]+){0,15}$",
        })
    }
}
