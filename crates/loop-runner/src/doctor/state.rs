//! What a loop has on record, and what holds it.

use super::Finding;
use super::room::writable;
use crate::causes::with_causes;
use crate::git::plain_file;
use crate::setup::Setup;
use crate::store::{Snapshot, read_state};
use loop_core::explain::what_to_do_in;
use loop_core::outcome::{Outcome, Skip};
use loop_core::state::{State, Status};
use loop_core::text::counted;
use std::fs::TryLockError;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How far the clock may be behind the loop's last record, in milliseconds.
const SKEW: i64 = 60_000;

/// Returns the findings, and the state if it can be read.
pub(super) fn checks(setup: &Setup) -> (Vec<Finding>, Option<Snapshot>) {
    let mut found = vec![writable(
        "outputs",
        "the folder of outputs",
        &setup.dir.outputs(),
    )];
    let snapshot = match read_state(&setup.dir) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            found.push(Finding::problem(
                "state",
                with_causes(&error),
                "restore the loop's events.jsonl from a backup",
            ));
            return (found, None);
        }
    };
    found.push(log(setup, &snapshot));
    found.extend(future(setup, &snapshot));
    found.extend(held(setup, &snapshot));
    (found, Some(snapshot))
}

/// A loop that waits for a person works as little as one that is broken.
pub(super) fn waits(name: &str, state: &State) -> Option<Finding> {
    let (why, outcome) = match (state.status, state.reason, state.paused) {
        (Status::HumanIntervention, Some(halt), _) => {
            let why = state.why.clone().unwrap_or_else(|| halt.to_string());
            (why, Outcome::HumanIntervention(halt))
        }
        (_, _, true) => ("it is paused".to_owned(), Outcome::Skipped(Skip::Paused)),
        _ => return None,
    };
    let what = what_to_do_in(&outcome, state, name).unwrap_or_default();
    Some(Finding::warning(
        "waits",
        format!("it waits for a person: {why}"),
        what,
    ))
}

fn log(setup: &Setup, snapshot: &Snapshot) -> Finding {
    let path = setup.dir.events();
    match ends_in_newline(&path) {
        // A tick that runs may be in the middle of a line.
        Ok(false) if snapshot.running().is_none() => Finding::warning(
            "state",
            format!(
                "the end of {} is torn, as after a power cut",
                path.display()
            ),
            "nothing: the next tick cuts it off, and keeps it beside the log",
        ),
        Ok(_) => Finding::ok(
            "state",
            format!("{} can be read", counted(snapshot.seq, "record")),
        ),
        Err(error) => Finding::problem(
            "state",
            format!("{}: {error}", path.display()),
            "make it a file that you can read",
        ),
    }
}

fn ends_in_newline(path: &Path) -> io::Result<bool> {
    let mut file = match plain_file::open(path) {
        Ok(Some((file, _))) => file,
        Ok(None) => return Err(io::Error::other("it is no plain file")),
        Err(error) if plain_file::is_absent(&error) => return Ok(true),
        Err(error) => return Err(error),
    };
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// A clock that was set back makes a loop wait, or count a day twice.
fn future(setup: &Setup, snapshot: &Snapshot) -> Option<Finding> {
    let (now, last) = (setup.clock.now(), snapshot.state.updated_at?);
    let ahead = last.unix_millis().saturating_sub(now.unix_millis());
    (ahead > SKEW).then(|| {
        Finding::warning(
            "clock",
            format!("it is {now}, and the loop's last record is of {last}"),
            "set the clock: caps for a day and times to wait for go by it",
        )
    })
}

/// A step whose engine is gone can still be alive, and keeps the next from
/// starting.
fn held(setup: &Setup, snapshot: &Snapshot) -> Option<Finding> {
    if let Some(running) = snapshot.running() {
        let what = format!(
            "a tick is running: {} since {}, pid {}",
            running.step, running.since, running.pid
        );
        return Some(Finding::ok("lock", what));
    }
    let path = setup.dir.step_lock();
    let mut file = match plain_file::open(&path) {
        Ok(Some((file, _))) => file,
        Err(error) if plain_file::is_absent(&error) => return None,
        Ok(None) | Err(_) => {
            return Some(Finding::problem(
                "lock",
                format!("{} is no file that can be locked", path.display()),
                format!("rm {}", path.display()),
            ));
        }
    };
    match file.try_lock_shared() {
        Ok(()) => None,
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _unknown = file.by_ref().take(100).read_to_string(&mut text);
            let pid = text
                .split(' ')
                .nth(1)
                .unwrap_or("unknown")
                .trim()
                .to_owned();
            Some(Finding::problem(
                "lock",
                format!("a process of an earlier attempt is alive, pid {pid}"),
                format!("kill {pid}; the next tick ends it, too, if it can"),
            ))
        }
        Err(TryLockError::Error(error)) => Some(Finding::problem(
            "lock",
            format!("{}: {error}", path.display()),
            "use a file system that has locks",
        )),
    }
}
