//! Turns a prompt reference and a token map into text: one pass, values inert.
//!
//! A prompt is a text file for a coding agent with a few named holes. This crate finds
//! the file, fills the holes and writes the result where a harness can read it. It
//! knows nothing of loops, harnesses or models, and can be used without the rest of
//! the workspace.
//!
//! # Syntax
//!
//! `{name}` is a token if the name is one of the nine of [`Token`]. `{{name}}`,
//! `{{ name }}` and `{{{name}}}` are the same token. Every other byte is text and stays
//! as it is: JSON, `${{ secrets.X }}`, Jinja, Go templates, JSX, `{{#if}}`, line ends,
//! a byte order mark. There is no escape, and seldom a need for one: a prompt that
//! wants to speak about a token names it without its braces. (Files written for
//! Python's `str.format`, where `{{` means a brace, have to be rewritten.)
//!
//! # Guarantees
//!
//! - Any text is a valid prompt. Parsing and rendering cannot fail and do not panic.
//! - The output is the literals and the values, one after another. Values are neither
//!   escaped nor looked at again: a brief that says `{verdict}` says just that.
//! - A text without tokens is its own rendering.
//! - Time is linear in the input and the output; memory is the output plus twice the
//!   template, and values are never copied on the way.
//!
//! # Layers
//!
//! [`Template`] and [`Values`] are pure. [`Resolver`] reads and writes files:
//! [`Resolver::prepare`] is the one call that a driver needs for each role.
//! [`CommandValues`] fills in a harness's command with the same syntax. [`Lint`] finds
//! what its author most likely did not mean.
//!
//! ```
//! use loop_prompts::{Job, PromptName, Resolver, Role, Token, Values};
//!
//! # let dir = tempfile::tempdir()?;
//! # let (loop_dir, home) = (dir.path().join("loop"), dir.path().join("home"));
//! # std::fs::create_dir_all(&loop_dir)?;
//! std::fs::write(loop_dir.join("fix.md"), "# Fix\n\n{task_brief}\n")?;
//!
//! let mut values = Values::for_role(Role::Implement);
//! values.set(Token::TaskBrief, "The login fails.");
//! let prepared = Resolver::new(&loop_dir, &home).prepare(&Job {
//!     prompt_ref: Some("fix.md"),
//!     name: PromptName::new(1, Role::Implement),
//!     values: &values,
//!     addendum: None,
//! })?;
//! assert_eq!(prepared.content, "# Fix\n\nThe login fails.\n");
//! assert!(prepared.prompt.ends_with("outputs/tick1-implement-prompt.md"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builtin;
mod command;
mod gather;
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
pub use gather::{ARTIFACT_LIMIT, criteria_list};
pub use lint::{ARGUMENT_LIMIT, Finding, FindingKind, Lint, PLACEHOLDER_MARKER, Place};
pub use position::Position;
pub use prepare::{CONTEXT_FLOOR_TOKENS, Job, PrepareError, Prepared, PromptName};
pub use read::ReadFault;
pub use resolve::{Lookup, PROMPT_LIMIT, Resolution, Resolver};
pub use role::{Role, UnknownRole};
pub use scan::Spelling;
pub use template::{Piece, Placeholder, Template};
pub use token::{Fence, Token};
pub use truncate::{CHARS_PER_TOKEN, Cut, TRUNCATION_MARKER, truncate};
pub use values::Values;
pub use warning::{PromptWarning, Severity};

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
