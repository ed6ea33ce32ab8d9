//! What engine and holder say to each other: one JSON value a line.
//!
//! Both ends are the same binary, so that there is only one version of this.

use super::{Command, Ended, Stdin, error::Refusal};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    time::Duration,
};

/// What the engine says. End of file means that it is gone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// The first line.
    Start(Box<Job>),
    /// End everything: SIGTERM, and after the grace SIGKILL.
    End,
    /// End everything at once.
    Kill,
}

/// What the holder says: first `Started` and later `Ended`, or only `Refused`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    Started { pid: u32 },
    Refused(Refusal),
    Ended(Box<Ended>),
}

/// Writes `message` as one line.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// A [`Command`] whose program has been found, fit for JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    program: Raw,
    argv: Vec<Raw>,
    directory: Raw,
    environment: Vec<(Raw, Raw)>,
    stdin: Input,
    stdout: Raw,
    stderr: Raw,
    heard: bool,
    output_cap: u64,
    timeout: Duration,
    idle_timeout: Option<Duration>,
    grace: Duration,
    step_lock: Raw,
    lock_patience: Duration,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Input {
    Null,
    Bytes(Raw),
    File(Raw),
}

impl Job {
    pub(super) fn new(program: &Path, command: &Command) -> Self {
        Self {
            program: Raw::new(program.as_os_str()),
            argv: command.argv.iter().map(Raw::new).collect(),
            directory: Raw::new(&command.directory),
            environment: command
                .environment
                .iter()
                .map(|(name, value)| (Raw::new(name), Raw::new(value)))
                .collect(),
            stdin: match &command.stdin {
                Stdin::Null => Input::Null,
                Stdin::Bytes(bytes) => Input::Bytes(Raw(bytes.clone())),
                Stdin::File(path) => Input::File(Raw::new(path)),
            },
            stdout: Raw::new(&command.stdout),
            stderr: Raw::new(&command.stderr),
            heard: command.heard,
            output_cap: command.output_cap,
            timeout: command.timeout,
            idle_timeout: command.idle_timeout,
            grace: command.grace,
            step_lock: Raw::new(&command.step_lock),
            lock_patience: command.lock_patience,
        }
    }

    /// Returns the program's path and the command.
    pub(super) fn into_parts(self) -> (PathBuf, Command) {
        let command = Command {
            argv: self.argv.into_iter().map(Raw::into_os).collect(),
            directory: self.directory.into_path(),
            environment: self
                .environment
                .into_iter()
                .map(|(name, value)| (name.into_os(), value.into_os()))
                .collect(),
            stdin: match self.stdin {
                Input::Null => Stdin::Null,
                Input::Bytes(bytes) => Stdin::Bytes(bytes.0),
                Input::File(path) => Stdin::File(path.into_path()),
            },
            stdout: self.stdout.into_path(),
            stderr: self.stderr.into_path(),
            heard: self.heard,
            output_cap: self.output_cap,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            grace: self.grace,
            step_lock: self.step_lock.into_path(),
            lock_patience: self.lock_patience,
        };
        (self.program.into_path(), command)
    }
}

/// Bytes as a JSON string with one character a byte, U+0000 to U+00FF: nothing
/// is lost that is not UTF-8, and ordinary text stays readable and short.
#[derive(Debug, PartialEq, Eq)]
struct Raw(Vec<u8>);

impl Raw {
    fn new(text: impl AsRef<std::ffi::OsStr>) -> Self {
        Self(text.as_ref().as_bytes().to_vec())
    }

    fn into_os(self) -> OsString {
        OsString::from_vec(self.0)
    }

    fn into_path(self) -> PathBuf {
        self.into_os().into()
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match str::from_utf8(&self.0) {
            Ok(text) if text.is_ascii() => serializer.serialize_str(text),
            _ => {
                let text: String = self.0.iter().copied().map(char::from).collect();
                serializer.serialize_str(&text)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_ascii() {
            return Ok(Self(text.into_bytes()));
        }
        text.chars()
            .map(u8::try_from)
            .collect::<Result<_, _>>()
            .map(Self)
            .map_err(|_| D::Error::custom("character above U+00FF"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn os() -> impl Strategy<Value = OsString> {
        prop::collection::vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
    }

    fn stdin() -> impl Strategy<Value = Stdin> {
        prop_oneof![
            Just(Stdin::Null),
            prop::collection::vec(any::<u8>(), 0..20).prop_map(Stdin::Bytes),
            os().prop_map(|path| Stdin::File(path.into())),
        ]
    }

    proptest! {
        #[test]
        fn job_survives_the_line_whatever_its_bytes(
            argv in prop::collection::vec(os(), 0..4),
            variables in prop::collection::vec((os(), os()), 0..4),
            paths in prop::array::uniform5(os()),
            stdin in stdin(),
            (heard, cap) in any::<(bool, u64)>(),
            times in prop::array::uniform3(any::<u64>()),
            idle in any::<Option<u64>>(),
        ) {
            let [program, directory, stdout, stderr, step_lock] = paths.map(PathBuf::from);
            let [timeout, grace, lock_patience] = times.map(Duration::from_millis);
            let command = Command {
                argv,
                directory,
                environment: variables.into_iter().collect(),
                stdin,
                stdout,
                stderr,
                heard,
                output_cap: cap,
                timeout,
                idle_timeout: idle.map(Duration::from_millis),
                grace,
                step_lock,
                lock_patience,
            };
            let mut line = Vec::new();
            send(&mut line, &Job::new(&program, &command)).unwrap();
            prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
            let job: Job = serde_json::from_slice(&line).unwrap();
            prop_assert_eq!(job.into_parts(), (program, command));
        }
    }
}
