//! A person's command: leave a request, and see what becomes of it.

use super::drain::AT_ONCE;
use super::error::{HeldError, OpenError, ReadError};
use super::file::open_to_read;
use super::held::Held;
use super::inbox::{self, SubmitError, submit};
use super::lock::Lock;
use super::open::AttemptAlive;
use super::paths::LoopDir;
use super::read::{read_state_as, records_after};
use super::scan::{find_back, parse};
use crate::clock::Clock;
use loop_core::control::Control;
use loop_core::record::{Body, Record, Requested};
use loop_core::step::Action;
use loop_core::time::Timestamp;
use loop_core::{Fence, Step};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a command waits for a running tick to look.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// It was taken in, and granted or denied.
    Done(Requested),
    /// It is on disk and takes effect when the running tick looks.
    Recorded {
        /// The running tick; `None` between two ticks.
        tick: Option<u64>,
        /// The step that it is at.
        step: Option<Step>,
        /// Since when.
        since: Option<Timestamp>,
    },
}

/// A request that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It was not left; nothing was changed.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// It waits, but the loop could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It waits, or what it makes owed does.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// It waits, but the loop could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its file vanished before anybody took it in.
    #[error("request {id} vanished before it was taken in")]
    Vanished {
        /// The request.
        id: String,
    },
}

/// Leaves a request and waits up to three seconds for it to be taken in: by the
/// running tick, or, when none is running, right here.
///
/// `end_stale` is that of [`Held::open`]. `owed` performs a move that the
/// machine asks for ([`Action::Advance`]): it begins it, makes it and answers.
/// No agent is ever started from here.
///
/// # Errors
///
/// [`RequestError`]; after one while waiting the request is taken back.
pub fn request(
    dir: &LoopDir,
    control: &Control,
    engine: &str,
    clock: Arc<dyn Clock>,
    end_stale: impl FnOnce() -> Result<(), AttemptAlive>,
    owed: impl FnMut(&mut Held) -> Result<(), HeldError>,
) -> Result<Answered, RequestError> {
    request_within(PATIENCE, dir, control, engine, clock, end_stale, owed)
}

pub(super) fn request_within(
    patience: Duration,
    dir: &LoopDir,
    control: &Control,
    engine: &str,
    clock: Arc<dyn Clock>,
    end_stale: impl FnOnce() -> Result<(), AttemptAlive>,
    owed: impl FnMut(&mut Held) -> Result<(), HeldError>,
) -> Result<Answered, RequestError> {
    let left = submit(&dir.control(), control)?;
    let waited = wait(dir, &control.id, engine, patience).inspect_err(|_| {
        // What is told as failed must not happen later; if somebody has it, they do.
        let _taken = std::fs::remove_file(&left);
    });
    match waited? {
        Waited::Lock(lock) => {
            let held = Held::open_locked(lock, dir, engine, clock, end_stale)?;
            settle(held, control, owed)
        }
        Waited::Taken(requested) => Ok(Answered::Done(requested)),
        Waited::InVain => {
            let state = read_state_as(dir, engine)?.state;
            Ok(Answered::Recorded {
                tick: state.in_progress,
                step: state.running.map(|running| running.step),
                since: state.running.map(|running| running.since),
            })
        }
    }
}

/// What came of waiting.
enum Waited {
    /// Nobody drives the loop.
    Lock(Lock),
    /// The one who drives it has taken the request in.
    Taken(Requested),
    /// Neither.
    InVain,
}

fn wait(dir: &LoopDir, id: &str, engine: &str, patience: Duration) -> Result<Waited, RequestError> {
    let started = Instant::now();
    loop {
        match Lock::acquire(dir) {
            Ok(lock) => return Ok(Waited::Lock(lock)),
            Err(OpenError::Locked { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(requested) = taken_in(dir, id, engine)? {
            return Ok(Waited::Taken(requested));
        }
        if started.elapsed() >= patience {
            return Ok(Waited::InVain);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Takes the request in, and does what is owed without an agent.
fn settle(
    mut held: Held,
    control: &Control,
    mut owed: impl FnMut(&mut Held) -> Result<(), HeldError>,
) -> Result<Answered, RequestError> {
    let mut taken = held.drain()?;
    // It may stand behind more than are taken in at once.
    while !held.machine().knows(&control.id) {
        let before = waiting(&held)?;
        taken.extend(held.drain()?);
        if waiting(&held)? == before {
            break;
        }
    }
    let mut done: Option<Fence> = None;
    while let Some(action) = held.machine().action()
        && held.machine().fence() != done
    {
        done = held.machine().fence();
        match action {
            Action::Advance(_) => owed(&mut held)?,
            Action::Close(_) => held.close()?,
            _ => break,
        }
        taken.extend(held.drain()?);
    }
    let here = taken.into_iter().map(|taken| taken.requested);
    let requested = match here.into_iter().find(|it| it.control.id == control.id) {
        Some(requested) => Some(requested),
        // Whoever held the lock before was quicker.
        None => taken_in(held.dir(), &control.id, &held.engine)?,
    };
    requested
        .map(Answered::Done)
        .ok_or_else(|| RequestError::Vanished {
            id: control.id.clone(),
        })
}

fn waiting(held: &Held) -> Result<BTreeSet<PathBuf>, HeldError> {
    Ok(inbox::waiting(held.dir(), &held.stuck, AT_ONCE)?)
}

/// Returns the record of a request, if the loop knows its id.
fn taken_in(dir: &LoopDir, id: &str, engine: &str) -> Result<Option<Requested>, ReadError> {
    let state = read_state_as(dir, engine)?.state;
    if !state.recent_controls.iter().any(|known| known == id) {
        return Ok(None);
    }
    let of = |record: Record| match record.body {
        Body::Control(requested) if requested.control.id == id => Some(requested),
        _ => None,
    };
    if let Some(record) = last_in_live_log(dir, id)
        && let Some(requested) = of(record)
    {
        return Ok(Some(requested));
    }
    // The log was put aside since.
    for record in records_after(dir, 0)? {
        if let Some(requested) = of(record?) {
            return Ok(Some(requested));
        }
    }
    Ok(None)
}

fn last_in_live_log(dir: &LoopDir, id: &str) -> Option<Record> {
    let quoted = serde_json::to_vec(id).ok()?;
    let names_it = |line: &[u8]| {
        line.windows(quoted.len()).any(|part| part == quoted)
            && matches!(
                parse(line),
                Ok(Record {
                    body: Body::Control(_),
                    ..
                })
            )
    };
    let (_, bytes) = find_back(&open_to_read(&dir.events()).ok()?, names_it).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    parse(line).ok()
}
