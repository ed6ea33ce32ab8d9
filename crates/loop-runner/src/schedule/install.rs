//! Putting a timer in place, and taking it away.

use super::host::{Backend, Host};
use super::timer::{Timer, TimerError};
use super::{CrontabError, cron, crontab, files, launchd, systemd};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A part of a timer: where it stands, and what stands there before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where.
    pub place: Place,
    /// What is there of the engine's; `None` when nothing is.
    pub before: Option<Vec<u8>>,
    /// What is to be there.
    pub after: Option<Vec<u8>>,
}

/// Where a part of a timer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file of its own.
    File(PathBuf),
    /// A link by which a scheduler enables a file.
    Link(PathBuf),
    /// A block in the user's crontab.
    Crontab {
        /// The program crontab(1).
        program: PathBuf,
        /// The name of the block.
        unit: String,
    },
}

/// A timer that cannot be put in place or taken away.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There can be no such timer.
    #[error(transparent)]
    Timer(#[from] TimerError),
    /// The crontab cannot be read or changed.
    #[error(transparent)]
    Crontab(#[from] CrontabError),
    /// The scheduler has no place for it.
    #[error("{0}")]
    NoPlace(&'static str),
    /// Somebody else's file stands there.
    #[error("{} is not the engine's, and stays; move it away", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read, written or removed.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was to be done, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl InstallError {
    pub(super) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

impl Piece {
    /// Whether anything is to be done.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// Returns what is to be done so that `backend` keeps the timer as it is now.
///
/// # Errors
///
/// [`InstallError`] when it cannot keep it, or what is there cannot be read.
pub fn plan(backend: Backend, timer: &Timer, host: &Host) -> Result<Vec<Piece>, InstallError> {
    let texts = match backend {
        Backend::Systemd => vec![systemd::service(timer)?, systemd::timer(timer)],
        Backend::Launchd => vec![launchd::agent(timer)?],
        Backend::Cron => {
            let block = crontab::block(&timer.unit, &cron::line(timer)?);
            vec![String::from_utf8_lossy(&block).into_owned()]
        }
    };
    let places = places(backend, &timer.unit, host)?.into_iter();
    let piece = |(place, text): (Place, String)| {
        Ok(Piece {
            before: read(&place)?,
            place,
            after: Some(text.into_bytes()),
        })
    };
    places.zip(texts).map(piece).collect()
}

/// Returns what is to be done so that `backend` keeps no timer called `unit`; none
/// of it where the scheduler has no place for any.
///
/// # Errors
///
/// [`InstallError`] when what is there cannot be read.
pub fn removal(backend: Backend, unit: &str, host: &Host) -> Result<Vec<Piece>, InstallError> {
    let mut places = match places(backend, unit, host) {
        Ok(places) => places,
        Err(InstallError::NoPlace(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut pieces = Vec::new();
    if backend == Backend::Systemd {
        places.extend(host.wanted_by(unit).map(Place::Link));
    }
    for place in places {
        if let Some(before) = read(&place)? {
            pieces.push(Piece {
                place,
                before: Some(before),
                after: None,
            });
        }
    }
    Ok(pieces)
}

/// Does it. A failure leaves the pieces after it as they were.
///
/// # Errors
///
/// [`InstallError`] at the first piece that fails.
pub fn apply(pieces: &[Piece]) -> Result<(), InstallError> {
    for piece in pieces.iter().filter(|piece| piece.changes()) {
        match (&piece.place, &piece.after) {
            (Place::File(path), Some(text)) => files::write(path, text)?,
            (Place::File(path) | Place::Link(path), None) => files::remove(path)?,
            // The engine enables nothing.
            (Place::Link(_), Some(_)) => {}
            (Place::Crontab { program, unit }, block) => {
                // Between reading and writing no other of ours may write.
                let _alone = crontab::alone(program)?;
                let now = crontab::read(program)?;
                let then = crontab::replaced(&now, unit, block.as_deref())?;
                crontab::write(program, &then)?;
            }
        }
    }
    Ok(())
}

/// Returns where `backend` keeps the timer called `unit`.
fn places(backend: Backend, unit: &str, host: &Host) -> Result<Vec<Place>, InstallError> {
    let no_home = InstallError::NoPlace("HOME is not set, so there is no place for a timer");
    match backend {
        Backend::Systemd => {
            let units = host.units.as_ref().ok_or(no_home)?;
            let file = |kind| Place::File(units.join(format!("{unit}.{kind}")));
            Ok(["service", "timer"].map(file).into())
        }
        Backend::Launchd => {
            let agents = host.agents.as_ref().ok_or(no_home)?;
            Ok(vec![Place::File(agents.join(format!("{unit}.plist")))])
        }
        Backend::Cron => {
            let program = host.crontab.clone();
            let program = program.ok_or(InstallError::NoPlace(
                "there is no program crontab on PATH; install cron, or use --backend systemd",
            ))?;
            let unit = unit.to_owned();
            Ok(vec![Place::Crontab { program, unit }])
        }
    }
}

/// Reads what stands there of the engine's.
fn read(place: &Place) -> Result<Option<Vec<u8>>, InstallError> {
    match place {
        Place::File(path) => files::read(path),
        Place::Link(path) => {
            let target = fs::read_link(path).map(PathBuf::into_os_string);
            Ok(target.map(OsString::into_vec).ok())
        }
        Place::Crontab { program, unit } => {
            let crontab = crontab::read(program)?;
            let place = crontab::find(&crontab, unit)?;
            Ok(place.map(|place| crontab[place].to_vec()))
        }
    }
}
