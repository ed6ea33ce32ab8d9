//! Why a command failed, in one line, and with which exit code.

use loop_core::exit;
use loop_core::outcome::Outcome;
use loop_runner::causes::with_causes;
use loop_runner::create::CreateLoopError;
use loop_runner::home::NoHome;
use loop_runner::project::ProjectError;
use loop_runner::schedule::{InstallError, TimerError};
use loop_runner::setup::{SetupError, Unrunnable};
use loop_runner::store::{LogError, ReadError, RequestError};
use std::error::Error;
use std::fmt;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: u8,
    what: String,
}

impl Failure {
    /// An operation that failed or was refused.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self {
            code: exit::FAILED,
            what: what.into(),
        }
    }

    /// Wrong usage or configuration.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self {
            code: exit::USAGE,
            what: what.into(),
        }
    }

    /// What only a person may do.
    pub(crate) fn refused(what: impl Into<String>) -> Self {
        Self {
            code: exit::REFUSED,
            what: what.into(),
        }
    }

    /// An error of the system or the engine, with its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        Self::failed(with_causes(error))
    }

    /// A failure with an exit code of its own.
    pub(crate) fn with(code: u8, what: impl Into<String>) -> Self {
        Self {
            code,
            what: what.into(),
        }
    }

    fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl From<NoHome> for Failure {
    fn from(error: NoHome) -> Self {
        Self::of(&error).with_code(exit::USAGE)
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Self {
        Self::of(&error).with_code(exit::USAGE)
    }
}

impl From<Unrunnable> for Failure {
    fn from(error: Unrunnable) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<TimerError> for Failure {
    fn from(error: TimerError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Timer(error) => error.into(),
            error => Self::of(&error),
        }
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let code = match error {
            SetupError::NoSuchLoop { .. } => exit::FAILED,
            _ => exit::USAGE,
        };
        let hint = match &error {
            SetupError::NoSuchLoop { .. } => "; loop list shows those that there are",
            _ => "",
        };
        let failure = Self::of(&error).with_code(code);
        Self {
            what: format!("{}{hint}", failure.what),
            ..failure
        }
    }
}

/// A record that cannot be trusted stops a command as it stops a tick.
impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let code = match &error {
            ReadError::Log(LogError::File(_)) => exit::FAILED,
            _ => exit::USAGE,
        };
        Self::of(&error).with_code(code)
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Read(error) => error.into(),
            RequestError::Open(error) => match error.outcome() {
                Outcome::Error(reason) => {
                    Self::of(&error).with_code(Outcome::Error(reason).exit_code())
                }
                _ => Self::of(&error),
            },
            error => Self::of(&error),
        }
    }
}

impl From<CreateLoopError> for Failure {
    fn from(error: CreateLoopError) -> Self {
        let code = match error {
            CreateLoopError::Name { .. }
            | CreateLoopError::Template { .. }
            | CreateLoopError::FindsItsTasks { .. }
            | CreateLoopError::Setup(SetupError::Config { .. }) => exit::USAGE,
            _ => exit::FAILED,
        };
        Self::of(&error).with_code(code)
    }
}
