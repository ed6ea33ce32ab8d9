//! What was agreed to, in the framework home: `trust.json`.

use crate::git::plain_file;
use crate::home::Home;
use crate::store::{draft, open_to_write};
use loop_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest file that is read, in bytes.
const LONGEST: u64 = 16 << 20;
/// How long another process that changes the file is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at its lock.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// What was agreed to cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not what this program writes.
    #[error("{}: {what}; take it away, and say loop trust again for each project", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process changes it all the time.
    #[error("{} is being changed by another process; try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// Everything that this user has agreed to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Grants {
    v: u32,
    /// By the project's path, and the loop's name.
    projects: BTreeMap<String, BTreeMap<String, Granted>>,
}

/// What was agreed to of one loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Granted {
    /// SHA-256 of all of it.
    pub(super) digest: String,
    /// The same in lines for people, without secrets.
    pub(super) starts: Vec<String>,
    /// Who agreed.
    pub(super) by: String,
    /// When.
    pub(super) at: Timestamp,
}

pub(super) fn path(home: &Home) -> PathBuf {
    home.root().join("trust.json")
}

impl Default for Grants {
    fn default() -> Self {
        Self {
            v: 1,
            projects: BTreeMap::new(),
        }
    }
}

impl Grants {
    /// Reads the file; without one nothing was agreed to.
    pub(super) fn read(home: &Home) -> Result<Self, TrustError> {
        let path = path(home);
        let foreign = |what: String| TrustError::Foreign {
            path: path.clone(),
            what,
        };
        let text = match plain_file::read(&path, LONGEST) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(foreign("it is no plain file of at most 16 MiB".to_owned())),
            Err(error) if plain_file::is_absent(&error) => return Ok(Self::default()),
            Err(source) => return Err(TrustError::Io { path, source }),
        };
        let grants: Self =
            serde_json::from_slice(&text).map_err(|error| foreign(error.to_string()))?;
        if grants.v != 1 {
            return Err(foreign(format!("version {} is not known", grants.v)));
        }
        Ok(grants)
    }

    pub(super) fn of(&self, project: &Path, name: &str) -> Option<&Granted> {
        self.projects.get(&key(project))?.get(name)
    }

    pub(super) fn put(&mut self, project: &Path, name: &str, granted: Granted) {
        let loops = self.projects.entry(key(project)).or_default();
        loops.insert(name.to_owned(), granted);
    }

    /// Reads, changes and replaces the file; two processes do it one after the
    /// other.
    pub(super) fn change(home: &Home, change: impl FnOnce(&mut Self)) -> Result<(), TrustError> {
        let path = path(home);
        let io = |source| TrustError::Io {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(home.root()).map_err(io)?;
        let lock = home.root().join("trust.lock");
        let lock = open_to_write(&lock, OpenOptions::new().write(true)).map_err(io)?;
        let asked = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if asked.elapsed() < PATIENCE => {
                    sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => return Err(TrustError::Busy { path }),
                Err(TryLockError::Error(error)) => return Err(io(error)),
            }
        }
        let mut grants = Self::read(home)?;
        change(&mut grants);
        let mut text = serde_json::to_vec_pretty(&grants).map_err(|error| io(error.into()))?;
        text.push(b'\n');
        let new = draft(home.root(), &text).map_err(io)?;
        new.as_file()
            .set_permissions(Permissions::from_mode(0o600))
            .map_err(io)?;
        new.persist(&path).map_err(|error| io(error.error))?;
        Ok(())
    }
}

/// Writes a path so that two paths never look the same, whatever their bytes are.
fn key(project: &Path) -> String {
    let bytes = project.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // No absolute path begins like that.
        Err(_) => format!("bytes:{}", crate::hash::hex(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn granted(digest: &str) -> Granted {
        Granted {
            digest: digest.to_owned(),
            starts: vec!["harness.command: [\"a\"]".to_owned()],
            by: "ada".to_owned(),
            at: Timestamp::from_unix_millis(0),
        }
    }

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("home"));
        (dir, home)
    }

    // cases: 152
    #[test]
    fn what_was_agreed_to_is_known_by_project_and_loop() {
        let (_dir, home) = home();
        assert!(Grants::read(&home).unwrap().projects.is_empty());
        let odd = Path::new(OsStr::from_bytes(b"/p\xff"));
        for (project, name, digest) in [
            (Path::new("/p"), "a", "1"),
            (Path::new("/p"), "b", "2"),
            (odd, "a", "3"),
            (Path::new("/p"), "a", "4"),
        ] {
            Grants::change(&home, |grants| grants.put(project, name, granted(digest))).unwrap();
        }
        let grants = Grants::read(&home).unwrap();
        let digest = |project, name| grants.of(project, name).map(|g| g.digest.as_str());
        assert_eq!(digest(Path::new("/p"), "a"), Some("4"));
        assert_eq!(digest(Path::new("/p"), "b"), Some("2"));
        assert_eq!(digest(odd, "a"), Some("3"));
        assert_eq!(digest(Path::new("/q"), "a"), None);
        let mode = path(&home).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    // cases: 107, 152
    #[test]
    fn a_file_that_is_not_ours_is_neither_believed_nor_replaced() {
        for text in ["", "{", "[]", r#"{"v":2,"projects":{}}"#, "\0\0\0"] {
            let (_dir, home) = home();
            fs::create_dir_all(home.root()).unwrap();
            fs::write(path(&home), text).unwrap();
            assert!(matches!(
                Grants::read(&home),
                Err(TrustError::Foreign { .. })
            ));
            let put = Grants::change(&home, |grants| {
                grants.put(Path::new("/p"), "a", granted("1"));
            });
            assert!(put.is_err(), "{text}");
            assert_eq!(fs::read_to_string(path(&home)).unwrap(), text);
        }
        let (_dir, home) = home();
        fs::create_dir_all(home.root()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path(&home)).unwrap();
        assert!(Grants::read(&home).is_err());
    }
}
