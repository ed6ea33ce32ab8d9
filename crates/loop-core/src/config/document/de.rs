//! Typed reading of a value, by serde.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::fault::Fault;
use super::node::{Entry, Node};
use crate::config::error::shown;

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text().as_bytes().first() {
            Some(b'{') => visitor.visit_map(Fields {
                rest: self.fields()?.into_iter(),
                current: None,
            }),
            Some(b'[') => visitor.visit_seq(Members {
                rest: self.members()?.into_iter().enumerate(),
            }),
            Some(b'"') => visitor.visit_string(self.as_string().unwrap_or_default()),
            Some(b'n') => visitor.visit_unit(),
            Some(b't') => visitor.visit_bool(true),
            Some(b'f') => visitor.visit_bool(false),
            _ => number(self.text(), visitor),
        }
    }

    /// Reads a number that may have a fraction; unlike a free value's, it has no exponent, and no
    /// more digits than a double tells apart.
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        const EXACT_DIGITS: usize = 15;
        let text = self.text();
        let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if is_number && (text.contains(['e', 'E']) || digits > EXACT_DIGITS) {
            return Err(Fault::invalid_type(Unexpected::Other("number"), &visitor));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.text() == "null" {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads a struct from its keys only, never from an array in the order of its fields.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if self.is_object() {
            return self.deserialize_any(visitor);
        }
        Err(Fault::invalid_type(Unexpected::Other("value"), &visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.as_string() {
            Some(word) => visitor.visit_enum(word.into_deserializer()),
            None => Err(Fault::unknown_variant("", variants)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// Hands a number on as an integer where its text is one.
fn number<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, Fault> {
    if let Ok(number) = text.parse::<u64>() {
        return visitor.visit_u64(number);
    }
    if let Ok(number) = text.parse::<i64>() {
        return visitor.visit_i64(number);
    }
    match text.parse::<f64>() {
        Ok(number) => visitor.visit_f64(number),
        Err(_) => Err(Fault::invalid_type(Unexpected::Other("number"), &visitor)),
    }
}

struct Fields<'de> {
    rest: std::vec::IntoIter<(String, Entry<'de>)>,
    current: Option<(String, Entry<'de>)>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some((key, entry)) = self.rest.next() else {
            return Ok(None);
        };
        let deserializer: StrDeserializer<'_, Fault> = key.as_str().into_deserializer();
        let read = seed
            .deserialize(deserializer)
            .map_err(|fault| fault.of_key(&key, entry.key_offset))?;
        self.current = Some((key, entry));
        Ok(Some(read))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, entry)) = self.current.take() else {
            return Err(Fault::custom("a value was asked for before its key"));
        };
        seed.deserialize(entry.value)
            .map_err(|fault| fault.located_at(&entry.value).inside(&shown(&key)))
    }
}

struct Members<'de> {
    rest: std::iter::Enumerate<std::vec::IntoIter<Node<'de>>>,
}

impl<'de> SeqAccess<'de> for Members<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some((index, node)) = self.rest.next() else {
            return Ok(None);
        };
        let located = |fault: Fault| fault.located_at(&node).inside(&format!("[{index}]"));
        seed.deserialize(node).map(Some).map_err(located)
    }
}
