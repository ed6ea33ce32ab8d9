//! The checks that need no judge: the baseline, what changed, the acceptance gate.

use super::{Machine, Stage};
use crate::answer::{Armed, FileRef, FirstRun, Gated, Scoped};
use crate::outcome::{Failure, Halt, Outcome};
use crate::scope::{Rule, Violation};
use crate::state::{By, GateArmed, LastVerdict, RedGate};

/// Paths of judges' own files that are remembered of a task.
const JUDGES_OWN: usize = 100;
/// Violations that the reason of a stop names.
const NAMED: usize = 5;

impl Machine {
    /// Sees to what has to be known before the first attempt at a task.
    pub(super) fn prepare(&mut self) {
        if self.has_to_plan() {
            return self.go_plan();
        }
        let has_gate = self.rules.as_ref().is_some_and(|r| r.gate.is_some());
        if has_gate && self.progress().gate.is_none() {
            self.stage = Stage::Arm;
        } else {
            self.go_baseline();
        }
    }

    /// The baseline comes behind the gate's first run: what that leaves in the
    /// tree is nobody's change.
    fn go_baseline(&mut self) {
        let looks = self.rules.as_ref().is_some_and(|rules| rules.scope);
        if looks && self.progress().baseline.is_none() {
            self.stage = Stage::Baseline;
        } else {
            self.go_work();
        }
    }

    pub(super) fn baseline_kept(&mut self, kept: Option<FileRef>) {
        if let Some(progress) = self.progress_mut() {
            progress.baseline = kept;
        }
        self.go_work();
    }

    /// A gate that is not red for the right reason proves nothing later.
    pub(super) fn armed(&mut self, armed: Armed) {
        let (red_seen, tests) = match armed.first_run {
            None => (false, None),
            Some(FirstRun::Red { tests, .. }) => (true, tests),
            Some(FirstRun::Green) => {
                let why = "the gate is green although nothing was done";
                return self.halt(Halt::GateGreen, why.to_owned());
            }
            Some(FirstRun::Broken { why }) => return self.halt(Halt::GateBroken, why),
            Some(FirstRun::Unwritten) => {
                let why = "the gate is the script that is shipped to be replaced";
                return self.halt(Halt::GateUnwritten, why.to_owned());
            }
            Some(FirstRun::Flaky { why }) => return self.halt(Halt::GateFlaky, why),
        };
        if let Some(progress) = self.progress_mut() {
            progress.gate = Some(GateArmed {
                frozen: armed.frozen,
                red_seen,
                tests,
                frozen_by: None,
            });
        }
        self.go_baseline();
    }

    /// Goes to the look at what has changed, which comes before any judgement.
    pub(super) fn go_scope(&mut self) {
        if self.rules.as_ref().is_some_and(|rules| rules.scope) {
            self.stage = Stage::Scope;
        } else {
            self.go_gate();
        }
    }

    pub(super) fn scoped(&mut self, scoped: Scoped) {
        let halt = stop_for(&scoped.violations);
        let why = violated(&scoped.violations);
        if let Some(tick) = &mut self.tick {
            tick.diff = scoped.patch.map(|patch| patch.path);
            tick.violations = scoped.violations;
        }
        match halt {
            Some(halt) => {
                self.spend_held();
                self.halt(halt, why);
            }
            None => self.go_gate(),
        }
    }

    fn go_gate(&mut self) {
        if self.rules.as_ref().is_none_or(|r| r.gate.is_none()) {
            return self.go_verify();
        }
        if let Some((halt, why)) = self.wall_cap() {
            self.hold();
            return self.halt(halt, why);
        }
        self.stage = Stage::Gate;
    }

    /// A red gate is the attempt's end, and the next hint (decision D-13).
    pub(super) fn gated(&mut self, gated: Gated) {
        let judge = self.rules.as_ref().is_none_or(|rules| rules.judge);
        let report = gated.report.clone();
        if let Some(tick) = &mut self.tick {
            tick.gate = Some(gated.report);
        }
        if let Some(why) = self.outside("the gate", &gated.outside, &gated.inputs) {
            self.hold();
            return self.halt(Halt::OutsideChanged, why);
        }
        if let Some(halt) = stop_for(&gated.violations) {
            let why = format!("while the gate ran: {}", violated(&gated.violations));
            if let Some(tick) = &mut self.tick {
                tick.violations = gated.violations;
            }
            self.spend_held();
            return self.halt(halt, why);
        }
        if report.green && judge {
            return self.go_verify();
        }
        // No judge comes after this: held work is spent now.
        self.spend_held();
        if let Some(tick) = &self.tick {
            self.state.last_verdict = Some(LastVerdict {
                task: self.task_name().unwrap_or_default(),
                tick: tick.number,
                tree: gated.tree,
                by: By::Gate,
                verdict: None,
            });
        }
        if let Some(progress) = self.progress_mut() {
            progress.blocked = 0;
            progress.hint = report.hint.clone().unwrap_or_default();
            let alone = !judge && !report.green;
            if let Some(attempt) = progress.attempts.last_mut().filter(|_| alone) {
                attempt.gate = Some(RedGate {
                    exit: report.exit,
                    output: report.output.clone(),
                });
            }
        }
        if report.green {
            return self.passed();
        }
        match self.tripped() {
            Some((halt, why)) => self.escalate(halt, format!("{why}; {}", report.why)),
            None => self.finish(Outcome::Fail(Failure::GateRed), report.why),
        }
    }

    /// Says what changed outside the place of work while `who` ran, if that stops
    /// the task. What the loop itself reads decides over its next call and its
    /// limits, so a change of that always does.
    pub(super) fn outside(
        &self,
        who: &str,
        outside: &[String],
        inputs: &[String],
    ) -> Option<String> {
        let watch = self.rules.as_ref().is_some_and(|rules| rules.watch);
        let watched = if watch { outside } else { &[] };
        let changes: Vec<_> = inputs.iter().chain(watched).cloned().collect();
        (!changes.is_empty()).then(|| {
            format!(
                "while {who} ran, something changed outside its place of work: {}",
                in_short(changes.into_iter())
            )
        })
    }

    /// Remembers the new files of a judge: they are not the attempt's.
    pub(super) fn keep_judges_own(&mut self, added: &[String]) {
        let Some(progress) = self.progress_mut() else {
            return;
        };
        let own = &mut progress.judges_own;
        for path in added {
            if own.len() < JUDGES_OWN && !own.contains(path) {
                own.push(path.clone());
            }
        }
    }
}

/// Returns why the task stops, if it does. What is protected weighs more.
fn stop_for(violations: &[Violation]) -> Option<Halt> {
    let protected = |violation: &Violation| violation.rule == Rule::Protected;
    if violations.iter().any(protected) {
        Some(Halt::Protected)
    } else if violations.is_empty() {
        None
    } else {
        Some(Halt::FileScope)
    }
}

fn violated(violations: &[Violation]) -> String {
    let named = violations.iter().map(|violation| {
        let rule = match violation.rule {
            Rule::FileScope => "outside file_scope",
            Rule::Protected => "protected",
        };
        format!("{} ({}, {rule})", violation.path, violation.kind)
    });
    format!("changes that were not allowed: {}", in_short(named))
}

/// Names the first few, and says how many more there are.
fn in_short(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(NAMED);
    let named: Vec<_> = items.take(NAMED).collect();
    let named = named.join(", ");
    match more {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
