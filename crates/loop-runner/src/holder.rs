//! Child processes that are gone when the engine says that they are.
//!
//! Every harness, gate, set-up or notify command runs under a *holder*: a small
//! process of our own, the current binary started again with a hidden first
//! argument. It leads a session without a terminal, adopts every orphan among
//! its descendants, and holds `step.lock`. It ends all descendants, also those
//! in sessions of their own, when the child ends, when a limit is reached, when
//! the engine asks for it, and when the engine is gone, however that came. The
//! output goes from the child through the holder to disk, bounded; where the
//! engine has to know all of it ([`Command::heard`]), the holder hands standard
//! output on as well.
//!
//! A program that embeds this crate calls [`main_if_holder`] first thing in its
//! `main`. Without that, and on systems other than Linux, a command gets only a
//! process group of its own, which a descendant can leave, and which outlives
//! an engine that is killed; [`Ended::containment`] says so.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     if let Some(code) = loop_runner::holder::main_if_holder() {
//!         return code;
//!     }
//!     // Commands that `spawn` starts from here on have a holder.
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! # Limits
//!
//! Who kills the holder itself with SIGKILL makes its descendants orphans of
//! the engine, which adopts and kills them and reports
//! [`WaitError::HolderLost`]. Who kills both sets them free. The kernel's
//! parent-death signal is no help: it has to be asked for between fork and
//! exec, which takes unsafe code, and it reaches no grandchild.
//!
//! To the engine an orphan of a lost holder is a child in another session, as
//! is a child that the embedding program itself starts and that leaves its
//! session: such a child is killed too if it is younger than the holder.
//!
//! Processes that a daemon starts on a child's behalf (a container engine, a
//! service manager) are not its descendants. Linux 5.3 or later is needed.

mod capture;
mod command;
mod environment;
mod error;
mod file;
mod lock;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod protocol;
#[cfg(target_os = "linux")]
mod remote;
mod report;
mod running;
mod scope;
#[cfg(target_os = "linux")]
mod serve;
mod stale;
#[cfg(target_os = "linux")]
mod strays;
mod stream;
mod supervise;
mod tee;

pub use capture::Captured;
pub use command::{ARGUMENT_LIMIT, Command, Stdin};
pub use environment::{Environment, Place, Policy};
pub use error::{StartError, WaitError};
pub use report::{Containment, Ended, How};
pub use running::{Running, Wish, spawn};
pub use stale::{Stale, StaleError, end_stale};

use std::{
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("loop-runner needs Linux or macOS");

/// Whether this program's `main` begins with [`main_if_holder`], and orphans
/// come to it.
static PREPARED: AtomicBool = AtomicBool::new(false);

/// Runs the holder and returns its exit code if this process was started as one.
///
/// Call it before anything else in `main`, in particular before threads are
/// started and arguments are parsed. If it returns `None`, go on; commands then
/// have holders, and this process is the parent of orphans among its
/// descendants.
pub fn main_if_holder() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        if std::env::args_os()
            .nth(1)
            .is_some_and(|first| first == remote::HIDDEN_ARGUMENT)
        {
            return Some(serve::serve());
        }
        PREPARED.store(strays::adopt(), Ordering::Relaxed);
    }
    None
}

fn prepared() -> bool {
    PREPARED.load(Ordering::Relaxed)
}
