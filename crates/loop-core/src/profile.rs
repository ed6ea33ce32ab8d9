//! A harness as data: how an agent's command-line tool is called, and how its output is read.
//!
//! No harness is known to the engine. What is known of one stands in a profile, a small JSON file
//! that is read as strictly as `loop.json`. [`Profile`] is that file; a [`Reader`] takes a call's
//! standard output as it comes and says in the end what the call [said](Said): its final text, its
//! error, what it used, and whether something around the loop is to blame.
//!
//! # Where things stand in the output
//!
//! `output.format` is `ndjson` (each line is an event), `json` (the whole output is one document;
//! the members of a top-level array are the events) or `text` (each line is an event). Lines that
//! are no JSON object, or array of objects, are noise and passed over.
//!
//! `where` names values that an event has to have: `{"type": "item.completed"}`. Only equality; a
//! `null` also stands for a key that is missing. `path` leads to the value, as in
//! `part.tokens.cache.read`:
//!
//! - a name is a key of an object; a path through an array goes into each of its members;
//! - `*` goes into each member of an object or array;
//! - a number is an index into an array.
//!
//! The texts that are found are joined by line ends, the numbers are added up. In `text` output
//! there is `match` instead, a pattern that starts with `^` and is tried on each line; the value is
//! its first group, or the whole line when it has none. A `final` whose pattern has no group only
//! marks the place at which the answer is complete: the text is all of the output.
//!
//! # Reading a call
//!
//! - `output.final` finds the answer, the last one that is not empty; with `"take": "join"` the
//!   pieces of one. What was said before an event that `since` names, such as a tool call, is no
//!   part of it. Without `final`, which only
//!   `text` may leave out, the answer is all of the output.
//! - `output.error` finds errors, in the order of the list. An error that a `final` follows is
//!   overcome: tools try again by themselves. It explains the failure all the same when the tool
//!   then exits with a code that is not 0.
//! - `output.overcome` finds events that show the same before there is an answer.
//! - `output.done` finds the event after which the tool has nothing more to say.
//! - `output.usage` finds tokens. `input`, `cached` and `output` are a path or several whose
//!   numbers are added up, so that `input` is always all that was read, cached or not, and
//!   `output` includes reasoning. In a list of usages the first that found something counts, which
//!   lets a total at the end replace the counts on the way. `per` names a value that identifies what
//!   is counted: consecutive events with the same value are one. In `text` output the pattern has
//!   the groups `input`, `cached` and `output`. With `cumulative`, a resumed session reports what
//!   was reported before, and the caller takes the difference.
//! - `output.cost` finds US dollars.
//!
//! A number that is missing, negative or no number is unknown and never zero: what an event that
//! `where` names does not tell is lacking from the whole. So is the cost of an event that says 0
//! after tokens were told of.
//!
//! # Faults
//!
//! A call failed when it did not exit with 0, or when an error was not overcome. Only then are the
//! `faults` looked at, in their order; the prose of a run that went well is never searched. All
//! conditions of a fault have to hold: `where` for an event that no `final` and no `overcome` followed, `match` for a
//! line of the error (or of the end of standard error; with `stream` only one of them), `exit` for
//! the exit code. `reset` says where the time stands at which the fault is over: a group of
//! `match`, or else a path in the event of `where`. Without it the line that matched is searched for
//! the usual wordings.

mod amount;
mod check;
mod event;
mod faults;
mod file;
mod offline;
mod path;
mod pattern;
mod reader;
mod reset;
mod said;
mod schema;
mod select;
mod several;
mod used;

use std::time::Duration;

use crate::config::document::Document;
use crate::config::{Argv, ConfigError, Env, Problem, ProfileName, PromptVia};

pub use offline::Offline;
pub use reader::Reader;
pub use reset::{Day, Reset};
pub use said::{Fault, FaultClass, Said};
pub use schema::schema;
pub use used::{Tokens, Used};

use file::{Dash, File, Format};

