//! From a record to readable lines.

use super::journal::Level;
use loop_core::answer::{
    Advanced, Armed, CallEnd, Called, Finished, FirstRun, PlanAnswer, Reading, StepAnswer,
    StepFault,
};
use loop_core::control::Request;
use loop_core::outcome::Outcome;
use loop_core::record::{Answered, Body, Closed, Opened, Requested};
use std::fmt::{Display, Write};

/// Returns the lines that a record leaves in `.state.log`.
pub(super) fn lines(body: &Body) -> Vec<(Level, String)> {
    match body {
        Body::Opened(opened) => self::opened(opened),
        Body::Began { tick, fence, pid } => {
            let mut line = Line::new("begins");
            line.key("step", fence.step).maybe("tick", *tick);
            line.key("attempt", fence.attempt).key("pid", pid);
            vec![(Level::Info, line.text)]
        }
        Body::Answer(answer) => vec![answered(answer)],
        Body::Control(requested) => vec![self::requested(requested)],
        Body::Idle { outcome, why } => {
            let mut line = Line::new("no tick");
            line.key("outcome", outcome.as_str());
            line.maybe("reason", outcome.reason()).key("why", why);
            vec![(level(outcome, Level::Info), line.text)]
        }
        Body::Healed { cut_bytes, kept } => {
            let mut line = Line::new("the torn end of the log was cut");
            line.key("bytes", cut_bytes).key("kept", kept);
            vec![(Level::Warning, line.text)]
        }
        Body::Closed(closed) => vec![self::closed(closed)],
    }
}

/// That a tick has work tells that it passed the checks before.
fn opened(opened: &Opened) -> Vec<(Level, String)> {
    let mut gate = Line::new("gate passed");
    gate.key("step", "gate").key("tick", opened.tick);
    gate.key("engine", &opened.engine);
    let mut found = Line::new(match opened.task {
        Some(_) => "find work: found a task",
        None => "find work: not asked, a cap of the loop is reached",
    });
    found.key("step", "find_work").key("tick", opened.tick);
    if let Some(task) = &opened.task {
        found.key("task", &task.name);
        found.maybe("phase", task.phase.as_deref());
    }
    vec![(Level::Info, gate.text), (Level::Info, found.text)]
}

fn answered(answered: &Answered) -> (Level, String) {
    let (level, message) = match &answered.answer {
        StepAnswer::Failed(_) | StepAnswer::Interrupted(_) => (Level::Warning, "failed"),
        StepAnswer::Advance(Advanced::Conflict { .. }) => (Level::Warning, "found a conflict"),
        StepAnswer::Plan(planned) => match planned.answer {
            PlanAnswer::Plan(_) => call_ended(&planned.called),
            PlanAnswer::Refused { .. } => (Level::Warning, "refused the task"),
            PlanAnswer::Broken { .. } => (Level::Error, "broke its contract"),
        },
        StepAnswer::Implement(done) => call_ended(&done.called),
        StepAnswer::Verify(done) => match (&done.called.end, &done.reading) {
            (CallEnd::Exited(0), Reading::Unreadable(_)) => (Level::Warning, "gave no verdict"),
            _ => call_ended(&done.called),
        },
        // The decision that it had to carry out is carried out without it.
        StepAnswer::Orchestrate(called) if called.end.failure().is_some() => {
            (Level::Error, "ended badly")
        }
        StepAnswer::Scope(scoped) if !scoped.violations.is_empty() => {
            (Level::Error, "changes that were not allowed")
        }
        StepAnswer::Gate(gated) if !gated.report.green => (Level::Warning, "the gate is red"),
        StepAnswer::Gate(_) => (Level::Info, "the gate is green"),
        StepAnswer::Arm(armed) => match armed.first_run {
            None | Some(FirstRun::Red { .. }) => (Level::Info, "done"),
            Some(_) => (Level::Error, "the gate cannot be armed"),
        },
        StepAnswer::Finish(Finished::Conflict { .. }) => (Level::Error, "conflict"),
        _ => (Level::Info, "done"),
    };
    let mut line = Line::new(message);
    line.key("step", answered.fence.step);
    line.maybe("tick", answered.tick);
    line.key("attempt", answered.fence.attempt);
    line.key("elapsed_ms", answered.elapsed_ms);
    detail(&mut line, &answered.answer);
    (level, line.text)
}

fn call_ended(called: &Called) -> (Level, &'static str) {
    match called.end {
        CallEnd::Exited(0) => (Level::Info, "done"),
        _ => (Level::Warning, "ended badly"),
    }
}

