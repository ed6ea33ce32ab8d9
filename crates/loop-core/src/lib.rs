//! The decisions of a loop, without doing anything: answers in, actions out.

pub mod answer;
pub mod brakes;
pub mod claim;
pub mod config;
pub mod control;
mod decimal;
pub mod exit;
pub mod explain;
mod machine;
pub mod outcome;
pub mod phase;
pub mod record;
pub mod replay;
pub mod report;
pub mod rules;
mod score;
pub mod state;
pub mod step;
pub mod task;
pub mod text;
pub mod time;
mod usd;
pub mod verdict;

pub use answer::{Answer, Reply, StepAnswer, Work};
pub use machine::{Machine, Refused, Start};
pub use score::{OutOfRange, Score};
pub use step::{Action, Fence, Role, Step};
pub use usd::{InvalidAmount, Usd};
