//! The machine that decides what a loop does next.
//!
//! It holds one question at a time ([`Machine::action`]); the driver performs it
//! and answers ([`Machine::answer`]). What a person asks for comes in as
//! [`Machine::control`]. Everything that depends on the world, time included,
//! stands in the answers, so the same inputs always give the same state.

mod caps;
mod check;
mod control;
mod decide;
mod finish;
mod foreign;
mod harness;
mod item;
mod judge;
mod park;
mod plan;
mod preflight;
mod question;
mod work;

use crate::answer::{Answer, Reply, StepAnswer, StepFault, Work, WorktreeRecord};
use crate::bill::{Charge, Usage};
use crate::gate::GateReport;
use crate::outcome::{EnvironmentFault, Halt, Interruption, Outcome};
use crate::rules::Rules;
use crate::scope::Violation;
use crate::state::{Running, State};
use crate::step::{Advance, Ended, Fence, Role, Step, WorkTask};
use crate::time::Timestamp;
use crate::verdict::{Unreadable, Verdict};
use serde::{Deserialize, Serialize};

/// One loop: its state, and the question that is open.
///
/// It can be saved and restored between any two inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    state: State,
    rules: Option<Rules>,
    stage: Stage,
    tick: Option<Tick>,
    /// Whether what is owed outside a tick was begun.
    owed_begun: bool,
    ended: Option<Ended>,
    now: Timestamp,
}

/// Which question is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Idle,
    FindWork,
    Open(Option<WorkTask>),
    Worktree,
    Plan,
    Baseline,
    Arm,
    Tree,
    Implement,
    Scope,
    Gate,
    Verify,
    Receipt,
    Report,
    Orchestrate,
    Advance(Advance),
    SetAside,
    Finish,
    Close,
}

/// What an open tick knows beside the loop's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tick {
    /// Sequence number of its `opened` record.
    opened: u64,
    number: u64,
    nonce: String,
    task: Option<WorkTask>,
    /// Which call of the current step this is, from 1.
    attempt: u32,
    /// Whether the current step's `began` record is written.
    begun: bool,
    /// Whether only the judgement of earlier work is asked for.
    judging: bool,
    worktree: Option<WorktreeRecord>,
    /// Path of implement's output.
    output: Option<String>,
    tree_before: Option<String>,
    tree_after: Option<String>,
    /// Path of the patch with what the task has changed.
    diff: Option<String>,
    violations: Vec<Violation>,
    gate: Option<GateReport>,
    /// What changed outside the place of work while orchestrate was called.
    outside: Option<String>,
    /// Why the task is about to be put aside.
    parking: Option<(Halt, String)>,
    verdict: Option<Verdict>,
    fault: Option<Unreadable>,
    decision: Option<Decision>,
    /// Whether orchestrate has used its one request.
    requested: bool,
    /// Whether that request hands the task to a person.
    hand_over: bool,
    stopping: Option<Interruption>,
    /// The task that a person set meanwhile; it counts from the next tick on.
    next_task: Option<(String, Option<String>)>,
    /// What the tick's calls have used.
    used: Usage,
    /// What the call that runs was charged with as it began.
    charge: Option<(Role, Charge)>,
    /// Which of its role's harnesses the latest call went to.
    harness: usize,
    /// Harnesses that were refused in this tick, by their places in roles' lists.
    refused: Vec<(Role, usize)>,
    /// The harness that did the work.
    worker: Option<String>,
    /// How often the judge has answered without a verdict.
    asked: u32,
    /// Attempts that the pass took; it starts the task's count over.
    passed_after: Option<u32>,
    complete: bool,
    outcome: Option<(Outcome, String)>,
}

/// What a judgement leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Decision {
    /// The task goes on to this phase.
    Advance { from: String, to: String },
    /// A person has to let it go on to this phase.
    AskApproval { from: String, to: String },
    /// A task without a record is done.
    Complete,
    /// A person is needed.
    Escalate { halt: Halt, why: String },
}

/// An input that the machine does not take; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It belongs to another tick, step or attempt, or was given before.
    #[error("the answer belongs to another step or attempt than the one that is asked for")]
    Stale,
    /// It is no answer to the question that is open.
    #[error("this is no answer to `{asked}`")]
    NoAnswerTo {
        /// The step that is asked for.
        asked: Step,
    },
    /// The step acts outside, and its `began` record was not announced.
    #[error("step `{step}` was not begun")]
    NotBegun {
        /// The step.
        step: Step,
    },
    /// The machine is busy with something else.
    #[error("the loop is busy: {0}")]
    Busy(Step),
}

