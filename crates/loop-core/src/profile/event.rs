//! One event of an output, of which only what a path leads to is read.
//!
//! The text of a number is kept as it stands, because a double would not hold every amount, and
//! nothing else is taken apart, because an event may be megabytes of a tool's output.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::path::{Path, Segment};
use super::select::{Value, Where};

/// How many arrays inside arrays a path goes through in one step.
const DEEPEST: usize = 4;

/// A JSON object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a>(&'a RawValue);

impl<'a> Event<'a> {
    /// Reads a text that is an object, or an array of which some members are objects; empty for
    /// anything else.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let text = text.trim();
        if !text.starts_with(['{', '[']) {
            return Vec::new();
        }
        let Ok(value) = serde_json::from_str::<&RawValue>(text) else {
            return Vec::new();
        };
        let is_object = |value: &&RawValue| value.get().starts_with('{');
        let values = if is_object(&value) {
            vec![value]
        } else {
            members(value)
        };
        values.into_iter().filter(is_object).map(Self).collect()
    }

    /// Reports whether the event holds all the values.
    pub(super) fn fits(self, place: Option<&Where>) -> bool {
        let mut wanted = place.into_iter().flat_map(|place| &place.0);
        wanted.all(|(path, value)| self.holds(path, value))
    }

    fn holds(self, path: &Path, wanted: &Value) -> bool {
        let found = self.find(path);
        match wanted {
            Value::Null => found.iter().all(|value| value.get() == "null"),
            _ => found.iter().any(|value| equal(value, wanted)),
        }
    }

    /// Finds the texts at a path, joined by line ends; numbers, true and false as they stand.
    /// `None` when there is none, or only empty ones.
    pub(super) fn text(self, path: &Path) -> Option<String> {
        let found = self.find(path);
        let texts: Vec<String> = found.into_iter().filter_map(text_of).collect();
        Some(texts.join("\n")).filter(|text| !text.is_empty())
    }

    /// Finds the texts of the numbers at a path; of anything else the text that stands there, but
    /// for null.
    pub(super) fn numbers(self, path: &Path) -> Vec<&'a str> {
        let found = self.find(path).into_iter().map(RawValue::get);
        found.filter(|text| *text != "null").collect()
    }

    /// Finds the values that a path leads to.
    fn find(self, path: &Path) -> Vec<&'a RawValue> {
        let mut reached = vec![self.0];
        for segment in path.segments() {
            reached = reached
                .into_iter()
                .flat_map(|value| step(value, segment, DEEPEST))
                .collect();
        }
        reached
    }
}

/// Goes one step from a value; a key goes through arrays.
fn step<'a>(value: &'a RawValue, segment: &Segment, depth: usize) -> Vec<&'a RawValue> {
    let is_array = value.get().starts_with('[');
    match segment {
        Segment::Each if is_array => members(value),
        Segment::Each => fields(value, |_| true),
        Segment::Index(index) if is_array => {
            members(value).get(*index).copied().into_iter().collect()
        }
        Segment::Index(index) => field(value, &index.to_string()),
        Segment::Key(_) if is_array && depth == 0 => Vec::new(),
        Segment::Key(_) if is_array => members(value)
            .into_iter()
            .flat_map(|member| step(member, segment, depth - 1))
            .collect(),
        Segment::Key(key) => field(value, key),
    }
}

fn members(array: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(array.get()).unwrap_or_default()
}

/// Returns the value of a key; of a key that occurs twice the last, as most readers do.
fn field<'a>(object: &'a RawValue, key: &str) -> Vec<&'a RawValue> {
    fields(object, |name| name == key)
        .pop()
        .into_iter()
        .collect()
}

fn fields(object: &RawValue, wanted: impl Fn(&str) -> bool) -> Vec<&RawValue> {
    if !object.get().starts_with('{') {
        return Vec::new();
    }
    let mut reader = serde_json::Deserializer::from_str(object.get());
    reader.deserialize_map(Fields(wanted)).unwrap_or_default()
}

/// Reads the values of the keys that are wanted.
struct Fields<F>(F);

impl<'de, F: Fn(&str) -> bool> Visitor<'de> for Fields<F> {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if self.0(&key) {
                values.push(map.next_value()?);
            } else {
                let _unread: IgnoredAny = map.next_value()?;
            }
        }
        Ok(values)
    }
}

/// A key, borrowed where it is written without escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

fn text_of(value: &RawValue) -> Option<String> {
    match value.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(value.get()).ok(),
        Some(b'{' | b'[' | b'n') | None => None,
        Some(_) => Some(value.get().to_owned()),
    }
}

fn equal(value: &RawValue, wanted: &Value) -> bool {
    let text = value.get();
    match wanted {
        Value::Null => text == "null",
        Value::Bool(wanted) => text == if *wanted { "true" } else { "false" },
        Value::Number(wanted) => text.parse() == Ok(*wanted),
        Value::Text(wanted) => {
            text.starts_with('"') && text_of(value).is_some_and(|text| text == *wanted)
        }
    }
}
