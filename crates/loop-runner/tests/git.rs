//! Worktrees, tree hashes and changes, checked against the `git` program on real repositories.

#![allow(
    clippy::unwrap_used,
    reason = "the lint knows test functions, not their helpers"
)]

#[path = "git/changes.rs"]
mod changes;
#[path = "git/environment.rs"]
mod environment;
#[path = "git/healing.rs"]
mod healing;
#[path = "git/outside.rs"]
mod outside;
#[path = "git/replaced.rs"]
mod replaced;
#[path = "git/sandbox.rs"]
mod sandbox;
#[path = "git/scope_check.rs"]
mod scope_check;
#[path = "git/start.rs"]
mod start;
#[path = "git/tree_hash.rs"]
mod tree_hash;
#[path = "git/worktree.rs"]
mod worktree;