/// The longest prompt that fits into one argument of a command on Linux, with some room, in bytes.
const MAX_PROMPT_BYTES: u64 = 131_000;

/// What is known of a harness.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    file: File,
}

impl Profile {
    /// Reads the text of a profile. A byte order mark in front of it is passed over.
    ///
    /// # Errors
    ///
    /// The first fault that is found, with its place, its key and what to do.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let document = Document::new(text).map_err(say_what_a_profile_needs)?;
        let file: File = document
            .read(None)
            .map_err(ConfigError::look_elsewhere::<File>)?;
        check::check(&file).map_err(|(path, problem)| document.error_at(&path, problem))?;
        Ok(Self { file })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &ProfileName {
        &self.file.name
    }

    /// Returns the command with its tokens.
    #[must_use]
    pub fn command(&self) -> &Argv {
        &self.file.command
    }

    /// Returns how the prompt reaches the harness.
    #[must_use]
    pub fn prompt_via(&self) -> PromptVia {
        self.file.prompt_via
    }

    /// Returns how long a prompt may be, in bytes; 131000 when absent.
    #[must_use]
    pub fn max_prompt_bytes(&self) -> u64 {
        self.file
            .max_prompt_bytes
            .map_or(MAX_PROMPT_BYTES, |bytes| bytes.get().into())
    }

    /// Reports whether a prompt that starts with `-` would be read as an option.
    #[must_use]
    pub fn refuses_dash(&self) -> bool {
        self.file.dash == Some(Dash::Refuse)
    }

    /// Returns the command that prints the harness's version.
    #[must_use]
    pub fn version(&self) -> Option<&Argv> {
        self.file.version.as_ref()
    }

    /// Returns what the harness's environment gets and loses.
    #[must_use]
    pub fn env(&self) -> Option<&Env> {
        self.file.env.as_ref()
    }

    /// Returns the folders in which the harness keeps its own state, such as `~/.tool`.
    #[must_use]
    pub fn state_dirs(&self) -> &[String] {
        self.file.state_dirs.as_deref().unwrap_or_default()
    }

    /// Returns the option that limits what one call may cost, in US dollars.
    #[must_use]
    pub fn max_usd_flag(&self) -> Option<&str> {
        self.file.limits.as_ref()?.max_usd.as_deref()
    }

    /// Returns how long the harness may be silent before it is taken to hang, if it is known to.
    #[must_use]
    pub fn idle_timeout(&self) -> Option<Duration> {
        let seconds = self.file.idle_timeout_seconds?.get();
        Some(Duration::from_secs(seconds.into()))
    }

    /// Returns how to point the harness at a scripted model server, if that is known.
    #[must_use]
    pub fn offline(&self) -> Option<&Offline> {
        self.file.offline.as_ref()
    }

    /// Reports whether the output says what a call cost.
    #[must_use]
    pub fn reports_cost(&self) -> bool {
        self.file.output.cost.is_some()
    }

    /// Reports whether the output says how many tokens a call used.
    #[must_use]
    pub fn reports_tokens(&self) -> bool {
        !self.file.output.usages().is_empty()
    }

    /// Reports whether the output is a stream of events that come as the work goes on, so that a
    /// call that says nothing has done nothing.
    #[must_use]
    pub fn tells_as_it_works(&self) -> bool {
        self.file.output.format == Format::Ndjson
    }

    /// Reports whether the tokens of a resumed session include those that were reported before.
    #[must_use]
    pub fn usage_is_cumulative(&self) -> bool {
        let mut usages = self.file.output.usages().iter();
        usages.any(|usage| usage.cumulative.unwrap_or_default())
    }
}

/// Puts the keys of a profile in the place of those of `loop.json`.
fn say_what_a_profile_needs(error: ConfigError) -> ConfigError {
    if *error.problem() != Problem::Empty {
        return error;
    }
    let advice = "the file is empty; write an object with at least `v`, `name`, `command`, \
                  `prompt_via` and `output`";
    error.with_problem(Problem::Invalid(advice.to_owned()))
}
