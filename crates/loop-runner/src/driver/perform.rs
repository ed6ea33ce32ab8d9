//! What each action means in the world.

use super::Driver;
use crate::call::{self, NotRun, Ran, Why, in_short};
use crate::causes::with_causes;
use crate::changes;
use crate::clock::Clock;
use crate::furnish::{self, Unfurnished};
use crate::hash::sha256_hex;
use crate::nonce::random_bits;
use crate::sources;
use crate::store::{HeldError, Level, Took};
use crate::tasks::{Kept, Tasks};
use crate::workplace::{self, Disturbed, Intrusion, Ready, Unready};
use loop_core::answer::{Finished, Implemented, Reading, StepFault, Verified, WorktreeRecord};
use loop_core::bill::Bill;
use loop_core::claim::Claim;
use loop_core::outcome::Error;
use loop_core::step::{Advance, Call, Finishing, Report, Workplace};
use loop_core::{Role, Step, StepAnswer};
use std::path::Path;
use std::time::Duration;

/// What the log says when orchestrate ends without its request (row B-16).
const OWN_DECISION: &str = "orchestrate asked for nothing; the engine's own decision stands";

impl Driver<'_> {
    pub(super) fn worktree(&mut self, place: &Workplace) -> Result<(), HeldError> {
        self.held.begin()?;
        self.watch.started(Step::Worktree);
        let setup = self.setup;
        let (made, elapsed) = self.in_thread(|stop| workplace::ensure(setup, place, stop));
        let mut elapsed = elapsed;
        let answer = match made {
            Ok(ready) => {
                self.warn(&ready.warnings);
                if let Some(answer) = self.furnish(&ready, place.tick, &mut elapsed)? {
                    return self.held.answer(answer, elapsed);
                }
                let at = match &ready.record {
                    Some(record) => format!("{} on {}", record.path, record.branch),
                    None => "the project itself".to_owned(),
                };
                self.watch.ended(Step::Worktree, &at);
                StepAnswer::Worktree(ready.record)
            }
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }

    /// Furnishes a new worktree; `None` when it is ready to work in.
    fn furnish(
        &mut self,
        ready: &Ready,
        tick: u64,
        elapsed: &mut u64,
    ) -> Result<Option<StepAnswer>, HeldError> {
        let Some(record) = ready.record.as_ref().filter(|_| ready.is_new) else {
            return Ok(None);
        };
        match furnish::copy(self.setup, record) {
            Ok(warnings) => self.warn(&warnings),
            Err(fault) => return Ok(Some(StepAnswer::Failed(fault))),
        }
        let started = self.setup.clock.monotonic();
        let setup = self.setup;
        let done = furnish::set_up(setup, tick, record, || self.poll());
        *elapsed += millis(self.setup.clock.monotonic().saturating_sub(started));
        Ok(match done {
            Ok(()) => None,
            Err(Unfurnished::Fault(fault)) => Some(StepAnswer::Failed(fault)),
            Err(Unfurnished::Stopped) => Some(self.interrupted()?),
        })
    }

    pub(super) fn tree(&mut self, place: &Workplace) -> Result<(), HeldError> {
        let (tree, elapsed) = self.tree_hash(place.recorded.as_ref());
        let answer = match tree {
            Ok(tree) => StepAnswer::Tree(tree),
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }

    pub(super) fn implement(&mut self, call: &Call) -> Result<(), HeldError> {
        let (tree_before, elapsed) = self.tree_hash(call.worktree.as_ref());
        let mut took = Took::from(elapsed);
        let tree_before = match self.ready(tree_before)? {
            Ok(tree_before) => tree_before,
            Err(answer) => return self.held.answer(answer, took),
        };
        let (frozen, worktree) = (call.frozen.as_ref(), call.worktree.as_ref());
        let (same, more) = self.check_frozen(frozen, worktree);
        took.elapsed_ms += more;
        if let Err(answer) = self.ready(same)? {
            return self.held.answer(answer, took);
        }
        let ran = match self.run_call(call, &mut took)? {
            Ok(ran) => ran,
            Err(answer) => return self.held.answer(answer, took),
        };
        let (tree_after, more) = self.tree_hash(call.worktree.as_ref());
        took.elapsed_ms += more;
        let tree_after = match self.ready(tree_after)? {
            Ok(tree_after) => tree_after,
            Err(answer) => return self.held.answer(answer, took),
        };
        let (same, more) = self.check_frozen(frozen, worktree);
        took.elapsed_ms += more;
        if let Err(answer) = self.ready(same)? {
            return self.held.answer(answer, took);
        }
        self.watch.ended(Step::Implement, &in_short(&ran.text));
        let answer = StepAnswer::Implement(Implemented {
            claim: Claim::read(&ran.text),
            silent: ran.text.trim().is_empty(),
            called: ran.called,
            tree_before,
            tree_after,
        });
        self.held.answer(answer, took)
    }

    pub(super) fn verify(&mut self, call: &Call) -> Result<(), HeldError> {
        let setup = self.setup;
        let place = call.worktree.as_ref();
        let (before, elapsed) = self.in_thread(|stop| workplace::snapshot(setup, place, stop));
        let mut took = Took::from(elapsed);
        let before = match self.ready(before)? {
            Ok(before) => before,
            Err(answer) => return self.held.answer(answer, took),
        };
        let ran = match self.run_call(call, &mut took)? {
            Ok(ran) => ran,
            Err(answer) => return self.held.answer(answer, took),
        };
        let (changed, more) = self.in_thread(|stop| match &before {
            Some(before) => workplace::changed_since(setup, place, before, stop),
            None => Ok(Disturbed::default()),
        });
        took.elapsed_ms += more;
        let answer = match changed {
            Ok(left) => {
                if !left.added.is_empty() {
                    let words = format!("the judge left new files: {}", left.added.join(", "));
                    self.held.note(Level::Info, &words);
                }
                let reading = Reading::of(&ran.text, &ran.prompt);
                self.watch.ended(Step::Verify, &said(&reading));
                StepAnswer::Verify(Verified {
                    reading,
                    called: ran.called,
                    tree: before.map(|before| before.tree_hash().as_str().to_owned()),
                    changed: left.changed,
                    added: left.added,
                })
            }
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, took)
    }

    pub(super) fn orchestrate(&mut self, call: &Call) -> Result<(), HeldError> {
        let mut took = Took::default();
        let answer = match self.run_call(call, &mut took)? {
            Ok(ran) => {
                self.watch.ended(Step::Orchestrate, &in_short(&ran.text));
                if !self.machine().orchestrate_has_asked() {
                    self.held.note(Level::Warning, OWN_DECISION);
                }
                StepAnswer::Orchestrate(ran.called)
            }
            Err(answer) => answer,
        };
        self.held.answer(answer, took)
    }

    /// Tells the source that the task's item is done.
    pub(super) fn finish(&mut self, finishing: &Finishing) -> Result<(), HeldError> {
        self.held.begin()?;
        self.watch.started(Step::Finish);
        let started = self.setup.clock.monotonic();
        let setup = self.setup;
        let (answer, notes) = sources::finish(setup, finishing, &mut || self.poll());
        let elapsed = since(&*self.setup.clock, started);
        self.tell(notes);
        if let StepAnswer::Finish(Finished::Done) = answer {
            self.watch.ended(Step::Finish, "its item is done");
        }
        self.held.answer(answer, elapsed)
    }

    pub(super) fn report(&mut self, report: &Report) -> Result<(), HeldError> {
        let source = Path::new(&report.output);
        let kept = self
            .setup
            .tasks
            .keep_report(&report.task, report.file, source);
        match kept {
            Ok(Kept::Now) => self
                .watch
                .ended(Step::Report, &format!("kept as {}", report.file)),
            Ok(_) => {}
            // The work is judged; a report that cannot be kept is no reason to stop.
            Err(error) => self.warn(&[format!("{} was not kept: {error}", report.file)]),
        }
        self.held.answer(StepAnswer::Report, 0)
    }

    /// Prepares, begins and runs a call. The inner error is the answer to a call
    /// that did not run to its end.
    pub(super) fn run_call(
        &mut self,
        call: &Call,
        took: &mut Took,
    ) -> Result<Result<Ran, StepAnswer>, HeldError> {
        let cwd = workplace::project_folder(self.setup, call.worktree.as_ref());
        // The implementer knows the tick's fence, and could close it in what it
        // reports: whoever reads that afterwards gets a fence of its own.
        let mut call = call.clone();
        if call.role != Role::Implement {
            call.nonce = format!("{:016x}", random_bits());
        }
        let call = &call;
        let prepared = match call::prepare(self.setup, call, &cwd) {
            Ok(prepared) => prepared,
            Err(fault) => {
                self.warn_of_harness(call, &fault);
                return Ok(Err(StepAnswer::Failed(fault)));
            }
        };
        self.warn(&prepared.warnings);
        let (setup, place) = (self.setup, call.worktree.as_ref());
        let (task, phase) = (call.task.as_str(), call.phase.as_deref());
        let (before, more) =
            self.in_thread(|stop| workplace::surrounding(setup, place, task, phase, stop));
        took.elapsed_ms += more;
        let before = match self.ready(before)? {
            Ok(before) => before,
            Err(answer) => return Ok(Err(answer)),
        };
        self.held.begin()?;
        self.watch.started(match call.role {
            Role::Plan => Step::Plan,
            Role::Implement => Step::Implement,
            Role::Verify => Step::Verify,
            Role::Orchestrate => Step::Orchestrate,
        });
        let stood = self.stray_warning(call);
        let started = self.setup.clock.monotonic();
        let clock = &*self.setup.clock;
        let ran = call::run(prepared, clock, || self.poll());
        took.elapsed_ms += millis(self.setup.clock.monotonic().saturating_sub(started));
        Ok(match ran {
            Ok(mut ran) => {
                self.warn(&ran.warnings);
                took.bill = Some(ran.bill.clone());
                self.note_bill(call.role, &ran.bill);
                let hash = sha256_hex(ran.prompt.as_bytes());
                self.prompts.insert(call.role.as_str().to_owned(), hash);
                let (found, more) = self.in_thread(|stop| {
                    workplace::intrusion(setup, &before, place, task, phase, stop)
                });
                took.elapsed_ms += more;
                let found = match self.ready(found)? {
                    Ok(found) => found,
                    Err(answer) => return Ok(Err(answer)),
                };
                self.warn_of(&found);
                ran.called.outside = found.outside;
                ran.called.inputs = found.inputs;
                let stands = self.stray_warning(call);
                if stands != stood {
                    self.warn(stands.as_slice());
                }
                Ok(ran)
            }
            Err(NotRun { bill, why }) => {
                took.bill = bill.map(|bill| *bill);
                match why {
                    Why::Fault(fault) => {
                        self.warn_of_harness(call, &fault);
                        Err(StepAnswer::Failed(fault))
                    }
                    Why::Stopped => Err(self.interrupted()?),
                }
            }
        })
    }

    /// Tells of a fault of a harness that another one may make good: the tick's end
    /// tells of the last one only.
    fn warn_of_harness(&mut self, call: &Call, fault: &StepFault) {
        let several = self.setup.harnesses.of_role(call.role).len() > 1;
        if let StepFault::Environment { what, .. } = fault
            && several
        {
            self.warn(&[format!("{}: {what}", call.role.as_str())]);
        }
    }

    /// Writes down what a call used, where its harness says so.
    fn note_bill(&mut self, role: Role, bill: &Bill) {
        let cost = bill.cost.map(|cost| format!(" cost_usd={cost}"));
        let tokens = bill
            .tokens
            .map(|tokens| format!(" tokens={}", tokens.total()));
        if cost.is_some() || tokens.is_some() {
            let (cost, tokens) = (cost.unwrap_or_default(), tokens.unwrap_or_default());
            let line = format!(
                "{} used{cost}{tokens} harness={}",
                role.as_str(),
                bill.harness
            );
            self.held.note(Level::Info, &line);
        }
    }

    pub(super) fn warn_of(&mut self, found: &Intrusion) {
        let what: Vec<_> = found.inputs.iter().chain(&found.outside).cloned().collect();
        if !what.is_empty() {
            let what = what.join(", ");
            self.warn(&[format!("changed outside the place of work: {what}")]);
        }
    }

    /// Tells that the worktree of a call does not stand on its branch.
    fn stray_warning(&self, call: &Call) -> Option<String> {
        let worktree = call.worktree.as_ref()?;
        let stray = changes::stray_of(self.setup, worktree)?;
        Some(stray.warning(&workplace::recorded(worktree)))
    }

    fn tree_hash(
        &mut self,
        worktree: Option<&WorktreeRecord>,
    ) -> (Result<Option<String>, Unready>, u64) {
        let setup = self.setup;
        self.in_thread(|stop| workplace::tree_hash(setup, worktree, stop))
    }
}

/// Makes a decided move in `task.json`.
pub(super) fn advance(
    tasks: &Tasks,
    name: &str,
    clock: &dyn Clock,
    advance: &Advance,
) -> (StepAnswer, u64) {
    let started = clock.monotonic();
    let answer = match tasks.advance(advance, name, clock.now()) {
        Ok(advanced) => StepAnswer::Advance(advanced),
        Err(error) => StepAnswer::Failed(StepFault::Error {
            reason: Error::Disk,
            what: with_causes(&error),
        }),
    };
    (answer, since(clock, started))
}

/// Returns how many milliseconds have passed.
pub(super) fn since(clock: &dyn Clock, started: Duration) -> u64 {
    millis(clock.monotonic().saturating_sub(started))
}

/// Says what a judge said, in a few words.
fn said(reading: &Reading) -> String {
    match reading {
        Reading::Verdict(verdict) => {
            let word = if verdict.pass { "pass" } else { "fail" };
            let mut said = format!("{word}, score {}", verdict.score.get());
            if !verdict.next_hint.is_empty() {
                said = format!("{said}, hint: {}", in_short(&verdict.next_hint));
            }
            said
        }
        Reading::Unreadable(unreadable) => unreadable.to_string(),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
