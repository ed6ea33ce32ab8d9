//! A driver without a world: it keeps the records that a real one would, and
//! checks the promises at every turn.

use loop_core::answer::{
    Advanced, CallEnd, FileRef, Finished, Reading, Scoped, StepAnswer, StepFault,
};
use loop_core::bill::Bill;
use loop_core::control::{Control, Request};
use loop_core::outcome::{Halt, Interruption, Outcome, Skip};
use loop_core::profile::Tokens;
use loop_core::record::{Answered, Body, Closed, Opened, Record, Requested};
use loop_core::replay::replay;
use loop_core::rules::Rules;
use loop_core::state::{State, Status};
use loop_core::step::WorkTask;
use loop_core::time::Timestamp;
use loop_core::{Action, Answer, Fence, Machine, Reply, Role, Start, Step, Usd, Work};
use std::collections::BTreeMap;

/// The item behind a task, which its source wants to be told of.
fn item() -> FileRef {
    FileRef {
        path: "/outputs/item.json".to_owned(),
        bytes: 3,
        sha256: "00".to_owned(),
    }
}

/// What may happen next.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a few of them live at a time
pub(crate) enum Choice {
    /// The step that fits ends like this; for any other step, in its plain way.
    Answer(StepAnswer),
    /// The step cannot be done.
    Fail(StepFault),
    /// The step is ended before its time.
    Interrupt(Interruption),
    /// Somebody asks for something.
    Control(Request),
    /// An answer with an old fence comes in.
    Stale,
    /// The source has no task.
    NoWork(Work),
    /// Time passes.
    Wait(u64),
}

pub(crate) struct World {
    machine: Machine,
    rules: Rules,
    records: Vec<Record>,
    /// The state in the latest `closed` record, and how many records precede it.
    closed: (State, usize),
    now: i64,
    seq: u64,
    controls: u64,
    /// Where each of the two tasks stands, as `task.json` would say.
    phase: Option<String>,
    /// Implement calls begun of a task, less those given back, since its latest
    /// fresh start.
    attempts: BTreeMap<String, u32>,
    answers_in_tick: u32,
    passed_in_tick: bool,
    orchestrate_calls: u32,
    /// The harness that has worked on each task last.
    workers: BTreeMap<String, String>,
    /// The task of the open tick.
    worked_on: String,
    /// The task that a person set during the tick.
    new_task: Option<String>,
}

