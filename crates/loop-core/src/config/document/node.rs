//! One value of the document, unread.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::fault::Fault;
use crate::config::error::shown;

/// The text of one value inside the text of the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    document: &'a str,
    text: &'a str,
    without: Option<&'static str>,
}

/// A value with the place of its key, which for a member of an array is its own place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key_offset: usize,
    pub(super) value: Node<'a>,
}

impl<'a> Node<'a> {
    pub(super) fn root(document: &'a str) -> Self {
        let text = document.trim_matches([' ', '\t', '\r', '\n']);
        Self {
            document,
            text,
            without: None,
        }
    }

    /// Leaves one key of this object out when it is read into a type.
    pub(super) fn without(self, key: Option<&'static str>) -> Self {
        Self {
            without: key,
            ..self
        }
    }

    /// Returns the value as it stands in the document.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the byte of the document at which the value starts.
    pub(super) fn offset(&self) -> usize {
        self.text.as_ptr().addr() - self.document.as_ptr().addr()
    }

    pub(super) fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    pub(super) fn as_string(&self) -> Option<String> {
        serde_json::from_str(self.text).ok()
    }

    /// Says in a few words what the value is.
    pub(super) fn describe(&self) -> String {
        match self.text.as_bytes().first() {
            Some(b'{') => "an object".to_owned(),
            Some(b'[') if self.text[1..].trim_start().starts_with(']') => {
                "an empty array".to_owned()
            }
            Some(b'[') => "an array".to_owned(),
            _ => shown(self.text),
        }
    }

    /// Returns the keys and values of an object.
    pub(super) fn fields(&self) -> Result<Vec<(String, Entry<'a>)>, Fault> {
        let RawFields(raw) = self.split()?;
        let mut seen = BTreeSet::new();
        let mut fields = Vec::with_capacity(raw.len());
        for (key, value) in raw {
            let key_offset = self.part(key).offset();
            let key: String = serde_json::from_str(key.get()).map_err(serde::de::Error::custom)?;
            if !seen.insert(key.clone()) {
                return Err(Fault::duplicate(&key, key_offset));
            }
            if self.without != Some(key.as_str()) {
                fields.push((
                    key,
                    Entry {
                        key_offset,
                        value: self.part(value),
                    },
                ));
            }
        }
        Ok(fields)
    }

    /// Returns the members of an array.
    pub(super) fn members(&self) -> Result<Vec<Self>, Fault> {
        let members: Vec<&RawValue> = self.split()?;
        Ok(members
            .into_iter()
            .map(|member| self.part(member))
            .collect())
    }

    pub(super) fn field(&self, name: &str) -> Option<Entry<'a>> {
        let fields = self.fields().ok()?;
        fields
            .into_iter()
            .find(|(key, _)| key == name)
            .map(|(_, entry)| entry)
    }

    pub(super) fn member(&self, index: usize) -> Option<Entry<'a>> {
        let value = *self.members().ok()?.get(index)?;
        Some(Entry {
            key_offset: value.offset(),
            value,
        })
    }

    fn split<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        serde_json::from_str(self.text).map_err(serde::de::Error::custom)
    }

    fn part(&self, raw: &'a RawValue) -> Self {
        Self {
            document: self.document,
            text: raw.get(),
            without: None,
        }
    }
}

/// The fields of one object, keys in their quotes.
struct RawFields<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(RawFields(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}
