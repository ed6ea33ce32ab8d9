//! What a timer does and when, whichever scheduler keeps it.

use super::host::Backend;
use super::{cron, zone};
use crate::hash::sha256_hex;
use crate::setup::Setup;
use loop_core::config::DayWindow;
use loop_core::schedule::{Fires, Zone, next_of};
use loop_core::time::Timestamp;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest part of a unit's name that is taken from the project's folder.
const LONGEST_NAME: usize = 64;

/// A timer for the ticks of one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its name, which is told apart from those of all other loops.
    pub unit: String,
    /// The loop.
    pub loop_name: String,
    /// The project's folder.
    pub project: String,
    /// The program that ticks.
    pub binary: String,
    /// The file to which it appends what it says, where the scheduler keeps no log.
    pub log: String,
    /// Variables as they are now; a scheduler's own environment is nearly empty.
    pub environment: Vec<(&'static str, String)>,
    /// What makes it fire.
    pub fires: Fires,
    /// The zone in which its times and the window are read.
    pub zone: Zone,
    /// The time of day in which the loop may work.
    pub window: Option<DayWindow>,
    /// The time at which it is made.
    pub now: Timestamp,
}

/// A timer that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    /// The loop says nothing of when to tick.
    #[error(
        "{}: there is nothing to fire; set schedule.interval_seconds, or schedule.cron with \
         schedule.timezone", path.display()
    )]
    NoSchedule {
        /// The loop's configuration.
        path: PathBuf,
    },
    /// No fire lies in the window, or there is none at all.
    #[error("{}: schedule.cron never fires{when}; mend it", path.display())]
    Never {
        /// The loop's configuration.
        path: PathBuf,
        /// When it does not.
        when: &'static str,
    },
    /// Its zone is unknown.
    #[error("{}: schedule.timezone: {source}", path.display())]
    Zone {
        /// The loop's configuration.
        path: PathBuf,
        /// Which.
        source: zone::UnknownZone,
    },
    /// A scheduler's files hold lines of text.
    #[error("{what} is no line of text, which a timer needs: {value:?}")]
    NoLine {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: OsString,
    },
    /// cron has no such interval.
    #[error(
        "cron cannot fire every {seconds} seconds; the nearest that it can is {nearest}: set \
         schedule.interval_seconds to that, or use --backend systemd"
    )]
    Interval {
        /// The interval.
        seconds: u64,
        /// The nearest that it has.
        nearest: u64,
    },
    /// Its times are those of another zone than the scheduler's.
    #[error(
        "{backend} reads times in this machine's zone, {local}, and not in {named}: use \
         --backend systemd, or write schedule.cron for {local}"
    )]
    OtherZone {
        /// The scheduler.
        backend: Backend,
        /// The machine's zone.
        local: String,
        /// The schedule's zone.
        named: String,
    },
    /// cron programs differ in what they make of a backslash.
    #[error("no crontab holds a backslash in {what} safely: {value}; use --backend systemd")]
    Backslash {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// systemd starts no program with such a path.
    #[error(
        "systemd starts no program whose path has quotes or backslashes: {value}; put this \
         program elsewhere"
    )]
    Quotes {
        /// The path.
        value: String,
    },
    /// cron programs cut or refuse a long line.
    #[error(
        "the line for the crontab has {length} bytes, and cron takes {most}; install with a \
         shorter PATH, or use --backend systemd"
    )]
    TooLong {
        /// How long it is.
        length: usize,
        /// How long it may be.
        most: usize,
    },
    /// launchd would need too many entries.
    #[error(
        "launchd would need {entries} entries for schedule.cron, of at most {most}; use fewer times"
    )]
    TooMany {
        /// How many.
        entries: usize,
        /// How many there may be.
        most: usize,
    },
}

impl Timer {
    /// Makes the timer of a loop, which runs `binary`.
    ///
    /// # Errors
    ///
    /// [`TimerError`] when the loop has no schedule that ever fires, or a path or a
    /// variable is no line of text.
    pub fn of(setup: &Setup, binary: &Path) -> Result<Self, TimerError> {
        let path = setup.config_path();
        let schedule = setup.config.schedule();
        let fires = schedule.and_then(Fires::of);
        let (Some(schedule), Some(fires)) = (schedule, fires) else {
            return Err(TimerError::NoSchedule { path });
        };
        let zone = match setup.zone() {
            Ok(zone) => zone.clone(),
            Err(source) => return Err(TimerError::Zone { path, source }),
        };
        let now = setup.clock.now();
        let window = schedule.window.map(|window| (window, &zone));
        // Whether a tick at an interval falls into the window is told by when it starts.
        if matches!(fires, Fires::At(_)) && next_of(&fires, &zone, window, now).is_none() {
            let when = schedule.window.map_or("", |_| " in schedule.window");
            return Err(TimerError::Never { path, when });
        }
        let root = setup.kept_in.root();
        let log = setup.dir.root().join(".schedule.log");
        Ok(Self {
            unit: unit_name(root, &setup.name),
            loop_name: setup.name.clone(),
            project: line("the project's path", root.as_os_str())?,
            binary: line("the path of this program", binary.as_os_str())?,
            log: line("the path of the log", log.as_os_str())?,
            environment: frozen(setup)?,
            fires,
            window: schedule.window,
            zone,
            now,
        })
    }

