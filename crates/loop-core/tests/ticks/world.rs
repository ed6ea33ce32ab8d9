//! A driver without a world, driven by a table of text.
//!
//! Every row is a tick: what the steps answer, and what it has to come to:
//!
//! ```text
//! script | ended | spent | scores | hint | loop | asked
//! ```
//!
//! A script is a list of `step word…`, separated by `/`; a step that it leaves
//! out goes well (see [`crate::script`]). `spent` is the task's iteration, with
//! `held` when work waits for its judgement. A row that starts with `>` is what
//! happens between two ticks.

use crate::script::{Line, frozen, script};
use loop_core::answer::{Advanced, CallEnd, Called, FileRef, StepAnswer};
use loop_core::control::{Control, Request};
use loop_core::outcome::{Error, Halt, Interruption, Outcome, Skip};
use loop_core::record::{Answered, Body, Closed, Opened, Record, Requested};
use loop_core::rules::Rules;
use loop_core::state::{Progress, State, Status};
use loop_core::step::{Call, Check, Report, WorkTask, Workplace};
use loop_core::time::Timestamp;
use loop_core::{Action, Answer, Fence, Machine, Reply, Start, Step, Work};

/// How long a step takes when the script says nothing else.
const USUAL_MS: u64 = 1_000;

pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) rules: Rules,
    /// The task that the source offers.
    pub(crate) task: WorkTask,
    /// What the workspace's tree is now; every change is a new number.
    pub(crate) tree: u32,
    /// Every call that was asked for, oldest first.
    pub(crate) calls: Vec<Call>,
    /// Every place that was to be made ready, or looked at.
    pub(crate) places: Vec<Workplace>,
    /// Every look and run of the gate that was asked for.
    pub(crate) checks: Vec<Check>,
    /// Every report that was to be kept.
    pub(crate) reports: Vec<Report>,
    /// What a real driver would have on disk.
    pub(crate) records: Vec<Record>,
    now: i64,
    controls: u32,
}

impl World {
    /// A single loop whose task `t` is in the phase `implement`.
    pub(crate) fn new(rules: Rules) -> Self {
        let start: Timestamp = "2026-11-30T10:00:00Z".parse().unwrap();
        let task = WorkTask {
            name: "t".to_owned(),
            phase: Some("implement".to_owned()),
            phases: rules.phases.clone(),
            item: None,
        };
        let mut world = Self {
            machine: Machine::new(State::new()),
            rules,
            task,
            tree: 0,
            calls: Vec::new(),
            places: Vec::new(),
            checks: Vec::new(),
            reports: Vec::new(),
            records: Vec::new(),
            now: start.unix_millis(),
            controls: 0,
        };
        world.control("set_task:t", true);
        world
    }

    pub(crate) fn progress(&self) -> Progress {
        self.machine.state().progress_of(&self.task.name)
    }

