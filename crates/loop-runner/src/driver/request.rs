//! What people ask of a loop, at once and from any terminal.

use super::{ENGINE, end_stale, make_owed_moves};
use crate::nonce::random_bits;
use crate::setup::Surroundings;
use crate::store::{self, Answered, LoopDir, RequestError};
use crate::tasks::Tasks;
use loop_core::control::{Control, Request};
use std::sync::Arc;

/// Asks `what` of the loop called `name`, on behalf of `by`, and makes the moves
/// that it makes owed. While a tick runs, that tick takes the request in.
///
/// The loop's configuration is not read: a pause and a stop must work whatever
/// stands in it.
///
/// # Errors
///
/// [`RequestError`]; but for [`RequestError::Submit`] the request is on disk
/// and takes effect later.
pub fn request(
    around: &Surroundings,
    name: &str,
    what: Request,
    by: &str,
    note: Option<String>,
) -> Result<Answered, RequestError> {
    let control = Control {
        id: request_id(&what),
        request: what,
        by: by.to_owned(),
        note,
    };
    let dir = LoopDir::new(around.project.loop_dir(name));
    let tasks = Tasks::new(around.project.data());
    store::request(
        &dir,
        &control,
        ENGINE,
        Arc::clone(&around.clock),
        || end_stale(&dir),
        |held| make_owed_moves(&tasks, name, &*around.clock, held),
    )
}

/// Orchestrate has one request a tick, so its id is the tick's.
fn request_id(what: &Request) -> String {
    match what {
        Request::Transition { tick, .. } => format!("orchestrate-{tick}"),
        _ => format!("{:016x}", random_bits()),
    }
}
