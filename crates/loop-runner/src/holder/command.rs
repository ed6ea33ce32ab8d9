//! What is to be run, and what can be known to be wrong with it beforehand.

use super::{Environment, StartError};
use rustix::fs::{Access, access};
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// The shortest argument that Linux refuses, in bytes without its NUL
/// (`MAX_ARG_STRLEN`: 32 pages of 4 KiB, the NUL included).
pub const ARGUMENT_LIMIT: usize = 131_072;

/// Where programs are looked for when the child has no `PATH`, as `execvp` does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A program to run, its surroundings, and its limits.
///
/// Relative paths other than the program's are relative to the engine's
/// working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, looked for on the child's own `PATH`, and its arguments.
    pub argv: Vec<OsString>,
    /// The child's working directory.
    pub directory: PathBuf,
    /// The child's environment, exactly.
    pub environment: Environment,
    /// What the child reads.
    pub stdin: Stdin,
    /// The file that gets what the child writes to its standard output.
    pub stdout: PathBuf,
    /// The file that gets what the child writes to its standard error.
    pub stderr: PathBuf,
    /// Whether what the child writes to its standard output is also to be had as it
    /// comes, by [`Running::output`](super::Running::output).
    pub heard: bool,
    /// How many bytes of each stream are kept, half of them from the start and
    /// half from the end.
    pub output_cap: u64,
    /// How long the child may run.
    pub timeout: Duration,
    /// How long the child may be silent on both streams.
    pub idle_timeout: Option<Duration>,
    /// How long after SIGTERM SIGKILL follows.
    pub grace: Duration,
    /// The file whose lock is held while anything of the step is alive.
    pub step_lock: PathBuf,
    /// How long to wait for the lock of an earlier step.
    pub lock_patience: Duration,
}

/// What a child reads from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: reading gives end of file at once.
    #[default]
    Null,
    /// These bytes; whether the child reads them is its choice.
    Bytes(Vec<u8>),
    /// The file's content.
    File(PathBuf),
}

impl Command {
    /// The output cap of a stream unless another is given: 50 MiB.
    pub const OUTPUT_CAP: u64 = 50 * 1024 * 1024;
    /// The timeout unless another is given: 30 minutes.
    pub const TIMEOUT: Duration = Duration::from_secs(1800);
    /// The grace between SIGTERM and SIGKILL unless another is given.
    pub const GRACE: Duration = Duration::from_secs(5);
    /// The wait for an earlier step's lock unless another is given.
    pub const LOCK_PATIENCE: Duration = Duration::from_secs(10);

    /// Describes a command with the default limits and nothing to read.
    ///
    /// `outputs` are the files for standard output and standard error.
    pub fn new(
        argv: Vec<OsString>,
        directory: PathBuf,
        environment: Environment,
        outputs: [PathBuf; 2],
        step_lock: PathBuf,
    ) -> Self {
        let [stdout, stderr] = outputs;
        Self {
            argv,
            directory,
            environment,
            stdin: Stdin::Null,
            stdout,
            stderr,
            heard: false,
            output_cap: Self::OUTPUT_CAP,
            timeout: Self::TIMEOUT,
            idle_timeout: None,
            grace: Self::GRACE,
            step_lock,
            lock_patience: Self::LOCK_PATIENCE,
        }
    }

    /// Checks what can be checked without starting anything, and returns the
    /// program's path.
    ///
    /// The path is absolute if the working directory is. [`spawn`](super::spawn)
    /// checks again, so that calling this is only needed where a doomed start
    /// must cost nothing.
    ///
    /// # Errors
    ///
    /// Returns a [`StartError`] if an argument or variable holds a NUL byte or
    /// is too long, or if the working directory or the program is missing.
    pub fn preflight(&self) -> Result<PathBuf, StartError> {
        self.check_arguments()?;
        self.check_environment()?;
        if !self.directory.is_dir() {
            return Err(StartError::DirectoryMissing {
                path: self.directory.clone(),
            });
        }
        self.find_program()
    }

    fn check_arguments(&self) -> Result<(), StartError> {
        for (index, argument) in self.argv.iter().enumerate() {
            if has_nul(argument) {
                return Err(StartError::NulInArgument { index });
            }
            if argument.len() >= ARGUMENT_LIMIT {
                let bytes = argument.len();
                return Err(StartError::ArgumentTooLong { index, bytes });
            }
        }
        Ok(())
    }

