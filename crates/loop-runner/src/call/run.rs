//! One call from its start to what came of it.

use super::tail::{Enough, Tail};
use super::{NotRun, Prepared, Ran, Why, bill, not_started, output, outputs};
use crate::clock::Clock;
use crate::holder::{self, Ended, How, Wish};
use loop_core::answer::{CallEnd, Called, StepFault};
use loop_core::bill::Bill;
use loop_core::harness::CalledHarness;
use loop_core::profile::{Reader, Said};
use loop_core::time::Timestamp;
use std::thread;

/// Stands for an error that was told without a word about it.
const NO_WORDS: &str = "it did not say which";

/// Runs a prepared call to its end; `poll` is asked several times a second
/// whether it may go on.
pub(crate) fn run(
    prepared: Prepared<'_>,
    clock: &dyn Clock,
    poll: impl FnMut() -> Wish,
) -> Result<Ran, NotRun> {
    let mut warnings = Vec::new();
    let (mut call, ended, heard) = follow(&prepared, poll, &mut warnings)?;
    let Prepared {
        command, harness, ..
    } = &prepared;
    if let (Some(reader), Some(ended)) = (heard, &ended) {
        let stderr = bill::end_of(&ended.stderr, &command.stderr);
        let said = reader.finish(&call.end, &stderr);
        call.take(harness, said, clock.now());
    }
    let source = match (&call.text, &ended) {
        (Some(text), _) => output::Source::Text(text),
        (None, Some(ended)) => output::Source::Captured(&ended.stdout, &command.stdout),
        (None, None) => output::Source::Nothing,
    };
    let kept = output::keep(&prepared.written, source, &prepared.kept)
        .map_err(|error| call.not_run(Why::Fault(outputs(&error))))?;
    if let Some(fault) = call.fault.take() {
        return Err(call.not_run(Why::Fault(fault)));
    }
    warnings.extend(kept.warning);
    Ok(Ran {
        called: Called {
            end: call.end,
            output: kept.file,
            leaked: ended.is_none_or(|ended| ended.leaked),
            outside: Vec::new(),
            inputs: Vec::new(),
        },
        bill: call.bill,
        text: kept.text,
        prompt: prepared.prompt,
        warnings,
    })
}

/// Starts a call and waits for its end, with an ear on what it uses. The holder's
/// word is missing when somebody has killed it; the call is lost then.
fn follow<'p>(
    prepared: &'p Prepared<'_>,
    mut poll: impl FnMut() -> Wish,
    warnings: &mut Vec<String>,
) -> Result<(Ending, Option<Ended>, Option<Reader<'p>>), NotRun> {
    let Prepared {
        command,
        harness,
        budget,
        ..
    } = prepared;
    let mut running = holder::spawn(command).map_err(|error| NotRun::from(not_started(&error)))?;
    let profile = harness.profile.as_deref();
    let tail = profile.map(|profile| Tail::new(profile, *budget, command.idle_timeout));
    let mut enough = None;
    let waited = thread::scope(|scope| {
        if let (Some(tail), Some(output)) = (&tail, running.output()) {
            scope.spawn(move || tail.follow(&output));
        }
        let waited = running.wait(|| {
            enough = enough.or_else(|| tail.as_ref()?.look());
            match (poll(), enough) {
                (Wish::GoOn, Some(_)) => Wish::End,
                (wish, _) => wish,
            }
        });
        tail.iter().for_each(Tail::end);
        waited
    });
    let ended = waited
        .map_err(|error| warnings.push(error.to_string()))
        .ok();
    if let Some(ended) = ended.as_ref().filter(|ended| !ended.survivors.is_empty()) {
        let survivors = &ended.survivors;
        warnings.push(format!("processes that cannot be ended: {survivors:?}"));
    }
    let is_done = tail.as_ref().is_some_and(Tail::is_done);
    let bill = bill::part(harness, tail.as_ref());
    let Some(end) = end_of(command, ended.as_ref(), enough, is_done) else {
        return Err(NotRun {
            bill: Some(Box::new(bill)),
            why: Why::Stopped,
        });
    };
    let ending = Ending {
        end,
        bill,
        text: None,
        fault: None,
    };
    Ok((ending, ended, tail.map(Tail::into_reader)))
}

/// Says how a call ended; `None` when it was ended because the tick has to end.
///
/// A harness that has said its last word has finished, whatever keeps its process.
fn end_of(
    command: &holder::Command,
    ended: Option<&Ended>,
    enough: Option<Enough>,
    is_done: bool,
) -> Option<CallEnd> {
    let Some(ended) = ended else {
        return Some(CallEnd::Signaled(9));
    };
    Some(match ended.how {
        How::Exited(code) => CallEnd::Exited(code),
        How::Signaled(signal) => CallEnd::Signaled(signal),
        How::TimedOut | How::IdleTimedOut if is_done => CallEnd::Exited(0),
        How::TimedOut => CallEnd::TimedOut(command.timeout.as_secs()),
        How::IdleTimedOut => {
            CallEnd::IdleTimedOut(command.idle_timeout.unwrap_or(command.timeout).as_secs())
        }
        How::Ended => match enough? {
            Enough::Capped(cap) => CallEnd::Capped(cap),
            Enough::Done => CallEnd::Exited(0),
            Enough::Stuck => CallEnd::Reported("it tried again without end".to_owned()),
        },
    })
}

/// How a call ended, and what its harness made of it.
struct Ending {
    end: CallEnd,
    bill: Bill,
    /// The role's text, where a profile says which that is.
    text: Option<String>,
    fault: Option<StepFault>,
}

impl Ending {
    /// Takes in what the profile has read. The text of an error is no role's text:
    /// it would become a hint, or be taken for a verdict.
    fn take(&mut self, harness: &CalledHarness, said: Said, now: Timestamp) {
        let stuck = matches!(self.end, CallEnd::Reported(_));
        if let (CallEnd::Exited(0) | CallEnd::Reported(_), Some(error)) = (&self.end, &said.error) {
            let told = bill::in_one_line(error);
            let is_silent = told.is_empty();
            self.end = CallEnd::Reported(if is_silent { NO_WORDS.to_owned() } else { told });
        }
        self.bill = bill::bill(harness, &self.end, &said);
        self.bill.whole &= !stuck;
        let failed = !matches!(self.end, CallEnd::Capped(_));
        let fault = said.fault.as_ref().filter(|_| failed);
        self.fault = fault.map(|fault| bill::fault(harness, fault, now));
        self.text = Some(said.text.unwrap_or_default());
    }

    fn not_run(&self, why: Why) -> NotRun {
        NotRun {
            bill: Some(Box::new(self.bill.clone())),
            why,
        }
    }
}
