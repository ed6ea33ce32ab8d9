//! The keys of a configuration that belong to the people who wrote it.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor};
use serde_json::Value;

/// The keys that start with `x-`, in the order in which they were written.
pub type FreeKeys = serde_json::Map<String, Value>;

/// Reports whether a top-level key is free.
fn is_free(key: &str) -> bool {
    key.starts_with("x-")
}

/// The fields of an object without the free ones, which are put aside.
pub(super) struct Known<'a, A> {
    pub(super) fields: A,
    pub(super) free: &'a mut FreeKeys,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Known<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        mut seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.fields.next_key_seed(Split(seed))? {
                None => return Ok(None),
                Some(Key::Known(key)) => return Ok(Some(key)),
                Some(Key::Free(name, unused)) => {
                    if self.free.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("duplicate key {name}")));
                    }
                    self.free.insert(name, self.fields.next_value()?);
                    seed = unused;
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.fields.next_value_seed(seed)
    }
}

/// Reads a known key with the seed, or gives the seed back with a free one.
struct Split<K>(K);

enum Key<T, K> {
    Known(T),
    Free(String, K),
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Split<K> {
    type Value = Key<K::Value, K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Split<K> {
    type Value = Key<K::Value, K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        if is_free(key) {
            return Ok(Key::Free(key.to_owned(), self.0));
        }
        self.0.deserialize(key.into_deserializer()).map(Key::Known)
    }
}
