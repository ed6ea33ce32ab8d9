//! What a harness says through its profile: its text, its faults and its bill.

use super::tail::Tail;
use crate::holder::Captured;
use loop_core::Usd;
use loop_core::answer::{CallEnd, StepFault};
use loop_core::bill::Bill;
use loop_core::harness::CalledHarness;
use loop_core::outcome::EnvironmentFault;
use loop_core::profile::{Fault, FaultClass, Profile, Reader, Said, Used};
use loop_core::text::{cut, without_controls};
use loop_core::time::Timestamp;
use std::io::{self, Write};
use std::path::Path;

/// The most of standard error that is read for a fault, from its end, in bytes.
const STDERR: usize = 64 * 1024;
/// The most of an error's text that is told, in characters.
const ERROR: usize = 300;

/// Reads what the harness has said, from its captured streams. `None` for the
/// standard output that is not what the harness wrote any more.
pub(super) fn read(
    profile: &Profile,
    end: &CallEnd,
    stdout: (&Captured, &Path),
    stderr: (&Captured, &Path),
) -> io::Result<Said> {
    let mut reader = Into(Reader::new(profile));
    stdout.0.copy(stdout.1, &mut reader)?;
    let mut tail = End(Vec::new());
    // Without it the call is read by its standard output alone.
    let _changed_by_someone = stderr.0.copy(stderr.1, &mut tail);
    Ok(reader.0.finish(end, &tail.0))
}

/// Returns the bill of a call that has ended.
pub(super) fn bill(harness: &CalledHarness, end: &CallEnd, said: &Said) -> Bill {
    // What could not be read may have told of more.
    let ended = matches!(end, CallEnd::Exited(_) | CallEnd::Reported(_));
    let whole = ended && said.unreadable == 0;
    let profile = harness.profile.as_deref();
    // A service that refused a call at once has not been paid for it: where each
    // turn is reported, and none was, none was made.
    let silent = said.used.cost.is_none() && said.used.tokens.is_none();
    let refused = said.fault.is_some() && whole && silent;
    let zero = |reports: bool| refused && reports;
    let used = Used {
        cost: priced(&said.used).or_else(|| {
            zero(profile.is_some_and(Profile::reports_cost_by_turn)).then(Default::default)
        }),
        tokens: said.used.tokens.or_else(|| {
            zero(profile.is_some_and(Profile::reports_tokens_by_turn)).then(Default::default)
        }),
    };
    of(harness, used, whole, said.session.clone())
}

/// Returns what a call has cost. Tokens that cost nothing are those of a model that
/// the harness knows no price of, and unknown is not zero.
fn priced(used: &Used) -> Option<Usd> {
    let free = used.tokens.is_some_and(|tokens| tokens.total() > 0);
    used.cost.filter(|cost| !(cost.is_zero() && free))
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

/// Hands what is written on to the reader.
struct Into<'p>(Reader<'p>);

impl Write for Into<'_> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.0.push(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
