//! What can be wrong with a configuration, and where.

use std::fmt;

use schemars::JsonSchema;

use super::schema;

/// The place of a character in a text, as editors count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl Position {
    /// Finds the position of a byte offset; one inside a character counts as that character.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let is_start = |byte: &&u8| (**byte as i8) >= -0x40;
        Self {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: before[line_start..].iter().filter(is_start).count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A configuration that is refused: where, which key, what is wrong, and what to do.
///
/// `Display` gives one line without the name of the file; [`ConfigError::with_file`] adds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub(super) position: Position,
    pub(super) key: String,
    pub(super) problem: Problem,
}

impl ConfigError {
    /// Returns where the offending key or value starts.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the path of the key, such as `brakes.max_iterations`; empty for the whole document.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the same place with another problem.
    pub(crate) fn with_problem(self, problem: Problem) -> Self {
        Self { problem, ..self }
    }

    /// Suggests for an unknown key the object in which it is known, if no key near it is.
    pub(crate) fn look_elsewhere<T: JsonSchema>(mut self) -> Self {
        if let Problem::UnknownKey {
            suggestion: suggestion @ None,
            ..
        } = &mut self.problem
        {
            let name = self.key.rsplit('.').next().unwrap_or_default();
            *suggestion = schema::place_of::<T>(name);
        }
        self
    }

    /// Returns the error as a line that starts with `file`, in the form that editors jump to.
    pub fn with_file(&self, file: impl fmt::Display) -> impl fmt::Display {
        format!("{file}:{self}")
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.position)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        self.problem.fmt(f)
    }
}

impl std::error::Error for ConfigError {}

/// What is wrong with a configuration, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text holds nothing.
    #[error("the file is empty; write an object with at least `name` and `roles`")]
    Empty,

    /// The text stops before the document does.
    #[error("{reason}; the file is cut short, restore it or close what is open")]
    Truncated {
        /// The JSON reader's own words.
        reason: String,
    },

    /// The text is not JSON.
    #[error(
        "{reason}; write plain JSON: no comments, no trailing commas, numbers as plain decimals"
    )]
    Syntax {
        /// The JSON reader's own words.
        reason: String,
    },

    /// The key means nothing here.
    #[error("unknown key; {}", advise(suggestion.as_deref(), known))]
    UnknownKey {
        /// The nearest key that means something.
        suggestion: Option<String>,
        /// The keys that are known in this object.
        known: &'static [&'static str],
    },

    /// The key occurs twice in one object.
    #[error("duplicate key; keep one of the two")]
    DuplicateKey,

    /// The key has to be there.
    #[error("missing key; add it")]
    MissingKey,

    /// The word is not one of the choices.
    #[error("unknown value {found}; {}", advise(suggestion.as_deref(), known))]
    UnknownValue {
        /// What is there, shortened.
        found: String,
        /// The nearest choice.
        suggestion: Option<String>,
        /// All choices.
        known: &'static [&'static str],
    },

    /// A value of the wrong type or outside its range.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What is accepted, in words.
        expected: String,
        /// What is there, shortened.
        found: String,
    },

    /// A value that breaks a rule of its own, or one that ties keys together.
    #[error("{0}")]
    Invalid(String),
}

fn advise(suggestion: Option<&str>, known: &[&str]) -> String {
    match suggestion {
        Some(name) => format!("did you mean {name}?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("use one of {}", known.join(", ")),
    }
}

/// Cuts a piece of the text to what fits into a line, and takes the power from characters that
/// would move the cursor of a terminal.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut characters = text.chars();
    let mut shown = String::new();
    for character in characters.by_ref().take(LONGEST) {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if characters.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// Picks the candidate that `word` was most likely meant to be.
pub(super) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    // Below this similarity a suggestion is more often a distraction than a help.
    const SIMILAR: f64 = 0.85;
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), *candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

/// Something in a configuration that is accepted, but that a person should know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigWarning {
    /// Where the key or value starts.
    pub position: Position,
    /// The path of the key.
    pub key: String,
    /// What was understood instead.
    pub message: String,
}

impl ConfigWarning {
    /// Returns the warning as a line that starts with `file`, in the form that editors jump to.
    pub fn with_file(&self, file: impl fmt::Display) -> impl fmt::Display {
        format!("{file}:{self}")
    }
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.position, self.key, self.message)
    }
}
