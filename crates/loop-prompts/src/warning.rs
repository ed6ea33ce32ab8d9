//! What is wrong with a prompt but does not stop a tick.

use std::path::PathBuf;

use crate::{ReadFault, Role, Token};

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Most likely a mistake.
    Warning,
    /// The prompt cannot do its work like this.
    Error,
}

/// Something that a person should hear about, though the tick goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptWarning {
    /// The role has no prompt; the harness gets two empty texts.
    #[error("role {role} names no prompt, so the harness gets an empty one")]
    NoPrompt {
        /// The role.
        role: Role,
    },
    /// The prompt is nowhere; the harness gets the bare reference and no text.
    #[error("prompt `{prompt_ref}` not found, looked in {}", paths(looked_at))]
    Missing {
        /// The reference as it was written.
        prompt_ref: String,
        /// Where it could have been.
        looked_at: Vec<PathBuf>,
    },
    /// The prompt is there and cannot be read; the harness gets the bare reference.
    #[error("prompt `{prompt_ref}` cannot be read: {}: {why}", path.display())]
    Unreadable {
        /// The reference as it was written.
        prompt_ref: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        why: ReadFault,
    },
    /// A directory or the like has the prompt's name; the next place was tried.
    #[error("{} is no prompt and was passed over: {why}", path.display())]
    PassedOver {
        /// What has the name.
        path: PathBuf,
        /// What it is.
        why: ReadFault,
    },
    /// Some bytes are not UTF-8; each such sequence became U+FFFD.
    #[error("{} is not UTF-8 from byte {offset} on, invalid bytes were replaced", path.display())]
    InvalidUtf8 {
        /// The file.
        path: PathBuf,
        /// Bytes before the first invalid one.
        offset: usize,
    },
    /// The rendered prompt holds nothing to act on.
    #[error("prompt `{prompt_ref}` is blank")]
    Blank {
        /// The reference as it was written.
        prompt_ref: String,
    },
    /// The rendered prompt is longer than the smallest context a model must offer.
    #[error("the rendered prompt has {chars} characters, about {} tokens, over the floor of {} tokens",
        chars.div_ceil(crate::CHARS_PER_TOKEN), crate::CONTEXT_FLOOR_TOKENS)]
    Long {
        /// Its length in characters.
        chars: usize,
    },
    /// The file that a value comes from is there and cannot be read; the value is empty.
    #[error("no text for `{token}`: {} cannot be read: {why}", path.display())]
    ValueUnreadable {
        /// The token.
        token: Token,
        /// The file.
        path: PathBuf,
        /// Why not.
        why: ReadFault,
    },
}

impl PromptWarning {
    /// Returns the level at which to log it.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Unreadable {
                why: ReadFault::TooLarge { .. },
                ..
            }
            | Self::ValueUnreadable {
                why: ReadFault::TooLarge { .. },
                ..
            } => Severity::Error,
            _ => Severity::Warning,
        }
    }
}

fn paths(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    shown.join(" and ")
}