    /// Returns when it fires next inside the window, in the hands of `backend`; `None`
    /// where only the scheduler knows.
    #[must_use]
    pub fn next_fire(&self, backend: Backend) -> Option<Timestamp> {
        let window = self.window.map(|window| (window, &self.zone));
        match (&self.fires, backend) {
            (Fires::At(_), _) => next_of(&self.fires, &self.zone, window, self.now),
            (Fires::Every(_), Backend::Cron) => {
                let times = Fires::At(cron::times(&self.fires).ok()?);
                next_of(&times, &zone::local(), window, self.now)
            }
            (Fires::Every(_), Backend::Systemd | Backend::Launchd) => None,
        }
    }

    /// Returns the program and its arguments. A scheduler without a log of its own
    /// needs one.
    pub(super) fn argv(&self, log: bool) -> Vec<(&'static str, &str)> {
        let mut argv = vec![
            ("the path of this program", self.binary.as_str()),
            ("the command", "tick"),
            ("the loop's name", &self.loop_name),
            ("the command", "--project"),
            ("the project's path", &self.project),
        ];
        if log {
            argv.extend([("the command", "--log"), ("the path of the log", &self.log)]);
        }
        argv
    }

    /// Checks that a scheduler that knows one zone alone reads the times right.
    pub(super) fn check_zone(&self, backend: Backend) -> Result<(), TimerError> {
        let local = zone::local();
        let same = matches!(self.fires, Fires::Every(_)) || self.zone.agrees_with(&local, self.now);
        if same {
            return Ok(());
        }
        Err(TimerError::OtherZone {
            backend,
            local: local.name().to_owned(),
            named: self.zone.name().to_owned(),
        })
    }
}

/// Returns the name of a loop's timer: `automaton-<project>-<hash8>-<loop>`, where
/// the hash is that of the project's whole path.
#[must_use]
pub fn unit_name(project: &Path, loop_name: &str) -> String {
    let hash = sha256_hex(project.as_os_str().as_bytes());
    let folder = project.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let folder: String = folder.chars().take(LONGEST_NAME).map(plain).collect();
    format!("automaton-{folder}-{}-{loop_name}", &hash[..8])
}

/// Returns the variables that a tick needs as they are now.
fn frozen(setup: &Setup) -> Result<Vec<(&'static str, String)>, TimerError> {
    let value = |name: &str| {
        let mut environment = setup.environment.iter();
        let (_, value) = environment.find(|(known, _)| known == name)?;
        (!value.is_empty()).then_some(value)
    };
    let mut frozen = Vec::new();
    if let Some(path) = value("PATH") {
        frozen.push(("PATH", line("PATH", &absolute(path))?));
    }
    if value("AUTOMATON_HOME").is_some() {
        let home = setup.home.root().as_os_str();
        frozen.push(("AUTOMATON_HOME", line("AUTOMATON_HOME", home)?));
    }
    Ok(frozen)
}

/// Leaves out of PATH what would mean another folder elsewhere, and what is there twice.
fn absolute(path: &OsStr) -> OsString {
    let mut seen = BTreeSet::new();
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let folders: Vec<_> = folders
        .filter(|folder| seen.insert(folder.clone()))
        .collect();
    // What was split can be joined again.
    std::env::join_paths(folders).unwrap_or_default()
}

/// Takes a value as a line of text.
fn line(what: &'static str, value: &OsStr) -> Result<String, TimerError> {
    match value.to_str() {
        Some(text) if !text.chars().any(char::is_control) => Ok(text.to_owned()),
        _ => Err(TimerError::NoLine {
            what,
            value: value.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: U-31
    #[test]
    fn a_unit_is_named_by_project_and_loop() {
        for (project, start) in [
            ("/home/ada/app", "automaton-app-"),
            ("/", "automaton--"),
            ("/srv/Zürich 50%", "automaton-Z_rich_50_-"),
        ] {
            let unit = unit_name(Path::new(project), "fix");
            assert!(unit.starts_with(start) && unit.ends_with("-fix"), "{unit}");
            assert_eq!(unit.len(), start.len() + 8 + 4, "{unit}");
        }
        let long = unit_name(&Path::new("/").join("x".repeat(255)), &"y".repeat(64));
        assert!(long.len() + ".service".len() < 255, "{long}");
        let same_folder = ["/a/app", "/b/app"].map(|path| unit_name(Path::new(path), "fix"));
        assert_ne!(same_folder[0], same_folder[1]);
    }

    // cases: 141
    #[test]
    fn path_keeps_what_means_the_same_everywhere() {
        for (path, kept) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/usr/bin::bin:/usr/bin:/bin", "/usr/bin:/bin"),
            ("", ""),
        ] {
            assert_eq!(absolute(OsStr::new(path)), kept);
        }
    }

    #[test]
    fn a_timer_holds_lines_of_text() {
        assert_eq!(
            line("x", OsStr::new("a 'b' $c %d ü")).unwrap(),
            "a 'b' $c %d ü"
        );
        for bad in [&b"a\nb"[..], b"\x1b[31m", b"\xff"] {
            assert!(line("x", OsStr::from_bytes(bad)).is_err(), "{bad:?}");
        }
    }
}
