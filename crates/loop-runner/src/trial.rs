//! Tries a harness out: does it do what its profile says?
//!
//! A throw-away project with a loop of one call is made, and each check is one call,
//! prepared, run and read as a tick does it. Offline, a
//! [`ModelServer`](crate::model_server::ModelServer) on this machine plays the model, so that errors can be provoked and nothing is spent;
//! else it is the user's own tool with the user's own account.

mod checks;
mod stage;

pub use checks::Check;

use crate::holder::Wish;
use crate::home::Home;
use crate::interrupt::Interrupt;
use crate::setup::SetupError;
use loop_core::config::ProfileName;
use loop_core::profile::Profile;
use stage::Stage;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A harness to try out.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The framework home.
    pub home: &'a Home,
    /// The environment that the harness inherits from.
    pub environment: &'a [(OsString, OsString)],
    /// The profile.
    pub profile: Arc<Profile>,
    /// Whether a scripted model takes the place of the real one.
    pub offline: bool,
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// How it went.
    pub result: CheckResult,
    /// What was seen, in one line.
    pub what: String,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// As it has to.
    Passed,
    /// Otherwise.
    Failed,
    /// It does not apply.
    Skipped,
}

/// A trial that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The profile does not say how to point the harness at another model.
    #[error(
        "the profile `{profile}` has no `offline`, which says how to point it at a scripted model; \
         try it without --offline"
    )]
    NotOffline {
        /// The profile.
        profile: ProfileName,
    },
    /// The program is not there.
    #[error("`{program}` is not installed, or not on PATH")]
    NoProgram {
        /// The program.
        program: String,
    },
    /// The throw-away project could not be made.
    #[error("cannot make {}: {source}", path.display())]
    Stage {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The throw-away loop could not be read.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl Trial<'_> {
    /// Runs every check that applies, and tells of each as it ends. Returns whether
    /// none has failed.
    ///
    /// # Errors
    ///
    /// [`TrialError`] when it cannot begin.
    pub fn run(
        &self,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(&Finding),
    ) -> Result<bool, TrialError> {
        let mut stage = Stage::new(self)?;
        let mut well = true;
        for check in Check::ALL {
            if interrupt.asked() > 0 {
                return Ok(false);
            }
            let poll = || match interrupt.asked() {
                0 => Wish::GoOn,
                _ => Wish::End,
            };
            let finding = check.run(&mut stage, &poll);
            well &= finding.result != CheckResult::Failed;
            tell(&finding);
        }
        Ok(well)
    }
}
