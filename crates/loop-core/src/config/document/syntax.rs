//! The first pass: is the text JSON at all?

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

use crate::config::error::{ConfigError, Position, Problem, shown};

/// Reads the whole text as JSON and keeps nothing.
///
/// serde_json bounds the nesting to 128 levels here, on which the recursion of later passes
/// relies.
pub(super) fn check(text: &str) -> Result<(), ConfigError> {
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        let position = Position::of(text, 0);
        return Err(ConfigError {
            position,
            key: String::new(),
            problem: Problem::Empty,
        });
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize::<_, Anything>(&mut reader)
        .map_err(|error| (known_part(error.path()), error.into_inner()))
        .and_then(|Anything| reader.end().map_err(|error| (String::new(), error)))
        .map_err(|(key, error)| refuse(text, key, &error))
}

fn refuse(text: &str, key: String, error: &serde_json::Error) -> ConfigError {
    let message = error.to_string();
    let reason = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(reason, _)| reason);
    let position = Position::of(text, offset(text, error, reason));
    let reason = reason.to_owned();
    let problem = match error.classify() {
        Category::Eof => Problem::Truncated { reason },
        _ => Problem::Syntax { reason },
    };
    ConfigError {
        position,
        key,
        problem,
    }
}

/// Finds the byte at fault; for a malformed word or number, the first one of it.
fn offset(text: &str, error: &serde_json::Error, reason: &str) -> usize {
    const OF_WORDS: [&str; 5] = [
        "expected ident",
        "expected `,` or `]`",
        "expected `,` or `}`",
        "invalid number",
        "number out of range",
    ];
    if error.is_eof() {
        return text.len();
    }
    // serde_json counts bytes: the column of the byte that it looked at last, from 1.
    let lines_before = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let line_start: usize = lines_before.map(str::len).sum();
    let last = (line_start + error.column().saturating_sub(1)).min(text.len());
    if !OF_WORDS.contains(&reason) {
        return last;
    }
    let is_of_word =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    last - text.as_bytes()[..last]
        .iter()
        .rev()
        .take_while(is_of_word)
        .count()
}

/// Writes the path as far as the reader knew it when it gave up.
fn known_part(path: &Path) -> String {
    let mut written = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => written.push_str(&format!("[{index}]")),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                let joint = if written.is_empty() { "" } else { "." };
                written.push_str(&format!("{joint}{}", shown(key)));
            }
            Segment::Unknown => break,
        }
    }
    written
}

/// Any JSON value, read by visiting every part of it, so that a fault has a path.
struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnythingVisitor)
    }
}

struct AnythingVisitor;

impl<'de> Visitor<'de> for AnythingVisitor {
    type Value = Anything;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_unit<E: Error>(self) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Anything, A::Error> {
        while members.next_element::<Anything>()?.is_some() {}
        Ok(Anything)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Anything, A::Error> {
        while fields.next_entry::<String, Anything>()?.is_some() {}
        Ok(Anything)
    }
}
