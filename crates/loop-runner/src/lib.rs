//! The standard driver of a loop: processes, worktrees, the event store.

pub mod holder;
pub mod git;
