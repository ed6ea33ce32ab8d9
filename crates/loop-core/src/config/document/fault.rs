//! An error on its way from the value at fault up to the document.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::node::Node;
use crate::config::error::{Problem, nearest, shown};

/// A problem that gathers its place while it passes through the levels of the document.
#[derive(Debug)]
pub(super) struct Fault {
    /// Where the key or value at fault starts, once known.
    pub(super) offset: Option<usize>,
    /// The path from the level reached so far to the place at fault.
    pub(super) path: String,
    pub(super) problem: Problem,
}

impl Fault {
    fn new(problem: Problem) -> Self {
        Self {
            offset: None,
            path: String::new(),
            problem,
        }
    }

    /// Places the fault at a key, which is also the last step of its path.
    pub(super) fn of_key(self, key: &str, offset: usize) -> Self {
        Self {
            offset: Some(offset),
            path: shown(key),
            ..self
        }
    }

    /// Makes the fault of a key that was there before.
    pub(super) fn duplicate(key: &str, offset: usize) -> Self {
        Self::new(Problem::DuplicateKey).of_key(key, offset)
    }

    /// Places the fault at a value, unless a value inside it is to blame.
    pub(super) fn located_at(mut self, node: &Node<'_>) -> Self {
        if self.offset.is_none() {
            self.offset = Some(node.offset());
            if let Problem::Unexpected { found, .. } | Problem::UnknownValue { found, .. } =
                &mut self.problem
            {
                *found = node.describe();
            }
        }
        self
    }

    /// Puts the step of one level in front of the path.
    pub(super) fn inside(mut self, step: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{step}{joint}{}", self.path);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Invalid(message.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // What was found is shown in the words of the text, which `located_at` knows.
        let expected = in_words(expected.to_string());
        Self::new(Problem::Unexpected {
            expected,
            found: String::new(),
        })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let suggestion = nearest(variant, known).map(|name| format!("\"{name}\""));
        Self::new(Problem::UnknownValue {
            found: String::new(),
            suggestion,
            known,
        })
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey {
            suggestion: nearest(field, known).map(str::to_owned),
            known,
        })
    }

    fn missing_field(field: &'static str) -> Self {
        Self {
            path: field.to_owned(),
            ..Self::new(Problem::MissingKey)
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self {
            path: field.to_owned(),
            ..Self::new(Problem::DuplicateKey)
        }
    }
}

/// Says in JSON's words what serde's own readers say in Rust's.
fn in_words(expected: String) -> String {
    match expected.as_str() {
        "a sequence" => "an array".to_owned(),
        "a map" => "an object".to_owned(),
        "a boolean" => "true or false".to_owned(),
        _ => expected,
    }
}
