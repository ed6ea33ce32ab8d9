//! Patterns of lines.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex_lite::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::config::name::Malformed;

/// The longest part of a line that a pattern is tried on, in bytes: what a tool says of itself
/// stands at the front.
const LONGEST_LINE: usize = 8 * 1024;

/// A regular expression that is tied to the start of a line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Pattern {
    text: String,
    regex: Regex,
}

impl Pattern {
    /// Tries the pattern on each line of a text.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        text.lines().find_map(|line| self.find_in_line(line))
    }

    /// Tries the pattern on one line.
    pub(super) fn find_in_line<'t>(&self, line: &'t str) -> Option<Found<'t>> {
        let line = front(line);
        let groups = self.regex.captures(line)?;
        Some(Found { line, groups })
    }

    /// Says why the pattern fits what it should not, although it starts with `^`.
    pub(super) fn looseness(&self) -> Option<&'static str> {
        if self.regex.is_match("") {
            return Some("the pattern fits an empty line; write how the line starts");
        }
        begins_with_anything(&self.text[1..])
            .then_some("the pattern begins with any text at all; write how the line starts")
    }

    /// Reports whether the pattern has a group.
    pub(super) fn has_group(&self) -> bool {
        self.regex.captures_len() > 1
    }

    /// Reports whether the pattern has a group of this name.
    pub(super) fn has(&self, group: &str) -> bool {
        self.regex
            .capture_names()
            .flatten()
            .any(|name| name == group)
    }
}

/// A line that matched.
pub(super) struct Found<'t> {
    /// The line.
    pub(super) line: &'t str,
    groups: regex_lite::Captures<'t>,
}

impl<'t> Found<'t> {
    /// Returns the first group, or the whole line when there is none.
    pub(super) fn value(&self) -> &'t str {
        match self.groups.len() {
            0 | 1 => self.line,
            _ => self.groups.get(1).map_or("", |group| group.as_str()),
        }
    }

    /// Returns the group of a name.
    pub(super) fn group(&self, name: &str) -> Option<&'t str> {
        self.groups.name(name).map(|group| group.as_str())
    }
}

/// Cuts a line to what patterns are tried on.
fn front(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_LINE)]
}

/// Reports whether one of the alternatives begins with `.*` or the like, also inside of groups.
fn begins_with_anything(regex: &str) -> bool {
    // An escape, a class, the head of a group or a character, with how often it may occur.
    static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let class = r"\[\^?\]?(?:\\.|[^\]\\])*\]";
        let group = r"\((?:\?(?:P?<\w+>|[\w-]*[:)]))?";
        let repeat = r"(?:([*+?]|\{\d*,?\d*\})\??)?";
        Regex::new(&format!(r"(?s)(\\.|{class}|{group}|.){repeat}")).ok()
    });
    // Whether the token may stand at the start of a line, and for each open group, whether it may.
    let mut groups = vec![true];
    let mut at_start = true;
    let tokens = TOKEN.iter().flat_map(|token| token.captures_iter(regex));
    for token in tokens {
        let repeat = token.get(2).map_or("", |repeat| repeat.as_str());
        let is_optional = repeat.starts_with(['*', '?']) || repeat.starts_with("{0");
        let is_endless = repeat.starts_with(['*', '+']) || repeat.ends_with(",}");
        match &token[1] {
            "." if at_start && is_endless => return true,
            "|" => at_start = groups.last().copied().unwrap_or(true),
            ")" => at_start = groups.pop().unwrap_or(true) && is_optional,
            "^" => {}
            flags if flags.starts_with("(?") && flags.ends_with(')') => {}
            group if group.starts_with('(') => groups.push(at_start),
            _ => at_start &= is_optional,
        }
    }
    false
}

impl TryFrom<String> for Pattern {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        if !text.starts_with('^') {
            let advice = "the pattern has to start with ^, so that it finds what a tool says of \
                          itself and not what somebody talks about";
            return Err(Malformed(advice.to_owned()));
        }
        let regex = |text: &str| {
            Regex::new(text)
                .map_err(|error| Malformed(format!("{error}; write a regular expression")))
        };
        // By itself, so that it cannot close the group that ties it to the start.
        let untied = &text[1..];
        regex(untied)?;
        // All alternatives at the top level are tied to the start, not only the first.
        let regex = regex(&format!("^(?:{untied})"))?;
        Ok(Self { text, regex })
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A regular expression that starts with ^ and is tried on each line.",
            "type": "string",
            "format": "regex",
            "pattern": "^\\^",
        })
    }
}
