//! The schedulers, and which of them this machine has.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A scheduler that can keep a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// User units of systemd.
    Systemd,
    /// The user's crontab.
    Cron,
    /// User agents of launchd.
    Launchd,
}

/// A word that names no scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scheduler; use systemd, cron or launchd")]
pub struct UnknownBackend(String);

impl Backend {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Systemd, Self::Cron, Self::Launchd];

    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Cron => "cron",
            Self::Launchd => "launchd",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(word: &str) -> Result<Self, UnknownBackend> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownBackend(word.to_owned()))
    }
}

/// What is known of the machine and the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The folder of systemd's user units.
    pub units: Option<PathBuf>,
    /// The folder of launchd's user agents.
    pub agents: Option<PathBuf>,
    /// The program crontab(1).
    pub crontab: Option<PathBuf>,
    /// Whether a user manager of systemd runs for this user.
    pub user_manager: bool,
    /// Whether it runs while the user is not logged in.
    pub lingers: bool,
}

impl Host {
    /// Looks at the machine, with the environment of the command.
    #[must_use]
    pub fn look(environment: &[(OsString, OsString)]) -> Self {
        let value = |name: &str| -> Option<&OsStr> {
            let (_, value) = environment.iter().find(|(known, _)| known == name)?;
            (!value.is_empty()).then_some(value)
        };
        // A relative path is to be ignored here (XDG Base Directory Specification).
        let folder = |name| {
            value(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = folder("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let user = rustix::process::getuid().as_raw();
        let runtime = folder("XDG_RUNTIME_DIR")
            .unwrap_or_else(|| Path::new("/run/user").join(user.to_string()));
        let login = value("USER").or_else(|| value("LOGNAME"));
        Self {
            units: config.map(|config| config.join("systemd/user")),
            agents: below_home("Library/LaunchAgents"),
            crontab: value("PATH").and_then(|path| program("crontab", path)),
            user_manager: runtime.join("systemd/private").exists(),
            lingers: login
                .is_some_and(|login| Path::new("/var/lib/systemd/linger").join(login).exists()),
        }
    }

    /// Returns the link by which systemd enables the timer called `unit`.
    pub(super) fn wanted_by(&self, unit: &str) -> Option<PathBuf> {
        let units = self.units.as_ref()?;
        Some(
            units
                .join("timers.target.wants")
                .join(format!("{unit}.timer")),
        )
    }

    /// Returns the scheduler to use where none is named: systemd where its user
    /// manager runs, else cron, else the one that the system comes with.
    #[must_use]
    pub fn preferred(&self) -> Backend {
        if cfg!(target_os = "macos") {
            Backend::Launchd
        } else if !self.user_manager && self.crontab.is_some() {
            Backend::Cron
        } else {
            Backend::Systemd
        }
    }
}

fn program(name: &str, path: &OsStr) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut places = folders.map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}
