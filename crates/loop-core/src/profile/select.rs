//! What finds values in the events of an output.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::path::Path;
use super::pattern::Pattern;
use super::several::Several;

/// What finds a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with where and path, or match"
)]
pub(super) struct Selector {
    /// What an event has to hold; anything when absent.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Where>,
    /// Where the text stands in the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<Path>,
    /// The pattern of the line, in `text` output.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) pattern: Option<Pattern>,
    /// Which of several texts counts; the last when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) take: Option<TakeText>,
    /// The events, such as tool calls, before which nothing that was said is the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Several<Where>>,
}

/// What finds an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with where, or match")]
pub(super) struct Sign {
    /// What the event has to hold.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Where>,
    /// The pattern of the line, in `text` output.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) pattern: Option<Pattern>,
}

/// What finds tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that says where the tokens stand"
)]
pub(super) struct Usage {
    /// What an event has to hold; anything when absent.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Where>,
    /// The pattern of the line with the groups input, cached and output, in `text` output.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) pattern: Option<Pattern>,
    /// All input tokens, cached ones included; several paths are added up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Several<Path>>,
    /// The input tokens that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached: Option<Several<Path>>,
    /// All output tokens, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Several<Path>>,
    /// What identifies a count: the later of two consecutive events with the same value counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) per: Option<Path>,
    /// Whether the counts are added up, or the last one is the total; the last when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) take: Option<TakeNumber>,
    /// Whether a resumed session reports again what it has reported before; false when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cumulative: Option<bool>,
}

/// What finds a cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object that says where the cost stands"
)]
pub(super) struct Cost {
    /// What an event has to hold; anything when absent.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Where>,
    /// Where the US dollars stand; several paths are added up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<Several<Path>>,
    /// The pattern of the line, in `text` output.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) pattern: Option<Pattern>,
    /// Whether the amounts are added up, or the last one is the total; the last when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) take: Option<TakeNumber>,
}

/// Which of several texts counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TakeText {
    /// The last one that is not empty.
    #[default]
    Last,
    /// All, one behind the other.
    Join,
}

/// Which of several numbers counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TakeNumber {
    /// All of them together.
    Sum,
    /// The last one.
    #[default]
    Last,
}

/// The values that an event has to hold, by their paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Where(pub(super) BTreeMap<Path, Value>);

/// A value that is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Value {
    /// Null, or nothing at all.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a whole number, true, false or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        let too_large = |_| E::custom("the number is too large; compare with a smaller one");
        i64::try_from(value).map(Value::Number).map_err(too_large)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }
}

impl JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value that is compared with; null also stands for nothing at all.",
            "type": ["string", "integer", "boolean", "null"],
        })
    }
}
