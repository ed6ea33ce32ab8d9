//! Fully deterministic decisions of a loop of coding agents: answers in, actions
//! out. This crate contains no file, process, thread, clock, random number,
//! network or git, and does not get any time from the operating system; whoever
//! drives it does, and says what became of it. The same inputs therefore always
//! lead to the same state.
//!
//! The heart is [`Machine`], in the shape *ask and answer*. It holds one question
//! at a time:
//!
//! 1. [`Machine::start`] asks for a tick, with its rules and the time.
//! 2. [`Machine::action`] is what to do next. A step that
//!    [acts outside](Step::acts_outside) is announced with [`Machine::begin`]
//!    first, so that it counts whatever becomes of it.
//! 3. [`Machine::answer`] takes in what became of it, under the [`Fence`] of the
//!    question; an answer that is late or given twice is refused and changes
//!    nothing.
//! 4. When there is no action left, [`Machine::ended`] says how the tick ended.
//!
//! What a person asks for comes in at any time as [`Machine::control`]. The
//! machine can be saved and restored between any two inputs, and
//! [`replay`] leads from the records of a tick to the same machine again.
//!
//! Around it are the types that a driver shares with it: [`config`] reads
//! `loop.json` strictly, [`rules`] is the part of it that decisions depend on,
//! [`profile`] is a harness as data and reads what one prints, [`harness`] puts
//! profile and configuration together, [`bill`] counts what calls use,
//! [`scope`] says which changes are not allowed,
//! [`verdict`] is the one reader of a judge's words, [`brakes`] says when to
//! stop, [`schedule`] says when a loop ticks by itself, [`notice`] what people are
//! told, [`outcome`] is the closed table of how a tick can end, and [`record`] is
//! a line of `events.jsonl`. [`plan`] reads a planner's answer, and [`run`] is
//! what a person sees of an autonomous run.
//!
//! # The run loop
//!
//! A driver is one `match`. This one makes its answers up; `loop-runner` starts
//! processes and makes worktrees instead, and `examples/embed-core` of the
//! repository is the same in a crate of its own.
//!
//! Two steps are asked for in every loop, although no key of `loop.json` names
//! them: the look at what has changed, and the receipt. A driver that has nothing
//! to look at, or keeps no receipts, says so in its [`Rules`](rules::Rules), with
//! `scope` and `receipts`. Without `scope` it is asked for no baseline either.
//!
//! ```
//! use loop_core::answer::{
//!     Advanced, CallEnd, Called, FileRef, Implemented, Reading, Scoped, StepAnswer, Verified,
//!     Work,
//! };
//! use loop_core::{Action, Answer, Machine, Reply, Start};
//! use loop_core::{claim::Claim, config::Config, outcome::Outcome, rules::Rules};
//! use loop_core::harness::{Harnesses, Profiles};
//! use loop_core::{state::State, step::WorkTask, time::Timestamp};
//!
//! let file = r#"{"name": "fix", "roles": {}, "phases": ["implement"]}"#;
//! let config = Config::parse(file)?.config;
//! let rules = Rules::of(&config, &Harnesses::of(&config, &Profiles::default())?);
//! let called = || Called {
//!     end: CallEnd::Exited(0),
//!     output: FileRef { path: "output.md".to_owned(), bytes: 4, sha256: String::new() },
//!     leaked: false,
//!     outside: Vec::new(),
//!     inputs: Vec::new(),
//! };
//! let mut now = Timestamp::from_unix_millis(0);
//! let mut machine = Machine::new(State::new());
//!
//! machine.start(Start { rules: rules.clone(), now })?;
//! while let (Some(action), Some(fence)) = (machine.action(), machine.fence()) {
//!     if action.step().acts_outside() {
//!         machine.begin(fence, now, 1)?; // on disk by now: it counts from here on
//!     }
//!     let step = |answer| Answer::Step(answer);
//!     let answer = match action {
//!         Action::FindWork => Answer::Work(Work::Found(WorkTask {
//!             name: "fix".to_owned(),
//!             phase: Some("implement".to_owned()),
//!             phases: rules.phases.clone(),
//!             item: None,
//!         })),
//!         Action::Open(open) => Answer::Opened { seq: open.tick, nonce: "0".repeat(16) },
//!         Action::Worktree(_) => step(StepAnswer::Worktree(None)),
//!         Action::Baseline(_) => step(StepAnswer::Baseline(None)),
//!         Action::Tree(_) => step(StepAnswer::Tree(None)),
//!         Action::Implement(_) => step(StepAnswer::Implement(Implemented {
//!             called: called(),
//!             claim: Claim::None,
//!             silent: false,
//!             tree_before: Some("a".to_owned()),
//!             tree_after: Some("b".to_owned()),
//!         })),
//!         Action::Scope(_) => step(StepAnswer::Scope(Scoped::default())),
//!         Action::Verify(_) => step(StepAnswer::Verify(Verified {
//!             called: called(),
//!             reading: Reading::of(r#"{"pass": true, "score": 0.9}"#, ""),
//!             tree: Some("b".to_owned()),
//!             changed: Vec::new(),
//!             added: Vec::new(),
//!         })),
//!         Action::Receipt(_) => step(StepAnswer::Receipt(None)),
//!         Action::Report(_) => step(StepAnswer::Report),
//!         Action::Orchestrate(_) => step(StepAnswer::Orchestrate(called())),
//!         Action::Advance(_) => step(StepAnswer::Advance(Advanced::Moved)),
//!         Action::Close(_) => Answer::Closed,
//!         Action::Plan(_) | Action::Arm(_) | Action::Gate(_) | Action::SetAside(_) | Action::Finish(_) => {
//!             unreachable!("this loop has no gate, no shared worktree and no items")
//!         }
//!     };
//!     now = Timestamp::from_unix_millis(now.unix_millis() + 1_000);
//!     machine.answer(fence, Reply { at: now, elapsed_ms: 1_000, bill: None, answer })?;
//! }
//!
//! let ended = machine.ended().ok_or("the tick goes on")?;
//! assert_eq!(ended.outcome, Outcome::Pass);
//! assert_eq!(ended.why, "fix passed `implement` and is complete");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod bill;
pub mod brakes;
pub mod claim;
pub mod config;
pub mod control;
mod decimal;
pub mod exit;
pub mod explain;
pub mod gate;
pub mod harness;
mod machine;
pub mod notice;
pub mod outcome;
pub mod phase;
pub mod plan;
pub mod profile;
pub mod record;
pub mod replay;
pub mod report;
pub mod rules;
pub mod run;
pub mod schedule;
pub mod scope;
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
