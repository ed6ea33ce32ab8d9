//! One thing, or a list of them.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One value, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Several<T> {
    /// One.
    One(T),
    /// As many as there are.
    Many(#[schemars(length(min = 1))] Vec<T>),
}

impl<T> Several<T> {
    /// Returns the values in their order.
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeveralVisitor(PhantomData))
    }
}

struct SeveralVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SeveralVisitor<T> {
    type Value = Several<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or an array of them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Several<T>, E> {
        let text: StrDeserializer<'_, E> = text.into_deserializer();
        T::deserialize(text).map(Several::One)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Several<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Several::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Several<T>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = members.next_element()? {
            values.push(value);
        }
        if values.is_empty() {
            return Err(A::Error::custom("the list is empty; leave the key out"));
        }
        Ok(Several::Many(values))
    }
}
