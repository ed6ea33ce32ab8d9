//! What "done" means, in words.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The acceptance criteria, as one text or as a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Criteria {
    /// A text that is used as it is.
    Text(String),
    /// A list with a criterion for each entry.
    List(Vec<String>),
}

/// Shows a list as one line `- criterion` for each, and a text as it is.
impl fmt::Display for Criteria {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}- {item}", if index == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Criteria {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CriteriaVisitor)
    }
}

struct CriteriaVisitor;

impl<'de> Visitor<'de> for CriteriaVisitor {
    type Value = Criteria;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array of strings")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Criteria, E> {
        Ok(Criteria::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Criteria, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = members.next_element()? {
            items.push(item);
        }
        Ok(Criteria::List(items))
    }
}
