//! JSON text whose every error knows its place.
//!
//! serde_json reports where its reader stood when an error surfaced, which for a value of the
//! wrong kind is behind that value, and for a rule that ties keys together nowhere at all. Here
//! serde_json still does the reading, but one level at a time: an object becomes its keys and the
//! unread text of its values, so each value knows its own offset, and typed reading hands the
//! offset and path of the innermost value at fault back up. Nothing is read through an untyped
//! value, so a number keeps its digits and a second key is seen.

mod de;
mod fault;
mod node;
mod syntax;

use serde::de::DeserializeOwned;

use super::error::{ConfigError, Position, Problem};
use fault::Fault;
use node::{Entry, Node};

/// A text that is one well-formed JSON object.
pub(crate) struct Document<'a> {
    text: &'a str,
    root: Node<'a>,
}

impl<'a> Document<'a> {
    /// Checks the whole text for being JSON. A byte order mark in front is not part of the text.
    pub(crate) fn new(text: &'a str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        syntax::check(text)?;
        let root = Node::root(text);
        if root.is_object() {
            return Ok(Self { text, root });
        }
        let found = root.describe();
        let problem = Problem::Unexpected {
            expected: "an object".to_owned(),
            found,
        };
        Err(ConfigError {
            position: Position::of(text, root.offset()),
            key: String::new(),
            problem,
        })
    }

    /// Reads the document into a type, as if the key `without` at the top level were not there.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        without: Option<&'static str>,
    ) -> Result<T, ConfigError> {
        T::deserialize(self.root.without(without))
            .map_err(|fault| fault.located_at(&self.root))
            .map_err(|fault| self.error(fault))
    }

    /// Finds the text of the string at a path such as `work_source.kind`.
    pub(super) fn string(&self, path: &str) -> Option<String> {
        self.find(path)?.value.as_string()
    }

    /// Finds where the key at a path starts.
    pub(super) fn key_position(&self, path: &str) -> Option<Position> {
        self.find(path)
            .map(|entry| Position::of(self.text, entry.key_offset))
    }

    /// Makes an error about the value at a path, or about the nearest thing around it.
    pub(crate) fn error_at(&self, path: &str, problem: Problem) -> ConfigError {
        let mut place = path;
        let offset = loop {
            match self.find(place) {
                Some(entry) => break entry.value.offset(),
                None => match place.rfind(['.', '[']) {
                    Some(end) => place = &place[..end],
                    None => break self.root.offset(),
                },
            }
        };
        ConfigError {
            position: Position::of(self.text, offset),
            key: path.to_owned(),
            problem,
        }
    }

    fn find(&self, path: &str) -> Option<Entry<'a>> {
        let mut entry = Entry {
            key_offset: self.root.offset(),
            value: self.root,
        };
        for step in path.split(['.', '[']) {
            entry = match step.strip_suffix(']') {
                Some(index) => entry.value.member(index.parse().ok()?)?,
                None => entry.value.field(step)?,
            };
        }
        Some(entry)
    }

    fn error(&self, fault: Fault) -> ConfigError {
        let Fault {
            offset,
            path,
            problem,
        } = fault;
        let position = Position::of(self.text, offset.unwrap_or_else(|| self.root.offset()));
        ConfigError {
            position,
            key: path,
            problem,
        }
    }
}
