//! What a judgement, or the lack of one, means.

use super::{Decision, Machine, Stage};
use crate::answer::{CallEnd, FileRef, Reading, Verified};
use crate::outcome::{Failure, Halt, Outcome, VerifyFault};
use crate::phase::Phases;
use crate::state::{By, LastVerdict};
use crate::step::Role;
use crate::verdict::Verdict;

/// How often a judge is asked in one tick.
const ASKS: u32 = 2;
/// `blocked` answers in a row that stop a task.
const BLOCKED_IN_A_ROW: u32 = 2;

impl Machine {
    pub(super) fn go_verify(&mut self) {
        if let Some((halt, why)) = self.cap_before(Role::Verify) {
            self.hold();
            return self.halt(halt, why);
        }
        if self.harness(Role::Verify).is_none() {
            return self.no_judge_left();
        }
        self.choose(Role::Verify);
        self.stage = Stage::Verify;
    }

    /// Waiting brings no other judge: the configuration has changed since the work
    /// was done.
    fn no_judge_left(&mut self) {
        let worker = self.worker().unwrap_or_default();
        let why = format!("`{worker}` did the work, and roles.verify has no other harness");
        self.hold();
        self.halt(Halt::VerifierBroken, why);
    }

    pub(super) fn verified(&mut self, verified: Verified) {
        self.in_service(Role::Verify);
        self.keep_judges_own(&verified.added);
        if let Some(why) = self.outside(
            Role::Verify.as_str(),
            &verified.called.outside,
            &verified.called.inputs,
        ) {
            self.hold();
            return self.halt(Halt::OutsideChanged, why);
        }
        let end = &verified.called.end;
        if let Some(failure) = end.failure() {
            let fault = match end {
                CallEnd::Exited(_) | CallEnd::Signaled(_) | CallEnd::Reported(_) => {
                    VerifyFault::Exit
                }
                CallEnd::TimedOut(_) | CallEnd::IdleTimedOut(_) => VerifyFault::Timeout,
                CallEnd::Capped(cap) => {
                    let (halt, why) = self.capped(Role::Verify, *cap);
                    self.hold();
                    return self.halt(halt, why);
                }
            };
            return self.verify_failed(fault, format!("verify {failure}"));
        }
        if !verified.changed.is_empty() {
            let why = format!(
                "what was judged changed meanwhile: {}",
                verified.changed.join(", ")
            );
            return self.no_judgement(VerifyFault::Void, why);
        }
        let unreadable = match verified.reading {
            Reading::Verdict(verdict) => return self.judged(verdict, verified.tree),
            Reading::Unreadable(unreadable) => unreadable,
        };
        let asked = self.tick.as_ref().map_or(ASKS, |tick| tick.asked + 1);
        if asked >= ASKS {
            return self.no_judgement(unreadable.fault(), format!("verify: {unreadable}"));
        }
        if let Some(tick) = &mut self.tick {
            tick.attempt += 1;
            tick.asked = asked;
            tick.fault = Some(unreadable);
        }
        self.go_verify();
    }

    fn verify_failed(&mut self, fault: VerifyFault, why: String) {
        // A call that was cut to the time left says so: the judge has not failed.
        let wall = self.wall_cap().filter(|_| fault == VerifyFault::Timeout);
        match wall {
            Some((halt, cap)) => {
                self.hold();
                self.halt(halt, format!("{why}; {cap}"));
            }
            None => self.no_judgement(fault, why),
        }
    }

    /// The judge's failure is never a score: the work is kept, its iteration held.
    fn no_judgement(&mut self, fault: VerifyFault, why: String) {
        self.hold();
        let max = self
            .rules
            .as_ref()
            .map_or(1, |rules| rules.brakes.max_harness_failures);
        let failures = self.progress_mut().map_or(0, |progress| {
            progress.verify_failures += 1;
            progress.verify_failures
        });
        if failures >= max {
            let why = format!("{why}; no judgement {failures} times in a row");
            self.halt(Halt::VerifierBroken, why);
        } else {
            self.finish(Outcome::VerifyError(fault), why);
        }
    }