/// A granted look for work: the rules in force and the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The rules of this tick.
    pub rules: Rules,
    /// The time.
    pub now: Timestamp,
}

impl Machine {
    /// Makes the machine of a loop that stands between two ticks.
    #[must_use]
    pub fn new(state: State) -> Self {
        Self {
            state,
            rules: None,
            stage: Stage::Idle,
            tick: None,
            owed_begun: false,
            ended: None,
            now: Timestamp::default(),
        }
    }

    /// Returns the loop's state so far.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns how the latest tick, or look for work, ended.
    #[must_use]
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Returns why the open tick has to end, if it has to: the driver ends the
    /// running step and answers it with
    /// [`StepAnswer::Interrupted`].
    #[must_use]
    pub fn stopping(&self) -> Option<Interruption> {
        self.tick.as_ref()?.stopping
    }

    /// Whether orchestrate has used the one request that the open tick gives it.
    #[must_use]
    pub fn orchestrate_has_asked(&self) -> bool {
        self.tick.as_ref().is_some_and(|tick| tick.requested)
    }

    /// Whether the step that is asked for was begun.
    #[must_use]
    pub fn begun(&self) -> bool {
        match &self.tick {
            Some(tick) => tick.begun,
            None => self.owed_begun,
        }
    }

    /// Returns the rules of the latest tick.
    #[must_use]
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// Looks whether a tick may work, and asks for work if so.
    ///
    /// Afterwards either [`Machine::action`] has a question or
    /// [`Machine::ended`] says why there is none.
    ///
    /// # Errors
    ///
    /// [`Refused::Busy`] while a tick is open or something is owed; what is owed
    /// to a paused loop waits.
    pub fn start(&mut self, start: Start) -> Result<(), Refused> {
        let waits = self.state.paused && self.stage == Stage::Idle;
        if let Some(action) = self.action().filter(|_| !waits) {
            return Err(Refused::Busy(action.step()));
        }
        self.now = start.now;
        self.rules = Some(start.rules);
        self.ended = None;
        self.preflight();
        Ok(())
    }

    /// Says that a step's `began` record is on disk. From here on an attempt
    /// counts, whatever becomes of it.
    ///
    /// # Errors
    ///
    /// [`Refused`] when this is not the step that is asked for, when it was
    /// begun before, or when it has no effect outside.
    pub fn begin(&mut self, fence: Fence, at: Timestamp, pid: u32) -> Result<(), Refused> {
        if self.fence() != Some(fence) || self.begun() || !fence.step.acts_outside() {
            return Err(Refused::Stale);
        }
        self.now = at;
        self.state.running = Some(Running {
            step: fence.step,
            since: at,
            pid,
        });
        match &mut self.tick {
            Some(tick) => tick.begun = true,
            None => self.owed_begun = true,
        }
        self.count(fence.step);
        Ok(())
    }

    /// Counts a step that has begun: an iteration, and what its call costs.
    fn count(&mut self, step: Step) {
        if step == Step::Implement
            && let Some(progress) = self.progress_mut()
        {
            progress.iteration += 1;
        }
        if let Some(role) = step.role() {
            self.charge(role);
        }
    }

    /// Takes in what became of the action that was asked for.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the answer is stale, repeated, of the wrong kind, or of
    /// a step that was not begun; nothing is changed then.
    pub fn answer(&mut self, fence: Fence, reply: Reply) -> Result<(), Refused> {
        let Some(asked) = self.fence() else {
            return Err(Refused::Stale);
        };
        if asked != fence {
            return Err(Refused::Stale);
        }
        self.check_answer(asked.step, &reply.answer)?;
        if reply.answer != Answer::Closed {
            // The record that was written holds the time of its last answer.
            self.now = reply.at;
        }
        match reply.answer {
            Answer::Work(work) => self.worked(work),
            Answer::Opened { seq, nonce } => self.opened(seq, nonce),
            Answer::Closed => self.closed(),
            Answer::Step(answer) => {
                self.spend_time(reply.elapsed_ms);
                self.settle(reply.bill, never_ran(&answer));
                self.state.running = None;
                self.step_ended(asked.step, answer);
            }
        }
        Ok(())
    }

