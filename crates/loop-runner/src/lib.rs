//! The standard driver of a loop: processes, worktrees, the event store.

pub mod audit;
mod call;
pub mod causes;
pub mod changes;
pub mod clock;
pub mod create;
pub mod driver;
pub mod dry_run;
mod errand;
pub mod fault;
mod furnish;
pub mod git;
pub mod harness;
mod hash;
pub mod holder;
pub mod home;
pub mod interrupt;
mod nonce;
pub mod preview;
pub mod project;
pub mod setup;
pub mod sources;
pub mod store;
pub mod tasks;
pub mod templates;
pub mod watch;
mod workplace;