    fn judged(&mut self, verdict: Verdict, tree: Option<String>) {
        // The judgement has come: held work is spent now.
        self.spend_held();
        let Some(tick) = &mut self.tick else { return };
        tick.attempt = 1;
        tick.fault = None;
        tick.verdict = Some(verdict.clone());
        self.state.last_verdict = Some(LastVerdict {
            task: tick
                .task
                .as_ref()
                .map_or_else(String::new, |task| task.name.clone()),
            tick: tick.number,
            tree,
            by: By::Judge,
            verdict: Some(verdict.clone()),
        });
        if let Some(progress) = self.progress_mut() {
            progress.verify_failures = 0;
            progress.hint.clone_from(&verdict.next_hint);
        }
        if let Some(what) = &verdict.blocked {
            return self.blocked(what);
        }
        if let Some(progress) = self.progress_mut() {
            progress.blocked = 0;
        }
        let min_score = self.rules.as_ref().map(|rules| rules.brakes.min_score);
        match (verdict.pass, min_score) {
            (true, Some(min)) if verdict.score < min => self.escalate(
                Halt::LowScore,
                format!(
                    "the judge passed it with a score of {}, below {}",
                    verdict.score.get(),
                    min.get()
                ),
            ),
            (true, _) => self.passed(),
            (false, _) => self.failed(&verdict),
        }
    }

    pub(super) fn passed(&mut self) {
        let attempts = self.progress_mut().map(|progress| {
            let attempts = progress.iteration;
            progress.start_over();
            attempts
        });
        let task = self.tick.as_ref().and_then(|tick| tick.task.clone());
        let phase = task.as_ref().and_then(|task| task.phase.clone());
        let next = task.zip(phase).and_then(|(task, from)| {
            let to = task.phases.after(&from)?.to_owned();
            Some((task.phases.needs_approval(&from), from, to))
        });
        let decision = match next {
            Some((true, from, to)) => Decision::AskApproval { from, to },
            Some((false, from, to)) => Decision::Advance { from, to },
            None => Decision::Complete,
        };
        let Some(tick) = &mut self.tick else { return };
        tick.decision = Some(decision);
        tick.passed_after = attempts;
        if self.rules.as_ref().is_some_and(|rules| rules.receipts) {
            self.stage = Stage::Receipt;
        } else {
            self.receipt_written(None);
        }
    }

    /// What was verified is written down, or could not be.
    pub(super) fn receipt_written(&mut self, receipt: Option<FileRef>) {
        if let Some(receipt) = receipt {
            self.state.remember_receipt(receipt);
        }
        let Some(tick) = &self.tick else { return };
        let leaves_report = tick.output.is_some()
            && matches!(&tick.decision,
                Some(Decision::Advance { from, .. } | Decision::AskApproval { from, .. })
                    if Phases::artifact(from).is_some());
        if leaves_report {
            self.stage = Stage::Report;
        } else {
            self.decide();
        }
    }

    fn failed(&mut self, verdict: &Verdict) {
        if let Some(progress) = self.progress_mut() {
            progress.push_score(verdict.score);
        }
        let said = match verdict.reasons.first() {
            Some(reason) => format!("the judge gave {}: {reason}", verdict.score.get()),
            None => format!("the judge gave {}", verdict.score.get()),
        };
        match self.tripped() {
            Some((halt, why)) => self.escalate(halt, format!("{why}; {said}")),
            None => self.finish(Outcome::Fail(Failure::Verdict), said),
        }
    }

    /// Somebody said that no attempt can succeed. Twice in a row, a person is asked.
    pub(super) fn blocked(&mut self, what: &str) {
        let in_a_row = self.progress_mut().map_or(1, |progress| {
            progress.harness_failures = 0;
            progress.blocked += 1;
            progress.blocked
        });
        if in_a_row >= BLOCKED_IN_A_ROW {
            self.escalate(Halt::Blocked, format!("blocked twice in a row: {what}"));
        } else {
            self.finish(
                Outcome::Blocked(what.to_owned()),
                format!("blocked: {what}"),
            );
        }
    }
}
