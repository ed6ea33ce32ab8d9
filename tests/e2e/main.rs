//! End-to-end tests through the real binary.
//!
//! Every test has a [`World`](support::World) of its own; what each proves
//! stands above it in the words of the project's requirements.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod agents;
mod audit;
mod bills;
mod blast_radius;
mod brakes;
mod commands;
mod crashes;
mod doctor;
mod documents;
mod failures;
mod furnish;
mod gate;
mod gate_commands;
mod harness;
mod hostile;
mod list;
mod log;
mod malformed;
mod notify;
mod person;
mod profiles;
mod prompts;
mod refusals;
mod run;
mod scaffold;
mod schedule;
mod setting_up;
mod sources;
mod start;
mod support;
mod tick;
mod trust;
mod verdicts;
mod workspace;
mod worktree_command;
mod worktrees;

// Kept apart, as only builds with debug assertions have the fault points.
#[cfg(debug_assertions)]
mod faults;
