//! Why a command did not start, or why nothing is known of its end.

use super::Command;
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
};

/// Why a command was not started.
///
/// None of these has run any of the command, so none of them costs anything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No folder of the child's `PATH` has the program.
    #[error("program not found: {}", .program.display())]
    ProgramNotFound {
        /// The name as it was given.
        program: OsString,
    },
    /// The program is there but cannot be executed.
    #[error("not executable: {}", .path.display())]
    NotExecutable {
        /// The file that was found.
        path: PathBuf,
    },
    /// The program is a script whose interpreter is not there.
    #[error("interpreter is missing of {}", .path.display())]
    InterpreterMissing {
        /// The script.
        path: PathBuf,
    },
    /// The working directory is not there.
    #[error("working directory is missing: {}", .path.display())]
    DirectoryMissing {
        /// The directory as it was given.
        path: PathBuf,
    },
    /// One argument is longer than the system can pass on.
    #[error("argument {index} has {bytes} bytes, more than a program can be given")]
    ArgumentTooLong {
        /// The argument's position, the program itself being 0.
        index: usize,
        /// Its length.
        bytes: usize,
    },
    /// One variable is longer than the system can pass on.
    #[error("variable {} has {bytes} bytes, more than a program can be given", .name.display())]
    VariableTooLong {
        /// The variable's name.
        name: OsString,
        /// The length of name, equals sign and value.
        bytes: usize,
    },
    /// All arguments and variables together are longer than the system can pass on.
    #[error("arguments and environment together have more bytes than a program can be given")]
    ListTooLong,
    /// An argument holds a NUL byte.
    #[error("argument {index} contains a NUL byte")]
    NulInArgument {
        /// The argument's position, the program itself being 0.
        index: usize,
    },
    /// A variable's name or value holds a NUL byte.
    #[error("variable {} contains a NUL byte", .name.display())]
    NulInVariable {
        /// The variable's name.
        name: OsString,
    },
    /// An earlier step has not ended.
    #[error("an earlier step is alive, {}", alive(*.pid))]
    StepAlive {
        /// The process that holds the lock, if its file names one.
        pid: Option<u32>,
    },
    /// Something else stands in the place of the lock's file, and may lead to a
    /// file that is not ours; nothing was written to it.
    #[error("{} {what}; remove it", .path.display())]
    LockForeign {
        /// The lock's file.
        path: PathBuf,
        /// What it is, as it follows the path.
        what: String,
    },
    /// The holder ended or fell silent before it had started the command.
    #[error("the process that was to start the command failed")]
    HolderFailed,
    /// Something else went wrong.
    #[error("cannot {doing}")]
    Io {
        /// What was being done, as it follows "cannot".
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Why the end of a command is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The holder ended without a report: someone killed it.
    ///
    /// The engine has killed what it left. The output files hold the start of
    /// the output only, and nothing tells whether it is the command's.
    #[error("the process that held the command was ended from outside ({status})")]
    HolderLost {
        /// How the holder ended.
        status: ExitStatus,
    },
    /// The holder did not report long after every limit had passed, and was
    /// killed with all its descendants.
    #[error("the process that held the command hung and was killed")]
    HolderHung,
}

/// A [`StartError`] that only the starting process can find, as it is told to
/// the engine.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refusal {
    StepAlive { pid: Option<u32> },
    LockForeign { what: String },
    Exec { errno: Option<i32> },
    Io { doing: String, errno: Option<i32> },
    EngineGone,
}

impl Refusal {
    /// For use with `map_err`; `doing` follows "cannot".
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |error| Self::Io {
            doing,
            errno: error.raw_os_error(),
        }
    }

    /// Says it in terms of `command`, whose program was found at `program`.
    pub(super) fn into_start_error(self, program: &Path, command: &Command) -> StartError {
        use rustix::io::Errno;
        let directory = &command.directory;
        match self {
            Self::StepAlive { pid } => StartError::StepAlive { pid },
            Self::LockForeign { what } => StartError::LockForeign {
                path: command.step_lock.clone(),
                what,
            },
            Self::EngineGone => StartError::HolderFailed,
            Self::Io { doing, errno } => StartError::Io {
                doing,
                source: system_error(errno),
            },
            Self::Exec { errno } => match errno.map(Errno::from_raw_os_error) {
                Some(Errno::TOOBIG) => StartError::ListTooLong,
                Some(Errno::ACCESS | Errno::NOEXEC) => StartError::NotExecutable {
                    path: program.to_owned(),
                },
                Some(Errno::NOENT) if !directory.is_dir() => StartError::DirectoryMissing {
                    path: directory.clone(),
                },
                // Rust tells of a missing file only, not of which.
                Some(Errno::NOENT) if program.exists() => StartError::InterpreterMissing {
                    path: program.to_owned(),
                },
                Some(Errno::NOENT) => StartError::ProgramNotFound {
                    program: program.into(),
                },
                _ => StartError::Io {
                    doing: format!("execute {}", program.display()),
                    source: system_error(errno),
                },
            },
        }
    }
}

pub(super) fn system_error(errno: Option<i32>) -> io::Error {
    errno.map_or_else(
        || io::Error::other("unknown error"),
        io::Error::from_raw_os_error,
    )
}

pub(super) fn alive(pid: Option<u32>) -> String {
    pid.map_or_else(|| "pid unknown".into(), |pid| format!("pid {pid}"))
}
