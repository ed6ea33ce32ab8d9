//! The standard driver of a loop: processes, worktrees, the event store.

pub mod git;
pub mod holder;
pub mod tasks;
pub mod clock;
pub mod fault;
pub mod store;