    pub(crate) fn tree(&self) -> Option<String> {
        Some(format!("tree {}", self.tree))
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.now)
    }

    /// Plays the rows of a table, and compares each with what it expects.
    pub(crate) fn play(&mut self, table: &str) {
        let rows = table.lines().map(str::trim);
        for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let mut cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let asked = match cells[0].strip_prefix('>') {
                None => self.tick(cells[0]),
                Some(event) => match self.event(event.trim()) {
                    Some(asked) => asked,
                    None => continue,
                },
            };
            cells.remove(0);
            assert_eq!(self.cells(&asked), cells, "in row: {row}");
        }
    }

    fn cells(&self, (ended, asked): &(String, Vec<Step>)) -> Vec<String> {
        let state = self.machine.state();
        let progress = self.progress();
        let held = if progress.unjudged.is_some() {
            " held"
        } else {
            ""
        };
        let scores = progress.scores.iter().map(|score| score.get().to_string());
        let status = match (state.status, state.reason) {
            (Status::Active, None) => "active".to_owned(),
            (Status::HumanIntervention, Some(halt)) => format!("waits {halt}"),
            (Status::Complete, None) => "complete".to_owned(),
            odd => panic!("{odd:?}"),
        };
        let paused = if state.paused { " paused" } else { "" };
        let asked = asked.iter().map(|step| step.as_str());
        vec![
            ended.clone(),
            format!("{}{held}", progress.iteration),
            scores.collect::<Vec<_>>().join(" "),
            progress.hint,
            format!("{status}{paused}"),
            asked.collect::<Vec<_>>().join(" "),
        ]
    }

    /// Lets something happen between two ticks.
    fn event(&mut self, event: &str) -> Option<(String, Vec<Step>)> {
        let (word, rest) = event.split_once(' ').unwrap_or((event, ""));
        match word {
            "wait" => self.now += rest.parse::<i64>().unwrap() * 1_000,
            "clock" => self.now = rest.parse::<Timestamp>().unwrap().unix_millis(),
            "phase" => self.task.phase = Some(rest.to_owned()),
            "tree" => self.tree += 100,
            "task" => rest.clone_into(&mut self.task.name),
            request => {
                let mut lines = script(rest.trim_start_matches('/'));
                let (request, granted) = expected(request);
                self.control(request, granted);
                let mut asked = Vec::new();
                while let Some(action) = self.machine.action() {
                    if asked.contains(&Step::Finish) {
                        break; // It could not be done now.
                    }
                    assert!(!asked.contains(&action.step()), "a move is made once");
                    asked.push(action.step());
                    self.perform(&action, &mut lines);
                }
                let said = if granted { "granted" } else { "denied" };
                return Some((said.to_owned(), asked));
            }
        }
        None
    }

    /// Plays one tick; returns how it ended, and what was asked in it.
    pub(crate) fn tick(&mut self, text: &str) -> (String, Vec<Step>) {
        let mut lines = script(text);
        let mut asked = Vec::new();
        // What is owed comes before any other work.
        if let Some(action) = self.machine.action() {
            asked.push(action.step());
            self.perform(&action, &mut lines);
            if self.machine.action().is_some() {
                return (self.ended_in_words(), asked);
            }
        }
        let start = Start {
            rules: self.rules.clone(),
            now: self.now(),
        };
        self.machine.start(start).unwrap();
        let mut turns = 0..16;
        while let Some(action) = self.machine.action() {
            assert!(turns.next().is_some(), "the tick does not end: {text}");
            let step = action.step();
            if !matches!(step, Step::FindWork | Step::Open | Step::Close) {
                asked.push(step);
            }
            self.perform(&action, &mut lines);
            if step == Step::Close {
                break; // What is owed from here on is owed outside the tick.
            }
        }
        assert!(lines.is_empty(), "not asked for: {lines:?}");
        (self.ended_in_words(), asked)
    }

    fn ended_in_words(&self) -> String {
        let ended = self.machine.ended().unwrap();
        let outcome = &ended.outcome;
        let reason = match outcome {
            Outcome::Skipped(Skip::HumanIntervention(halt)) => halt.to_string(),
            _ => outcome.reason().unwrap_or_default().to_owned(),
        };
        let words = format!("{} {reason}", outcome.as_str());
        words.trim_end().to_owned()
    }

    fn perform(&mut self, action: &Action, lines: &mut Vec<Line>) {
        let step = action.step();
        let line = match lines.first() {
            Some(line) if line.step == step => lines.remove(0),
            _ => Line::usual(step),
        };
        let fence = self.machine.fence().unwrap();
        if step.acts_outside() && !line.unbegun {
            self.begin(fence);
        }
        for request in &line.meets {
            let (request, granted) = expected(request);
            self.control(request, granted);
        }
        let elapsed_ms = line.takes_ms.unwrap_or(USUAL_MS);
        self.now += i64::try_from(elapsed_ms).unwrap();
        if self.machine.fence() != Some(fence) {
            return; // What it met has ended it.
        }
        let answer = match action {
            Action::FindWork => Answer::Work(self.work(&line)),
            Action::Open(open) => {
                let opened = Opened {
                    tick: open.tick,
                    engine: "1".to_owned(),
                    rules: self.rules.clone(),
                    task: open.task.clone(),
                    nonce: "0123456789abcdef".to_owned(),
                };
                Answer::Opened {
                    nonce: opened.nonce.clone(),
                    seq: self.append(Body::Opened(opened)),
                }
            }
            Action::Close(closing) => {
                self.append(Body::Closed(Box::new(Closed {
                    tick: closing.state.tick,
                    outcome: closing.ended.outcome.clone(),
                    why: closing.ended.why.clone(),
                    state: closing.state.clone(),
                })));
                Answer::Closed
            }
            Action::Plan(call)
            | Action::Implement(call)
            | Action::Verify(call)
            | Action::Orchestrate(call) => {
                self.calls.push(call.clone());
                self.step(fence, &line, elapsed_ms)
            }
            Action::Advance(advance) => {
                let answer = self.step(fence, &line, elapsed_ms);
                if answer == Answer::Step(StepAnswer::Advance(Advanced::Moved)) {
                    self.task.phase = Some(advance.to.clone());
                }
                answer
            }
            Action::Report(report) => {
                self.reports.push(report.clone());
                self.step(fence, &line, elapsed_ms)
            }
            Action::Arm(check)
            | Action::Scope(check)
            | Action::Gate(check)
            | Action::SetAside(check) => {
                self.checks.push(check.clone());
                self.step(fence, &line, elapsed_ms)
            }
            Action::Receipt(_) | Action::Finish(_) => self.step(fence, &line, elapsed_ms),
            Action::Worktree(place) | Action::Baseline(place) | Action::Tree(place) => {
                self.places.push(place.clone());
                self.step(fence, &line, elapsed_ms)
            }
        };
        let reply = Reply {
            at: self.now(),
            elapsed_ms,
            bill: line.bill.clone(),
            answer,
        };
        self.machine.answer(fence, reply).unwrap();
    }

    fn begin(&mut self, fence: Fence) {
        let tick = self.machine.state().in_progress;
        self.append(Body::Began {
            tick,
            fence,
            pid: 7,
        });
        self.machine.begin(fence, self.now(), 7).unwrap();
    }

    fn step(&mut self, fence: Fence, line: &Line, elapsed_ms: u64) -> Answer {
        let answer = match self.machine.stopping() {
            Some(by) if line.words.is_empty() && StepAnswer::Interrupted(by).fits(fence.step) => {
                StepAnswer::Interrupted(by)
            }
            _ => self.answer(line),
        };
        self.append(Body::Answer(Answered {
            tick: self.machine.state().in_progress,
            fence,
            elapsed_ms,
            bill: line.bill.clone(),
            answer: answer.clone(),
        }));
        Answer::Step(answer)
    }

    fn work(&self, line: &Line) -> Work {
        match line.word(0) {
            "" if self.rules.single => Work::Found(WorkTask {
                name: self.machine.state().current_task.clone().unwrap(),
                ..self.task.clone()
            }),
            // The source had made up its mind before something else was asked for.
            "" | "late" => Work::Found(self.task.clone()),
            "no_current_task" => Work::Nothing(Skip::NoCurrentTask),
            "no_work" => Work::Nothing(Skip::NoWork),
            "with_a_person" => Work::Nothing(Skip::HumanIntervention(Halt::Escalated)),
            "failed" => Work::Failed {
                what: "the source is gone".to_owned(),
            },
            odd => panic!("{odd}"),
        }
    }

    pub(crate) fn append(&mut self, body: Body) -> u64 {
        let seq = self.records.len() as u64 + 1;
        self.records.push(Record {
            seq,
            at: self.now(),
            body,
        });
        seq
    }

    /// Asks for something, and sees to it that it is granted, or denied.
    pub(crate) fn control(&mut self, request: &str, granted: bool) {
        self.controls += 1;
        let control = Control {
            id: format!("c{}", self.controls),
            request: self.request(request),
            by: "ada".to_owned(),
            note: None,
        };
        let seq = self.records.len() as u64 + 1;
        let result = self.machine.control(seq, self.now(), &control);
        assert_eq!(result.is_ok(), granted, "{request}: {result:?}");
        let said = match &result {
            Ok(granted) => granted.what.clone(),
            Err(denied) => denied.why.clone(),
        };
        self.append(Body::Control(Requested {
            control,
            accepted: result.is_ok(),
            said,
        }));
    }

    /// Returns what the latest request was answered with.
    pub(crate) fn said(&self) -> &str {
        let controls = self.records.iter().rev();
        let mut said = controls.filter_map(|record| match &record.body {
            Body::Control(requested) => Some(requested.said.as_str()),
            _ => None,
        });
        said.next().unwrap()
    }

    fn request(&self, text: &str) -> Request {
        let (word, what) = text.split_once(':').unwrap_or((text, ""));
        let tick = self.machine.state().tick;
        match word {
            "restart" => Request::Restart {
                task: what.to_owned(),
                phase: Some("implement".to_owned()),
            },
            "freeze" => Request::Freeze {
                task: what.to_owned(),
                frozen: frozen("again"),
            },
            "pause" => Request::Pause,
            "resume" => Request::Resume,
            "approve" => Request::Approve {
                task: (!what.is_empty()).then(|| what.to_owned()),
            },
            "stop" => Request::Stop,
            "set_task" => Request::SetTask {
                task: what.to_owned(),
                phase: Some("implement".to_owned()),
            },
            "asks" => Request::Transition {
                tick,
                task: self.task.name.clone(),
                to: (what != "next").then(|| what.to_owned()),
            },
            "asks_for_other" => Request::Transition {
                tick,
                task: what.to_owned(),
                to: None,
            },
            "asks_late" => Request::Transition {
                tick: tick - 1,
                task: self.task.name.clone(),
                to: None,
            },
            odd => panic!("no request: {odd}"),
        }
    }
}

/// Splits off the mark of a request that has to be denied.
fn expected(request: &str) -> (&str, bool) {
    match request.strip_prefix('!') {
        Some(denied) => (denied, false),
        None => (request, true),
    }
}

pub(crate) fn called(end: CallEnd) -> Called {
    Called {
        end,
        output: FileRef {
            path: "/outputs/output.md".to_owned(),
            bytes: 3,
            sha256: "00".to_owned(),
        },
        leaked: false,
        outside: Vec::new(),
        inputs: Vec::new(),
    }
}

pub(crate) fn interruption(word: &str) -> Interruption {
    let all = Interruption::ALL.iter().copied();
    all.into_iter().find(|by| by.as_str() == word).unwrap()
}

pub(crate) fn error(word: &str) -> Error {
    let all = Error::ALL.iter().copied();
    all.into_iter()
        .find(|error| error.as_str() == word)
        .unwrap()
}
