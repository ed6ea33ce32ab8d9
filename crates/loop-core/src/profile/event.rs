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
use crate::text::without_lone_surrogates;

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
        while let Some(key) = map.next_key::<&RawValue>()? {
            if decoded(key).is_some_and(|key| self.0(&key)) {
                values.push(map.next_value()?);
            } else {
                let _unread: IgnoredAny = map.next_value()?;
            }
        }
        Ok(values)
    }
}

/// Decodes a string. Half a character, which JavaScript writes where it has cut a text, is U+FFFD
/// there, so that the rest of the text is not lost.
fn decoded(string: &RawValue) -> Option<Cow<'_, str>> {
    let json = string.get();
    if let Ok(Text(text)) = serde_json::from_str(json) {
        return Some(text);
    }
    let text: String = serde_json::from_str(&without_lone_surrogates(json)).ok()?;
    Some(Cow::Owned(text))
}

/// A string, borrowed where it is written without escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn text_of(value: &RawValue) -> Option<String> {
    match value.get().as_bytes().first() {
        Some(b'"') => decoded(value).map(Cow::into_owned),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes a string as JavaScript's `JSON.stringify` does.
    fn stringified(units: &[u16]) -> String {
        let characters = char::decode_utf16(units.iter().copied());
        let written = characters.map(|read| match read {
            Ok(c) => {
                let quoted = serde_json::to_string(&c).unwrap();
                quoted[1..quoted.len() - 1].to_owned()
            }
            Err(lone) => format!("\\u{:04x}", lone.unpaired_surrogate()),
        });
        format!("\"{}\"", written.collect::<String>())
    }

    fn unit() -> impl Strategy<Value = u16> {
        prop_oneof![
            Just(u16::from(b'\\')),
            0..0x80_u16,
            0xd800..0xe000_u16,
            any::<u16>()
        ]
    }

    proptest! {
        // rows: D-8
        #[test]
        fn a_text_that_javascript_has_cut_is_read_as_far_as_it_goes(
            units in prop::collection::vec(unit(), 1..20)
        ) {
            let string = stringified(&units);
            let text = String::from_utf16_lossy(&units);
            let json = format!(r#"{{{string}:1,"say":{string},"more":{{{string}:{string}}}}}"#);
            let [event] = Event::all(&json)[..] else { panic!("{json}") };
            let read = |path: &str| event.text(&Path::try_from(path.to_owned()).unwrap());
            prop_assert_eq!(read("say"), Some(text.clone()));
            prop_assert_eq!(read("more.*"), Some(text.clone()));
            let keys = fields(event.0, |key| key == text);
            prop_assert_eq!(keys.first().map(|value| value.get()), Some("1"));
        }
    }
}
