//! Turns a prompt reference and a token map into text: one pass, values inert.

mod builtin;
mod command;
mod lint;
mod position;
mod prepare;
mod read;
mod render;
mod resolve;
mod role;
mod scan;
mod template;
mod token;
mod truncate;
mod values;
mod warning;

pub use builtin::{RolePrompt, builtin};
pub use command::{CommandToken, CommandValues};
pub use lint::{
    ARGUMENT_LIMIT, Finding, FindingKind, Lint, PLACEHOLDER_MARKER, Place, is_unwritten_task,
};
pub use position::Position;
pub use prepare::{CONTEXT_FLOOR_TOKENS, Job, PrepareError, Prepared, PromptName};
pub use read::ReadFault;
pub use resolve::{ARTIFACT_LIMIT, Lookup, PROMPT_LIMIT, Resolution, Resolver};
pub use role::{Role, UnknownRole};
pub use scan::Spelling;
pub use template::{Piece, Placeholder, Template};
pub use token::{Fence, Token};
pub use truncate::{CHARS_PER_TOKEN, Cut, TRUNCATION_MARKER, truncate};
pub use values::Values;
pub use warning::{PromptWarning, Severity};