    fn check_answer(&self, asked: Step, answer: &Answer) -> Result<(), Refused> {
        let fits = match answer {
            Answer::Work(_) => asked == Step::FindWork,
            Answer::Opened { .. } => asked == Step::Open,
            Answer::Closed => asked == Step::Close,
            Answer::Step(answer) => answer.fits(asked),
        };
        if !fits {
            return Err(Refused::NoAnswerTo { asked });
        }
        let could_not_begin = matches!(
            answer,
            Answer::Step(StepAnswer::Failed(_) | StepAnswer::Interrupted(_))
        );
        if asked.acts_outside() && !self.begun() && !could_not_begin {
            return Err(Refused::NotBegun { step: asked });
        }
        Ok(())
    }

    /// Hands a step's answer to the part that decides about it.
    fn step_ended(&mut self, step: Step, answer: StepAnswer) {
        let begun = self.begun();
        if let Some(tick) = &mut self.tick {
            tick.begun = false;
        }
        match answer {
            StepAnswer::Worktree(record) => self.workspace_ready(record),
            StepAnswer::Plan(planned) => self.planned(planned),
            StepAnswer::Baseline(kept) => self.baseline_kept(kept),
            StepAnswer::Arm(armed) => self.armed(armed),
            StepAnswer::Tree(tree) => self.tree_taken(tree.as_deref()),
            StepAnswer::Implement(implemented) => self.implemented(implemented),
            StepAnswer::Scope(scoped) => self.scoped(scoped),
            StepAnswer::Gate(gated) => self.gated(*gated),
            StepAnswer::Verify(verified) => self.verified(verified),
            StepAnswer::Receipt(receipt) => self.receipt_written(receipt),
            StepAnswer::Report => self.decide(),
            StepAnswer::Orchestrate(called) => self.orchestrated(&called),
            StepAnswer::Advance(advanced) => self.advanced(advanced),
            StepAnswer::SetAside(_) => self.set_aside(),
            StepAnswer::Finish(finished) => self.item_finished(finished),
            StepAnswer::Failed(fault) => self.step_failed(step, begun, fault),
            StepAnswer::Interrupted(by) => self.step_interrupted(step, begun, by),
        }
        self.obey_stop();
    }

    /// Ends a tick that has to end, unless its decision is already made.
    fn obey_stop(&mut self) {
        let Some(by) = self.stopping() else { return };
        match self.stage {
            Stage::Worktree
            | Stage::Plan
            | Stage::Baseline
            | Stage::Arm
            | Stage::Tree
            | Stage::Implement
            | Stage::Scope
            | Stage::Gate
            | Stage::Verify => {
                self.spend_if_asked(false);
                self.finish(Outcome::Interrupted(by), interrupted_why(by, None));
            }
            Stage::Orchestrate => self.carry_out(),
            _ => {}
        }
    }

    fn worked(&mut self, work: Work) {
        match work {
            Work::Found(task) => self.stage = Stage::Open(Some(task)),
            Work::Nothing(skip) => self.skip(skip),
            Work::Failed { what } => {
                self.end_without_tick(Outcome::Error(crate::outcome::Error::SourceFailed), what);
            }
        }
    }
}

/// Whether a call met a fault before its model can have done anything. A limit or an
/// outage may come after an hour of work.
fn never_ran(answer: &StepAnswer) -> bool {
    use EnvironmentFault::{Auth, MissingProgram, PromptTooLarge, PromptUnsendable};
    let StepAnswer::Failed(StepFault::Environment { reason, .. }) = answer else {
        return false;
    };
    matches!(
        reason,
        Auth | MissingProgram | PromptTooLarge | PromptUnsendable
    )
}

/// Says in words what ended a tick, and during which step.
fn interrupted_why(by: Interruption, step: Option<Step>) -> String {
    let during = step.map_or_else(String::new, |step| format!(" during {step}"));
    match by {
        Interruption::Signal => format!("a signal ended the tick{during}"),
        Interruption::Stop => format!("`loop stop` ended the tick{during}"),
        Interruption::Crash => format!("the engine died{during}; the tick was closed afterwards"),
    }
}
