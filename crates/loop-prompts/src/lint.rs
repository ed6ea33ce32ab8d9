//! Finds what is likely wrong with a prompt before it costs anything.
//!
//! A prompt cannot be invalid: what is not a token is text. So nothing here is an
//! error of syntax; every finding is a guess at what the author meant, with the place
//! where it stands.

mod suspect;

use std::fmt;
use std::ops::Range;

use crate::position::Cursor;
use crate::{CommandToken, Cut, Position, Role, Severity, Template, Token, Values};
use suspect::{Suspect, suspects};

/// The line that marks a TASK.md as not yet written.
pub const PLACEHOLDER_MARKER: &str = "<!-- loop:placeholder -->";

/// The largest prompt that Linux passes as one element of a command, in bytes.
///
/// An element may take 32 pages, and one byte is for the end.
pub const ARGUMENT_LIMIT: usize = 131_071;

/// How many findings with a place are reported; a text that has more is not a prompt.
const MAX_FINDINGS: usize = 1_000;

/// Looks at prompts on behalf of a role.
///
/// ```
/// use loop_prompts::{Lint, Role, Template};
///
/// let lint = Lint { role: Some(Role::Implement), byte_limit: None };
/// let template = Template::parse("Do {task_breif}.\nObey {verdict}.");
/// let findings: Vec<_> = lint.template(&template).iter().map(|f| f.to_string()).collect();
/// assert_eq!(
///     findings,
///     [
///         "1:4: `{task_breif}` is no token and stays text, did you mean `{task_brief}`?",
///         "2:6: role implement never has a value for `{verdict}`, which stays as it is written",
///     ]
/// );
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Lint {
    /// The role that the prompt is for, if it is known.
    pub role: Option<Role>,
    /// The most bytes that the harness takes as a prompt, if it is known.
    pub byte_limit: Option<usize>,
}

/// One thing that is likely wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Where it is in the prompt's source; `None` if it is about the whole.
    pub place: Option<Place>,
}

/// A stretch of a prompt's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes.
    pub range: Range<usize>,
    /// Where they begin, for people.
    pub at: Position,
}

/// What can be wrong with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingKind {
    /// A word in braces that is almost a token.
    #[error("`{text}` is no token and stays text, did you mean `{suggestion}`?")]
    NearMiss {
        /// What is written.
        text: String,
        /// The token that is nearest.
        suggestion: Token,
    },
    /// A token that only commands have.
    #[error("`{text}` is a token of commands and stays text in a prompt")]
    CommandOnly {
        /// What is written.
        text: String,
        /// The token that it would be in a command.
        token: CommandToken,
    },
    /// A tag of handlebars that does nothing here.
    #[error("`{text}` looks like handlebars and stays text")]
    StaysText {
        /// What is written.
        text: String,
        /// Whether it is a tag, such as `{{#if x}}`, and not only an unknown name.
        tag: bool,
    },
    /// A token that the role never has a value for.
    #[error("role {role} never has a value for `{token}`, which {}",
        if *.token == Token::ArtifactContent { "is always empty" } else { "stays as it is written" })]
    NeverHasValue {
        /// The token.
        token: Token,
        /// The role.
        role: Role,
    },
    /// The text begins with `-`, which most harnesses take for an option.
    #[error("the prompt starts with `-`, which a harness may take for an option")]
    LeadingDash,
    /// The text holds nothing to act on.
    #[error("the prompt is blank")]
    Blank,
    /// The text still holds the line that marks an unwritten task.
    #[error("the placeholder line `{PLACEHOLDER_MARKER}` is still there")]
    Placeholder,
    /// The rendered text is close to, or over, what the harness takes.
    #[error("the rendered prompt has {bytes} bytes, {} the limit of {limit}",
        if bytes > limit { "over" } else { "close to" })]
    NearLimit {
        /// The length of the rendered text.
        bytes: usize,
        /// The most that the harness takes.
        limit: usize,
    },
    /// A value was too long and was cut.
    #[error("the value of `{token}` was cut to {} characters, {} were left out", cut.kept, cut.dropped)]
    ValueCut {
        /// The token.
        token: Token,
        /// By how much.
        cut: Cut,
    },
}

impl Lint {
    /// Looks at a prompt as it is written.
    ///
    /// Findings come in the order of the text, those about the whole first.
    pub fn template(&self, template: &Template) -> Vec<Finding> {
        let source = template.source();
        let mut cursor = Cursor::new(source);
        let located = suspects(template)
            .filter_map(|(range, suspect)| Some((range, self.judge(suspect)?)))
            .take(MAX_FINDINGS)
            .map(|(range, kind)| {
                let at = cursor.advance(range.start);
                Finding {
                    kind,
                    place: Some(Place { range, at }),
                }
            });
        whole(source).map(Finding::from).chain(located).collect()
    }

    /// Looks at a rendered prompt and the values that went into it.
    pub fn rendered(&self, content: &str, values: &Values<'_>) -> Vec<Finding> {
        let bytes = content.len();
        let near = self.byte_limit.filter(|limit| bytes > limit - limit / 10);
        let near = near.map(|limit| FindingKind::NearLimit { bytes, limit });
        let cuts = values
            .cuts()
            .map(|(token, cut)| FindingKind::ValueCut { token, cut });
        whole(content)
            .chain(near)
            .chain(cuts)
            .map(Finding::from)
            .collect()
    }

    fn judge(&self, suspect: Suspect<'_>) -> Option<FindingKind> {
        Some(match suspect {
            Suspect::Known(token) => {
                let role = self.role.filter(|role| !role.sees(token))?;
                FindingKind::NeverHasValue { token, role }
            }
            Suspect::Near(text, suggestion) => FindingKind::NearMiss {
                text: text.to_owned(),
                suggestion,
            },
            Suspect::Command(text, token) => FindingKind::CommandOnly {
                text: text.to_owned(),
                token,
            },
            Suspect::Unknown(text) => FindingKind::StaysText {
                text: text.to_owned(),
                tag: false,
            },
            Suspect::Tag(text) => FindingKind::StaysText {
                text: text.to_owned(),
                tag: true,
            },
        })
    }
}

/// Tells whether a text holds nothing to act on.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

fn has_placeholder(text: &str) -> bool {
    text.lines().any(|line| line.trim() == PLACEHOLDER_MARKER)
}

/// Finds what is wrong with a text as a whole, rendered or not.
fn whole(text: &str) -> impl Iterator<Item = FindingKind> {
    [
        (is_blank(text), FindingKind::Blank),
        (text.starts_with('-'), FindingKind::LeadingDash),
        (has_placeholder(text), FindingKind::Placeholder),
    ]
    .into_iter()
    .filter_map(|(found, kind)| found.then_some(kind))
}

impl FindingKind {
    /// Returns how much it matters.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Blank | Self::Placeholder => Severity::Error,
            Self::NearLimit { bytes, limit } if *bytes > *limit => Severity::Error,
            Self::StaysText { tag: false, .. } | Self::CommandOnly { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl From<FindingKind> for Finding {
    fn from(kind: FindingKind) -> Self {
        Self { kind, place: None }
    }
}

impl fmt::Display for Finding {
    /// Writes `line:column: ` if there is a place, then what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}: ", place.at)?;
        }
        self.kind.fmt(f)
    }
}
