//! Where a loop finds its next piece of work.
//!
//! A [`WorkSource`] answers three questions: what is next, how do things stand,
//! and what is to be done when an item is finished. Four kinds come with the
//! crate (`single`, `audit`, `backlog`, `command`); an embedder registers more in
//! [`Kinds`]. Everything outside is reached through [`Project`], so that a source
//! can be tried without a file, a process or a clock.
//!
//! # Examples
//!
//! ```
//! use loop_worksource::{Kinds, Single, SourceOptions};
//!
//! let mut kinds = Kinds::default();
//! kinds.register("inbox", |_| Ok(Box::new(Single { task: Some("inbox".into()) })));
//! let options = SourceOptions { kind: Some("inbox".into()), ..Default::default() };
//! assert!(kinds.choose(&options)?.warning.is_none());
//!
//! let unknown = SourceOptions { kind: Some("inbocks".into()), ..Default::default() };
//! assert!(kinds.choose(&unknown)?.warning.is_some()); // and it is `single`
//! # Ok::<(), loop_worksource::OptionError>(())
//! ```

mod audit;
mod backlog;
mod command;
mod done_when;
#[cfg(test)]
mod fake;
mod hash;
mod item;
mod kinds;
pub mod name;
mod pick;
mod project;
mod single;
mod slug;
mod source;
mod violation;

pub use audit::Audit;
pub use backlog::{Backlog, InvalidArea};
pub use command::{Command, InvalidCommand};
pub use done_when::done_when;
pub use item::{Completion, Item};
pub use kinds::{Chosen, Kinds, OptionError, SourceOptions};
pub use project::{
    Level, NewTask, Program, Project, ProjectError, Ran, RunEnd, TaskFacts, Written,
};
pub use single::Single;
pub use slug::slugify;
pub use source::{
    Finish, Found, LoopView, Next, SourceError, Standing, Surveyed, WorkSource, to_work,
};
pub use violation::{NoAudit, Severity, Violation};
