//! What people ask of a loop, at once and from any terminal.

use super::{ENGINE, end_stale, make_owed_moves};
use crate::nonce::random_bits;
use crate::setup::Setup;
use crate::store::{self, Answered, RequestError};
use loop_core::control::{Control, Request};
use std::sync::Arc;

/// Asks `what` of a loop in the name of `by`, and makes the moves that it makes
/// owed. While a tick runs, that tick takes the request in.
///
/// # Errors
///
/// [`RequestError`]; but for [`RequestError::Submit`] the request is on disk
/// and takes effect later.
pub fn request(
    setup: &Setup,
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
    store::request(
        &setup.dir,
        &control,
        ENGINE,
        Arc::clone(&setup.clock),
        || end_stale(setup),
        |held| make_owed_moves(setup, held),
    )
}

/// Orchestrate has one request a tick, so its id is the tick's.
fn request_id(what: &Request) -> String {
    match what {
        Request::Transition { tick, .. } => format!("orchestrate-{tick}"),
        _ => format!("{:016x}", random_bits()),
    }
}