fn detail(line: &mut Line, answer: &StepAnswer) {
    match answer {
        StepAnswer::Worktree(Some(made)) => {
            line.key("path", &made.path).key("branch", &made.branch);
        }
        StepAnswer::Worktree(None) => {
            line.key("path", "the project itself");
        }
        StepAnswer::Plan(planned) => {
            call(line, &planned.called);
            match &planned.answer {
                PlanAnswer::Plan(plan) => {
                    line.key("items", plan.items).key("plan", &plan.file.path);
                    for missing in &plan.uncovered {
                        line.key("uncovered", missing);
                    }
                }
                PlanAnswer::Refused { why } => {
                    line.key("refused", why);
                }
                PlanAnswer::Broken { why } => {
                    line.key("why", why);
                }
            }
        }
        StepAnswer::Baseline(kept) => {
            let path = kept.as_ref().map(|kept| kept.path.as_str());
            line.key("kept", path.unwrap_or("unknown"));
        }
        StepAnswer::Arm(armed) => arming(line, armed),
        StepAnswer::Scope(scoped) => {
            line.key("files", scoped.files);
            line.maybe("patch", scoped.patch.as_ref().map(|patch| &patch.path));
            for violation in &scoped.violations {
                line.key(&violation.kind.to_string(), &violation.path);
            }
        }
        StepAnswer::Gate(gated) => {
            let report = &gated.report;
            line.key("exit", report.exit).key("green", report.green);
            line.maybe("tests", report.tests);
            line.key("level", report.level.number());
            line.key("why", &report.why);
        }
        StepAnswer::Receipt(receipt) => {
            line.maybe("receipt", receipt.as_ref().map(|receipt| &receipt.path));
        }
        StepAnswer::SetAside(patch) => {
            line.maybe("patch", patch.as_ref().map(|patch| &patch.path));
        }
        StepAnswer::Finish(Finished::Conflict { what }) => {
            line.key("why", what);
        }
        StepAnswer::Tree(tree) => {
            line.key("tree", tree.as_deref().unwrap_or("unknown"));
        }
        StepAnswer::Implement(done) => {
            call(line, &done.called);
            line.key("changed", done.changed());
        }
        StepAnswer::Verify(done) => {
            call(line, &done.called);
            match &done.reading {
                Reading::Verdict(verdict) => {
                    line.key("pass", verdict.pass);
                    line.key("score", verdict.score.get());
                    line.maybe("blocked", verdict.blocked.as_deref());
                }
                Reading::Unreadable(why) => {
                    line.key("why", why);
                }
            }
        }
        StepAnswer::Orchestrate(called) => call(line, called),
        StepAnswer::Advance(Advanced::Conflict { what }) => {
            line.key("why", what);
        }
        StepAnswer::Failed(fault) => failed(line, fault),
        StepAnswer::Interrupted(by) => {
            line.key("interrupted", by);
        }
        StepAnswer::Report
        | StepAnswer::Advance(Advanced::Moved)
        | StepAnswer::Finish(Finished::Done) => {}
    }
}

fn arming(line: &mut Line, armed: &Armed) {
    line.key("fingerprint", &armed.frozen.fingerprint);
    match &armed.first_run {
        None => {}
        Some(FirstRun::Red { exit, tests }) => {
            line.key("red", exit);
            line.maybe("tests", *tests);
        }
        Some(FirstRun::Green) => {
            line.key("green", true);
        }
        Some(FirstRun::Unwritten) => {
            line.key("unwritten", true);
        }
        Some(FirstRun::Broken { why } | FirstRun::Flaky { why }) => {
            line.key("why", why);
        }
    }
}

fn call(line: &mut Line, called: &Called) {
    line.maybe("end", called.end.failure());
    line.key("output", &called.output.path);
    if called.leaked {
        line.key("leaked", true);
    }
    for change in &called.outside {
        line.key("outside", change);
    }
}

fn failed(line: &mut Line, fault: &StepFault) {
    match fault {
        StepFault::Environment {
            reason,
            what,
            until,
        } => {
            line.key("environment", reason).key("why", what);
            line.maybe("until", *until);
        }
        StepFault::WorktreeReplaced { what } => {
            line.key("worktree_replaced", true).key("why", what);
        }
        StepFault::Tampered { what } => {
            line.key("tampered", true).key("why", what);
        }
        StepFault::Error { reason, what } => {
            line.key("error", reason).key("why", what);
        }
    }
}

fn requested(requested: &Requested) -> (Level, String) {
    let control = &requested.control;
    let (level, message) = if requested.accepted {
        (Level::Info, "request granted")
    } else {
        (Level::Warning, "request denied")
    };
    let mut line = Line::new(message);
    line.key("op", op(&control.request)).key("by", &control.by);
    line.key("said", &requested.said);
    line.maybe("note", control.note.as_deref());
    line.key("id", &control.id);
    (level, line.text)
}

fn op(request: &Request) -> &'static str {
    match request {
        Request::Pause => "pause",
        Request::Resume => "resume",
        Request::Approve { .. } => "approve",
        Request::Freeze { .. } => "freeze",
        Request::Stop => "stop",
        Request::SetTask { .. } => "set_task",
        Request::Restart { .. } => "restart",
        Request::Transition { .. } => "transition",
    }
}

fn closed(closed: &Closed) -> (Level, String) {
    let mut line = Line::new("state write: the tick is closed");
    line.key("step", "state_write").key("tick", closed.tick);
    line.key("outcome", closed.outcome.as_str());
    line.maybe("reason", closed.outcome.reason());
    line.key("why", &closed.why);
    (level(&closed.outcome, Level::Warning), line.text)
}

/// Returns an outcome's level; `short_of_pass` is that of one that is neither
/// good nor an error.
fn level(outcome: &Outcome, short_of_pass: Level) -> Level {
    match outcome {
        Outcome::Pass | Outcome::Done { parked: false } => Level::Info,
        Outcome::Error(_) => Level::Error,
        _ => short_of_pass,
    }
}

/// A message with `key=value` pairs behind it.
struct Line {
    text: String,
}

impl Line {
    fn new(message: &str) -> Self {
        Self {
            text: message.to_owned(),
        }
    }

    fn key(&mut self, key: &str, value: impl Display) -> &mut Self {
        let value = value.to_string();
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '=' | '\\');
        // Writing to a string cannot fail.
        let _written = if !value.is_empty() && value.chars().all(plain) {
            write!(self.text, " {key}={value}")
        } else {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            write!(self.text, " {key}=\"{value}\"")
        };
        self
    }

    fn maybe(&mut self, key: &str, value: Option<impl Display>) -> &mut Self {
        if let Some(value) = value {
            self.key(key, value);
        }
        self
    }
}
