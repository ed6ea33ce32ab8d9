//! Commands as lists of arguments, never as a line for a shell.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::name::Malformed;

/// A program and its arguments; at least the program is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Argv(Vec<String>);

impl Argv {
    /// Returns the program and its arguments.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl AsRef<[String]> for Argv {
    fn as_ref(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for Argv {
    type Error = Malformed;

    fn try_from(arguments: Vec<String>) -> Result<Self, Malformed> {
        check_program(arguments.first().map_or("", String::as_str)).map_err(Malformed)?;
        arguments
            .iter()
            .try_for_each(|argument| check_argument(argument))
            .map_err(Malformed)?;
        Ok(Self(arguments))
    }
}

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_seq(Arguments)? {
            arguments if arguments.is_empty() => {
                Err(D::Error::custom("the command is empty; name a program"))
            }
            arguments => Ok(Self(arguments)),
        }
    }
}

impl JsonSchema for Argv {
    fn schema_name() -> Cow<'static, str> {
        "Argv".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A program and its arguments.",
            "type": "array",
            "prefixItems": [{"type": "string", "minLength": 1}],
            "items": {"type": "string"},
            "minItems": 1,
        })
    }
}

/// A harness's command, in which an empty array stands for the default command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum HarnessCommand {
    /// A program and its arguments, with tokens.
    Argv(Argv),
    /// `[]`: the default command.
    Default([String; 0]),
}

impl<'de> Deserialize<'de> for HarnessCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let arguments = deserializer.deserialize_seq(Arguments)?;
        if arguments.is_empty() {
            return Ok(Self::Default([]));
        }
        arguments
            .try_into()
            .map(Self::Argv)
            .map_err(D::Error::custom)
    }
}

impl JsonSchema for HarnessCommand {
    fn schema_name() -> Cow<'static, str> {
        "HarnessCommand".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A program and its arguments, with tokens; [] is the default command.",
            "type": "array",
            "prefixItems": [{"type": "string", "minLength": 1}],
            "items": {"type": "string"},
        })
    }
}

fn check_program(text: &str) -> Result<(), String> {
    match text {
        "" => Err("the program is empty; name one".to_owned()),
        _ => check_argument(text),
    }
}

fn check_argument(text: &str) -> Result<(), String> {
    match text.contains('\0') {
        true => Err("no program can be given a NUL character; take it out".to_owned()),
        false => Ok(()),
    }
}

/// Reads an array of strings, which may be empty; each element is checked where it stands.
struct Arguments;

impl<'de> Visitor<'de> for Arguments {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array with a string for the program and for each argument")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Vec<String>, A::Error> {
        let mut arguments = Vec::new();
        let mut check: fn(&str) -> Result<(), String> = check_program;
        while let Some(argument) = members.next_element_seed(Checked(check))? {
            arguments.push(argument);
            check = check_argument;
        }
        Ok(arguments)
    }
}

/// Reads a string and checks it while its place is known.
struct Checked(fn(&str) -> Result<(), String>);

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let text = String::deserialize(deserializer)?;
        (self.0)(&text).map_err(D::Error::custom)?;
        Ok(text)
    }
}