    fn check_environment(&self) -> Result<(), StartError> {
        for (name, value) in self.environment.iter() {
            if has_nul(name) || has_nul(value) {
                let name = name.to_owned();
                return Err(StartError::NulInVariable { name });
            }
            // The kernel sees one string, "name=value".
            let bytes = name.len() + 1 + value.len();
            if bytes >= ARGUMENT_LIMIT {
                let name = name.to_owned();
                return Err(StartError::VariableTooLong { name, bytes });
            }
        }
        Ok(())
    }

    /// Looks for the program where the child would.
    pub(crate) fn find_program(&self) -> Result<PathBuf, StartError> {
        let name = self.argv.first().cloned().unwrap_or_default();
        let mut present_but_unusable = None;
        for candidate in self.candidates(&name) {
            if is_executable(&candidate) {
                return Ok(candidate);
            }
            if candidate.exists() {
                present_but_unusable.get_or_insert(candidate);
            }
        }
        Err(match present_but_unusable {
            Some(path) => StartError::NotExecutable { path },
            None => StartError::ProgramNotFound { program: name },
        })
    }

    /// The places where `execvp`, called in the working directory, would look.
    fn candidates(&self, name: &OsStr) -> Vec<PathBuf> {
        if name.is_empty() {
            return Vec::new();
        }
        if name.as_bytes().contains(&b'/') {
            return vec![self.directory.join(name)];
        }
        let path = self.environment.get("PATH");
        std::env::split_paths(path.unwrap_or_else(|| OsStr::new(DEFAULT_PATH)))
            .map(|folder| self.directory.join(folder).join(name))
            .collect()
    }
}

fn has_nul(text: &OsStr) -> bool {
    text.as_bytes().contains(&0)
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    fn command(directory: &Path, argv: &[&str], path: &str) -> Command {
        let environment = [("PATH".into(), path.into())].into_iter().collect();
        let argv = argv.iter().map(OsString::from).collect();
        let file = PathBuf::from("unused");
        let outputs = [file.clone(), file.clone()];
        Command::new(argv, directory.to_owned(), environment, outputs, file)
    }

    fn program(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    // rows: H-35
    #[test]
    fn program_is_found_on_the_childs_path() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        program(&at("one/dull"), 0o644);
        program(&at("two/dull"), 0o755);
        program(&at("two/sharp"), 0o755);
        fs::create_dir_all(at("one/sharp")).unwrap();
        let found = |name: &str, path: &str| command(dir.path(), &[name], path).preflight();

        let both = format!("{}:{}", at("one").display(), at("two").display());
        assert_eq!(found("dull", &both).unwrap(), at("two/dull"));
        assert_eq!(found("sharp", &both).unwrap(), at("two/sharp"));
        // Relative names and path elements start at the working directory.
        assert_eq!(found("./two/sharp", "").unwrap(), at("two/sharp"));
        assert_eq!(found("sharp", "two").unwrap(), at("two/sharp"));
        assert!(matches!(
            found("dull", "one"),
            Err(StartError::NotExecutable { path }) if path == at("one/dull")
        ));
        for (name, path) in [("sharp", "three"), ("", "two"), ("./sharp", "two")] {
            let error = found(name, path).unwrap_err();
            assert!(matches!(error, StartError::ProgramNotFound { program } if program == name));
        }
    }

    // rows: H-35
    #[test]
    fn missing_directory_is_not_a_missing_program() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone");
        let error = command(&gone, &["absent"], "/bin").preflight().unwrap_err();
        assert!(matches!(error, StartError::DirectoryMissing { path } if path == gone));
    }

    // rows: H-33, H-34; cases: 50
    #[test]
    fn unsendable_arguments_and_variables_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let with = |argument: &str| command(dir.path(), &["sh", argument], "/bin:/usr/bin");
        let long = "x".repeat(ARGUMENT_LIMIT);

        assert!(with(&long[1..]).preflight().is_ok());
        assert!(matches!(
            with(&long).preflight(),
            Err(StartError::ArgumentTooLong {
                index: 1,
                bytes: 131_072
            })
        ));
        assert!(matches!(
            with("a\0b").preflight(),
            Err(StartError::NulInArgument { index: 1 })
        ));

        let mut variable = with("");
        variable.environment.set("N", &long[3..]);
        assert!(variable.preflight().is_ok());
        variable.environment.set("N", &long[2..]);
        assert!(matches!(
            variable.preflight(),
            Err(StartError::VariableTooLong { name, bytes: 131_072 }) if name == "N"
        ));
        variable.environment.set("N", "\0");
        assert!(matches!(
            variable.preflight(),
            Err(StartError::NulInVariable { name }) if name == "N"
        ));
    }
}
