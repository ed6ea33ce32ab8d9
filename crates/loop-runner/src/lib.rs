//! The standard driver of a loop: processes, worktrees, the event store.
//!
//! loop-core decides; this crate does what it asks for, and answers. [`setup`] reads
//! a loop, [`driver::tick`] makes one tick of it, [`start`] goes on until it stops,
//! and [`run`](mod@run) is the autonomous run. A program whose `main` begins with
//! [`holder::main_if_holder`] has every process of an agent under control.
//!
//! ```
//! use loop_runner::{clock::SystemClock, driver, home::Home, interrupt::Interrupt};
//! use loop_runner::{project::Project, setup::{Setup, Surroundings}, trust, watch::NoWatch};
//! use std::{fs, sync::Arc};
//!
//! let dir = tempfile::tempdir()?;
//! let data = dir.path().join("project/.automaton");
//! fs::create_dir_all(data.join("tasks/greeting"))?;
//! fs::create_dir_all(data.join("loops/greet"))?;
//! fs::write(data.join("tasks/greeting/RESEARCH.md"), "Greet in greeting.txt.")?;
//! fs::write(data.join("loops/greet/loop.json"), r#"{
//!     "name": "greet", "roles": {}, "phases": ["implement"],
//!     "work_source": {"kind": "single", "task": "greeting"},
//!     "harness": {"command": ["sh", "-c", "echo hello >greeting.txt; echo I wrote it"]},
//!     "gate": {"command": ["grep", "hello", "greeting.txt"], "must_start_red": false}
//! }"#)?;
//!
//! let home = Home::new(dir.path().join("home"));
//! let around = Surroundings {
//!     project: Project::at(&dir.path().join("project"), &home)?,
//!     home,
//!     clock: Arc::new(SystemClock::new()),
//!     environment: std::env::vars_os().collect(),
//! };
//! let setup = Setup::read(&around, "greet")?;
//! // Nobody has agreed to what it starts yet.
//! trust::trust(&setup, "me")?;
//! let ticked = driver::tick(&setup, &Interrupt::new(), &mut NoWatch);
//! assert_eq!(ticked.ended.outcome.to_string(), "pass");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

pub mod audit;
mod baseline;
mod call;
pub mod causes;
pub mod changes;
pub mod clock;
pub mod create;
pub mod doctor;
pub mod driver;
pub mod dry_run;
mod errand;
pub mod fault;
mod furnish;
pub mod gate;
pub mod git;
pub mod harness;
mod hash;
pub mod holder;
pub mod home;
mod inputs;
pub mod interrupt;
mod kept;
pub mod lint;
pub mod model_server;
mod nonce;
pub mod notify;
pub mod outside;
mod patch_file;
pub mod preview;
pub mod profiles;
pub mod project;
pub mod run;
pub mod scaffold;
pub mod schedule;
pub mod scope_check;
pub mod setup;
pub mod sources;
pub mod start;
pub mod store;
pub mod tasks;
pub mod templates;
pub mod trial;
pub mod trust;
pub mod watch;
mod workplace;
pub mod worktrees;
