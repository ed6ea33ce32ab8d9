//! What a harness says through its profile: its text, its faults and its bill.

use super::tail::Tail;
use crate::holder::Captured;
use loop_core::Usd;
use loop_core::answer::{CallEnd, StepFault};
use loop_core::bill::Bill;
use loop_core::harness::CalledHarness;
use loop_core::outcome::EnvironmentFault;
use loop_core::profile::{Fault, FaultClass, Profile, Said, Tokens, Used};
use loop_core::text::{cut, without_controls};
use loop_core::time::Timestamp;
use std::io::{self, Write};
use std::path::Path;

/// The most of standard error that is read for a fault, from its end, in bytes.
const STDERR: usize = 64 * 1024;
/// The most of an error's text that is told, in characters.
const ERROR: usize = 300;

/// Returns the end of a captured stream.
pub(super) fn end_of(captured: &Captured, path: &Path) -> Vec<u8> {
    let mut end = End(Vec::new());
    match captured.copy(path, &mut end) {
        Ok(()) => end.0,
        // The call is read by its standard output alone.
        Err(_changed_by_someone) => Vec::new(),
    }
}

/// Returns the bill of a call that has ended.
pub(super) fn bill(harness: &CalledHarness, end: &CallEnd, said: &Said) -> Bill {
    let whole = matches!(end, CallEnd::Exited(_) | CallEnd::Reported(_));
    let mut used = said.used;
    if said.unreadable > 0 {
        // It may have told of more.
        (used.uncounted, used.unpriced) = (true, true);
    } else if whole && said.fault.is_some() && !said.worked && tells_as_it_works(harness) {
        // A service that refused a call at once has not been paid for it.
        used = Used {
            cost: harness.reports_cost().then(Usd::default),
            tokens: harness.reports_tokens().then(Tokens::default),
            ..Used::default()
        };
    }
    of(harness, used, whole, said.session.clone())
}

/// Whether silence means that nothing was done.
fn tells_as_it_works(harness: &CalledHarness) -> bool {
    let profile = harness.profile.as_deref();
    profile.is_some_and(Profile::tells_as_it_works)
}

/// Returns the bill of a call that was ended, as far as it was followed.
pub(super) fn part(harness: &CalledHarness, tail: Option<&Tail<'_>>) -> Bill {
    of(
        harness,
        tail.map(Tail::used).unwrap_or_default(),
        false,
        None,
    )
}

fn of(harness: &CalledHarness, used: Used, whole: bool, session: Option<String>) -> Bill {
    let cumulative = harness
        .profile
        .as_ref()
        .is_some_and(|p| p.usage_is_cumulative());
    Bill {
        harness: harness.name.clone(),
        tokens: used.tokens,
        cost: used.cost,
        whole,
        uncounted: used.uncounted,
        unpriced: used.unpriced,
        session,
        cumulative,
    }
}

/// Says what a fault that the harness has told of means for the tick. The error's
/// text is told to people only: no agent ever reads it.
pub(super) fn fault(harness: &CalledHarness, fault: &Fault, now: Timestamp) -> StepFault {
    let (reason, words) = match fault.class {
        FaultClass::Auth => (EnvironmentFault::Auth, "is not logged in"),
        FaultClass::RateLimit => (EnvironmentFault::RateLimit, "was told to slow down"),
        FaultClass::Quota => (EnvironmentFault::Quota, "has used up its quota"),
        FaultClass::Offline => (EnvironmentFault::Offline, "cannot reach its service"),
        FaultClass::Context => (
            EnvironmentFault::PromptTooLarge,
            "cannot take a conversation of this length",
        ),
    };
    let until = (fault.reset.as_ref()).and_then(|reset| reset.resolve(now, &super::zone::find));
    let when = until.map_or_else(String::new, |until| format!("; it says until {until}"));
    StepFault::Environment {
        reason,
        what: format!(
            "`{}` {words}: {}{when}",
            harness.name,
            in_one_line(&fault.what)
        ),
        until,
    }
}

/// Shortens an error's text to a line for people.
pub(super) fn in_one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    cut(&without_controls(&words.join(" ")), ERROR)
}

/// Keeps the end of what is written.
struct End(Vec<u8>);

impl Write for End {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(chunk);
        if self.0.len() > 2 * STDERR {
            self.0.drain(..self.0.len() - STDERR);
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
