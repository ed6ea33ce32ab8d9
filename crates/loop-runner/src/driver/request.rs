//! What people ask of a loop, at once and from any terminal.

use super::{ENGINE, end_stale, owed};
use crate::interrupt::Interrupt;
use crate::nonce::random_bits;
use crate::setup::{Setup, Surroundings};
use crate::store::{self, Answered, LoopDir, RequestError};
use crate::tasks::Tasks;
use crate::trust;
use loop_core::control::{Control, Request};
use std::sync::Arc;

/// Asks `what` of the loop called `name`, on behalf of `by`, and makes the moves
/// that it makes owed. While a tick runs, that tick takes the request in.
///
/// A pause and a stop work whatever stands in the loop's configuration.
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
    // Its tasks can be another project's. A configuration that cannot be read
    // names none.
    let setup = Setup::read(around, name).ok();
    let own = Tasks::new(around.project.data());
    let interrupt = Interrupt::default();
    // That can run a program of the configuration.
    let finishes = matches!(control.request, Request::Approve { .. });
    let trusted = |setup: &&Setup| finishes && trust::check(setup).is_ok();
    let means = owed::Means {
        tasks: setup.as_ref().map_or(&own, |setup| &setup.tasks),
        name,
        clock: &*around.clock,
        source: (setup.as_ref().filter(trusted)).map(|setup| (setup, &interrupt)),
    };
    store::request(
        &dir,
        &control,
        ENGINE,
        Arc::clone(&around.clock),
        || end_stale(&dir),
        |held| owed::make(held, &means),
    )
}

/// Orchestrate has one request a tick, so its id is the tick's.
fn request_id(what: &Request) -> String {
    match what {
        Request::Transition { tick, .. } => format!("orchestrate-{tick}"),
        _ => format!("{:016x}", random_bits()),
    }
}