impl World {
    pub(crate) fn new(rules: Rules) -> Self {
        let mut world = Self {
            phase: Some(rules.phases.first().to_owned()),
            machine: Machine::new(State::new()),
            rules,
            records: Vec::new(),
            closed: (State::new(), 0),
            now: 1_000_000,
            seq: 0,
            controls: 0,
            attempts: BTreeMap::new(),
            answers_in_tick: 0,
            passed_in_tick: false,
            orchestrate_calls: 0,
            workers: BTreeMap::new(),
            worked_on: String::new(),
            new_task: None,
        };
        world.control(Request::SetTask {
            task: "t".to_owned(),
            phase: None,
        });
        world
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.now)
    }

    fn append(&mut self, body: Body) -> u64 {
        self.seq += 1;
        let record = Record {
            seq: self.seq,
            at: self.at(),
            body,
        };
        // Every record is read back as it was written.
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
        assert!(line.len() < 64 * 1024);
        self.records.push(record);
        self.seq
    }

    /// Lets one thing happen.
    pub(crate) fn turn(&mut self, choice: Choice) {
        self.now += 1_000;
        match choice {
            Choice::Wait(millis) => self.now += i64::try_from(millis).unwrap(),
            Choice::Control(request) => self.control(request),
            Choice::Stale => self.stale(),
            other => self.step(&other),
        }
        self.check();
    }

    /// Answers plainly until the loop stands between two ticks.
    pub(crate) fn finish(&mut self) {
        for _ in 0..32 {
            if self.machine.action().is_none() {
                return;
            }
            self.turn(Choice::Interrupt(Interruption::Signal));
        }
        panic!("the tick does not end: {:?}", self.machine.action());
    }

    fn step(&mut self, choice: &Choice) {
        let Some(action) = self.machine.action() else {
            return self.start();
        };
        self.answers_in_tick += 1;
        assert!(self.answers_in_tick < 32, "a tick is bounded");
        match action {
            Action::FindWork => {
                let work = match choice {
                    Choice::NoWork(work) => work.clone(),
                    _ => self.work(),
                };
                self.answer(Answer::Work(work), 0, None);
            }
            Action::Open(open) => {
                let task = open.task.as_ref();
                self.worked_on = task.map_or_else(String::new, |task| task.name.clone());
                let seq = self.append(Body::Opened(Opened {
                    tick: open.tick,
                    engine: "1".to_owned(),
                    rules: self.rules.clone(),
                    task: open.task,
                    nonce: "0123456789abcdef".to_owned(),
                }));
                let nonce = "0123456789abcdef".to_owned();
                self.answer(Answer::Opened { seq, nonce }, 0, None);
            }
            Action::Close(closing) => {
                assert_eq!(closing.ended.tick, Some(closing.state.tick));
                self.append(Body::Closed(Box::new(Closed {
                    tick: closing.state.tick,
                    outcome: closing.ended.outcome.clone(),
                    why: closing.ended.why.clone(),
                    state: closing.state.clone(),
                })));
                self.answer(Answer::Closed, 0, None);
                self.replay();
                assert_eq!(self.machine.state(), &closing.state);
                self.closed = (closing.state, self.records.len());
                self.answers_in_tick = 0;
                if let Some(task) = self.new_task.take() {
                    self.attempts.remove(&task);
                }
            }
            action => self.perform(&action, choice),
        }
    }

    fn start(&mut self) {
        let status = self.machine.state().status;
        let paused = self.machine.state().paused;
        let start = Start {
            rules: self.rules.clone(),
            now: self.at(),
        };
        self.machine.start(start).unwrap();
        self.passed_in_tick = false;
        self.orchestrate_calls = 0;
        self.answers_in_tick = 0;
        if paused || status == Status::HumanIntervention {
            assert_eq!(self.machine.action(), None, "it asks for nothing");
            assert!(matches!(
                self.machine.ended().unwrap().outcome,
                Outcome::Skipped(Skip::Paused | Skip::HumanIntervention(_))
            ));
        }
    }

    fn work(&self) -> Work {
        let state = self.machine.state();
        // A source that has more than one task to offer passes over those aside.
        let open = (!self.rules.single && !state.parked.contains_key("t")).then(|| "t".to_owned());
        let Some(task) = state.current_task.clone().or(open) else {
            return Work::Nothing(Skip::NoCurrentTask);
        };
        let phase = (task == "t").then(|| self.phase.clone()).flatten();
        match phase.as_deref() {
            Some("complete") => Work::Nothing(Skip::NoCurrentTask),
            Some("human_intervention") => Work::Nothing(Skip::HumanIntervention(Halt::Escalated)),
            _ => Work::Found(WorkTask {
                name: task,
                phase,
                phases: self.rules.phases.clone(),
                item: (!self.rules.single).then(item),
            }),
        }
    }

    fn perform(&mut self, action: &Action, choice: &Choice) {
        let fence = self.machine.fence().unwrap();
        let step = action.step();
        let answer = match choice {
            Choice::Answer(answer) if answer.fits(step) => answer.clone(),
            Choice::Fail(fault) => StepAnswer::Failed(fault.clone()),
            Choice::Interrupt(by) if StepAnswer::Interrupted(*by).fits(step) => {
                StepAnswer::Interrupted(*by)
            }
            _ => self.plain(step),
        };
        let answer = match self.machine.stopping() {
            Some(by) if StepAnswer::Interrupted(by).fits(step) => StepAnswer::Interrupted(by),
            _ => answer,
        };
        match action {
            Action::Advance(advance) if advance.by.is_none() => {
                assert!(self.passed_in_tick, "no advance without a judgement");
            }
            Action::Orchestrate(_) => {
                self.orchestrate_calls += 1;
                let most = self.rules.implement.harnesses.len();
                assert!(
                    self.orchestrate_calls as usize <= most,
                    "one orchestrate a tick"
                );
            }
            Action::Verify(call) => {
                // One re-ask a tick, and each other harness once.
                let most = 1 + self.rules.verify.harnesses.len();
                assert!(call.attempt as usize <= most, "one re-ask a tick");
                let (work, judge) = (&self.rules.implement, &self.rules.verify);
                let apart = work.harnesses[0].name != judge.harnesses[0].name;
                let itself =
                    self.workers.get(&self.task()) == Some(&judge.harnesses[call.harness].name);
                assert!(!(apart && itself), "no judge judges itself");
            }
            Action::Implement(call) => {
                assert!(call.timeout_ms > 0);
                let most = self.rules.implement.harnesses.len();
                assert!(call.attempt as usize <= most, "each harness once a tick");
            }
            _ => {}
        }
        if step.acts_outside() {
            self.begin(fence);
        }
        self.count(step, &answer);
        if let (Action::Implement(call), StepAnswer::Implement(_)) = (action, &answer) {
            let worker = self.rules.implement.harnesses[call.harness].name.clone();
            self.workers.insert(self.task(), worker);
        }
        if let (Action::Advance(advance), StepAnswer::Advance(Advanced::Moved)) = (action, &answer)
            && advance.task == "t"
        {
            self.phase = Some(advance.to.clone());
        }
        let tick = self.machine.state().in_progress;
        let bill = step.role().and_then(|role| self.bill(role));
        self.append(Body::Answer(Answered {
            tick,
            fence,
            elapsed_ms: 900,
            bill: bill.clone(),
            answer: answer.clone(),
        }));
        let before = self.machine.state().spent.used;
        self.answer(Answer::Step(answer), 900, bill.clone());
        let after = self.machine.state().spent.used;
        assert_eq!(after.calls, before.calls, "a call is counted as it begins");
        if bill.is_some_and(|bill| bill.whole) {
            assert_eq!(after.unpriced_calls + 1, before.unpriced_calls);
            assert_eq!(after.tokens.total(), before.tokens.total() + 12);
        }
    }

    /// What a call used, where the rules say that its harness reports it; now and
    /// then it is ended before it has told all.
    fn bill(&self, role: Role) -> Option<Bill> {
        let reports = self.rules.call(role)?.harnesses[0].reports_cost;
        reports.then(|| Bill {
            cost: Usd::from_micros(3),
            tokens: Some(Tokens {
                input: 10,
                cached: 5,
                output: 2,
            }),
            whole: !self.seq.is_multiple_of(5),
            ..Bill::default()
        })
    }

    fn begin(&mut self, fence: Fence) {
        let tick = self.machine.state().in_progress;
        self.append(Body::Began {
            tick,
            fence,
            pid: 7,
        });
        let at = self.at();
        let (spent, brakes) = (self.machine.state().spent.used, &self.rules.brakes);
        if fence.step.role().is_some() {
            let below = |cap| spent.usd < cap || spent.usd.is_zero();
            assert!(brakes.max_cost.is_none_or(below), "no call at the cost cap");
            let below = |cap| spent.tokens.total() < cap;
            assert!(
                brakes.max_tokens.is_none_or(below),
                "no call at the token cap"
            );
        }
        self.machine.begin(fence, at, 7).unwrap();
        assert!(self.machine.clone().begin(fence, at, 7).is_err());
        if fence.step == Step::Implement {
            let task = self.task();
            let attempts = self.attempts.entry(task).or_default();
            *attempts += 1;
            if let Some(max) = self.rules.brakes.max_iterations {
                assert!(*attempts <= max, "implement runs no oftener than allowed");
            }
        }
        let estimated = !self.rules.implement.harnesses[0].reports_cost;
        if let Some(cap) = self.rules.brakes.max_cost.filter(|_| estimated) {
            assert!(
                self.machine.state().spent.used.usd <= cap,
                "the bill is inside the cap"
            );
        }
    }

    /// Returns the task that the open tick works on.
    fn task(&self) -> String {
        self.worked_on.clone()
    }

    /// Keeps the model's own count of attempts.
    fn count(&mut self, step: Step, answer: &StepAnswer) {
        match (step, answer) {
            (Step::Implement, StepAnswer::Failed(StepFault::Environment { .. })) => {
                let task = self.task();
                *self.attempts.entry(task).or_default() -= 1;
            }
            (Step::Verify, StepAnswer::Verify(verified)) => {
                let Reading::Verdict(verdict) = &verified.reading else {
                    return;
                };
                let good = verdict.pass
                    && verdict.score >= self.rules.brakes.min_score
                    && verdict.blocked.is_none()
                    && verified.called.end == CallEnd::Exited(0);
                if good {
                    let task = self.task();
                    self.attempts.remove(&task);
                    self.passed_in_tick = true;
                }
            }
            (Step::Gate, StepAnswer::Gate(gated)) if gated.report.green && !self.rules.judge => {
                let task = self.task();
                self.attempts.remove(&task);
                self.passed_in_tick = true;
            }
            _ => {}
        }
    }

    fn plain(&self, step: Step) -> StepAnswer {
        match step {
            Step::Worktree => StepAnswer::Worktree(None),
            Step::Tree => StepAnswer::Tree(Some("a".to_owned())),
            Step::Baseline => StepAnswer::Baseline(None),
            Step::SetAside => StepAnswer::SetAside(None),
            Step::Receipt => StepAnswer::Receipt(None),
            Step::Finish => StepAnswer::Finish(Finished::Done),
            Step::Scope => StepAnswer::Scope(Scoped::default()),
            Step::Report => StepAnswer::Report,
            Step::Advance => StepAnswer::Advance(Advanced::Moved),
            Step::Orchestrate => StepAnswer::Interrupted(Interruption::Crash),
            _ => StepAnswer::Interrupted(Interruption::Crash),
        }
    }

    fn answer(&mut self, answer: Answer, elapsed_ms: u64, bill: Option<Bill>) {
        let fence = self.machine.fence().unwrap();
        let reply = Reply {
            at: self.at(),
            elapsed_ms,
            bill,
            answer,
        };
        self.machine.answer(fence, reply.clone()).unwrap();
        // Given again, it is refused and changes nothing.
        let mut again = self.machine.clone();
        if again.fence() != Some(fence) {
            assert!(again.answer(fence, reply).is_err());
            assert_eq!(again, self.machine);
        }
    }

    fn stale(&mut self) {
        let before = self.machine.clone();
        let fence = Fence {
            opened: 999_999,
            step: Step::Implement,
            attempt: 1,
        };
        let reply = Reply {
            at: self.at(),
            elapsed_ms: 5,
            bill: None,
            answer: Answer::Step(StepAnswer::Tree(None)),
        };
        assert!(self.machine.answer(fence, reply).is_err());
        assert_eq!(self.machine, before);
    }

    fn control(&mut self, request: Request) {
        self.controls += 1;
        let control = Control {
            id: format!("c{}", self.controls),
            request,
            by: "ada".to_owned(),
            note: None,
        };
        let halted = self.machine.state().reason;
        let halted_task = self.machine.state().halted_task.clone();
        let parked = self.machine.state().parked.get("t").copied();
        let result = self.machine.control(self.seq + 1, self.at(), &control);
        assert!(self.machine.knows(&control.id));
        match (&control.request, &result) {
            (Request::Approve { task }, Ok(_)) => {
                let aside = parked.filter(|_| task.is_some());
                let about = aside.or(halted);
                assert!(about.is_some(), "only what waits is approved");
                let aside = aside.and_then(|_| task.clone());
                if about.is_some_and(Halt::is_about_work)
                    && let Some(task) = aside.or(halted_task)
                {
                    self.attempts.remove(&task);
                }
            }
            // During a tick it takes effect at its end.
            (Request::SetTask { task, .. }, Ok(_))
                if self.machine.state().in_progress.is_some() =>
            {
                self.new_task = Some(task.clone());
            }
            (Request::SetTask { task, .. } | Request::Restart { task, .. }, Ok(_)) => {
                self.attempts.remove(task);
            }
            _ => {}
        }
        let (accepted, said) = match result {
            Ok(granted) => (true, granted.what),
            Err(denied) => (false, denied.why),
        };
        self.append(Body::Control(Requested {
            control,
            accepted,
            said,
        }));
    }

    /// The records since the latest `closed` lead to the same machine.
    fn replay(&self) {
        let (state, from) = &self.closed;
        let replayed = replay(state.clone(), &self.records[*from..]).unwrap();
        assert_eq!(replayed.machine.state(), self.machine.state());
        assert_eq!(replayed.machine.action(), self.machine.action());
        assert_eq!(replayed.machine.fence(), self.machine.fence());
    }

    fn check(&self) {
        if !matches!(
            self.machine.action(),
            Some(Action::FindWork | Action::Open(_))
        ) {
            self.replay();
        }
        // Saved and restored between any two inputs, it is the same machine.
        let saved = serde_json::to_string(&self.machine).unwrap();
        assert_eq!(
            serde_json::from_str::<Machine>(&saved).unwrap(),
            self.machine
        );
        let state = self.machine.state();
        assert_eq!(
            state.status == Status::HumanIntervention,
            state.reason.is_some(),
            "a reason is there exactly while it waits"
        );
        for progress in state.progress.values() {
            assert!(progress.scores.len() <= 32 && progress.attempts.len() <= 32);
        }
        assert!(state.recent_controls.len() <= 64);
    }
}
