//! The acceptance gate in a tick: armed before the first attempt, untouched by
//! every one, and run after it.

use super::Driver;
use super::check::look;
use crate::baseline;
use crate::gate::{
    GateContext, GateError, SideDoor, first_run, freeze, prove, record, recorded, side_doors,
    unmatched,
};
use crate::holder::Wish;
use crate::run;
use crate::setup::Setup;
use crate::store::{HeldError, Level};
use crate::workplace::{self, Intrusion, Unready};
use loop_core::answer::{Armed, FirstRun, Gated, StepFault, WorktreeRecord};
use loop_core::gate::{GateReport, Start};
use loop_core::outcome::{EnvironmentFault, Error};
use loop_core::state::Frozen;
use loop_core::step::Check;
use loop_core::{Step, StepAnswer};
use std::sync::atomic::{AtomicBool, Ordering};

/// Side doors that are named; the rest is counted.
const NAMED: usize = 5;

/// What a report says of a green gate that nobody has proven.
const NOT_PROVEN: &str = "not proven in a clean checkout (gate.prove is off)";

impl Driver<'_> {
    /// Freezes the gate before the first attempt, and runs it if it has to be red.
    pub(super) fn arm(&mut self, check: &Check) -> Result<(), HeldError> {
        self.held.begin()?;
        self.watch.started(Step::Arm);
        let setup = self.setup;
        let (armed, elapsed) = self.in_thread(|stop| arm(setup, check, stop));
        let answer = match armed {
            Ok((armed, notes)) => {
                for note in notes {
                    self.held.note(Level::Info, &note);
                    self.watch.note(&note);
                }
                let words = match &armed.first_run {
                    None => "frozen".to_owned(),
                    Some(FirstRun::Red { exit, .. }) => {
                        format!("frozen, and red with exit code {exit} before any work")
                    }
                    Some(_) => "it cannot be armed".to_owned(),
                };
                if matches!(armed.first_run, None | Some(FirstRun::Red { .. })) {
                    self.watch.frozen(&armed.frozen);
                }
                self.watch.ended(Step::Arm, &words);
                StepAnswer::Arm(armed)
            }
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }

    /// Runs the gate on the attempt.
    pub(super) fn gate(&mut self, check: &Check) -> Result<(), HeldError> {
        self.held.begin()?;
        self.watch.started(Step::Gate);
        let setup = self.setup;
        let (gated, elapsed) = self.in_thread(|stop| watched(setup, check, stop));
        let answer = match gated {
            Ok((gated, warnings)) => {
                self.warn(&warnings);
                self.warn_of(&Intrusion {
                    outside: gated.outside.clone(),
                    inputs: gated.inputs.clone(),
                });
                self.watch.ended(Step::Gate, &gated.report.why);
                StepAnswer::Gate(Box::new(gated))
            }
            Err(unready) => self.unready(unready)?,
        };
        self.held.answer(answer, elapsed)
    }

    /// Looks whether what judges the work is what was frozen.
    pub(super) fn check_frozen(
        &mut self,
        frozen: Option<&Frozen>,
        worktree: Option<&WorktreeRecord>,
    ) -> (Result<(), Unready>, u64) {
        let Some(frozen) = frozen else {
            return (Ok(()), 0);
        };
        let setup = self.setup;
        self.in_thread(|stop| {
            let context = context(setup, None, worktree, stop)?;
            let armed = recorded(frozen).map_err(unready)?;
            let mut changed = armed.compare(&context).map_err(unready)?;
            changed.extend(run::disagreement(setup, &armed));
            if changed.is_empty() {
                Ok(())
            } else {
                Err(unready(GateError::Tampered(changed)))
            }
        })
    }
}

fn arm(setup: &Setup, check: &Check, stop: &AtomicBool) -> Result<(Armed, Vec<String>), Unready> {
    let context = context(setup, Some(check.tick), check.worktree.as_ref(), stop)?;
    let stem = format!("tick{}-arm", check.tick);
    let planned: Vec<_> = check.planned.iter().map(String::as_str).collect();
    let mut notes = Vec::new();
    let (armed, first_run) = if check.must_be_red {
        let started = first_run(&context, &planned, &stem, &mut wish(stop)).map_err(unready)?;
        if let Start::Red {
            unbuilt: Some(line),
        } = &started.start
        {
            notes.push(format!(
                "the gate is red because something did not build: {line}"
            ));
        }
        let report = started.ran.map(|ran| ran.report);
        (started.armed, Some(said(started.start, report.as_ref())))
    } else {
        (freeze(&context, &planned, None).map_err(unready)?, None)
    };
    let frozen = record(setup, &check.task, &armed).map_err(unready)?;
    let unmatched = unmatched(&context).map_err(unready)?;
    notes.extend(unmatched.into_iter().map(|pattern| {
        format!("gate.frozen: {pattern} covers no file now; it freezes new ones only")
    }));
    notes.extend(offer(&side_doors(&context).map_err(unready)?));
    Ok((Armed { frozen, first_run }, notes))
}

/// Runs the gate, and looks at what else that did: it runs an agent's code.
fn watched(
    setup: &Setup,
    check: &Check,
    stop: &AtomicBool,
) -> Result<(Gated, Vec<String>), Unready> {
    let (worktree, task) = (check.worktree.as_ref(), check.task.as_str());
    let before = workplace::surrounding(setup, worktree, task, None, stop)?;
    let (mut gated, warnings) = run_gate(setup, check, stop)?;
    let found = workplace::intrusion(setup, &before, worktree, task, None, stop)?;
    gated.outside = found.outside;
    gated.inputs = found.inputs;
    if gated.report.green {
        gated.violations = look(setup, check, stop)?.violations;
    }
    Ok((gated, warnings))
}

fn run_gate(
    setup: &Setup,
    check: &Check,
    stop: &AtomicBool,
) -> Result<(Gated, Vec<String>), Unready> {
    let start = match &check.baseline {
        Some(kept) => Some(baseline::read(kept)?),
        None => None,
    };
    let context = GateContext {
        base: start.as_ref().and_then(|start| start.head()),
        ..context(setup, Some(check.tick), check.worktree.as_ref(), stop)?
    };
    let Some(frozen) = &check.frozen else {
        return Err(failed("the gate is not armed".to_owned()));
    };
    let armed = recorded(frozen).map_err(unready)?;
    let stem = format!("tick{}-gate", check.tick);
    let ran = crate::gate::run(&context, &armed, &stem, &mut wish(stop)).map_err(unready)?;
    if !ran.changed.is_empty() {
        return Err(unready(GateError::Tampered(ran.changed)));
    }
    let mut report = ran.report;
    if report.green && context.gate.prove() {
        let stem = format!("tick{}-prove", check.tick);
        let proof = prove(&context, &armed, &stem, &mut wish(stop)).map_err(unready)?;
        if proof.proven {
            report.flags.push(proof.why);
        } else {
            report = report.refused(proof.why, &ran.output);
        }
    } else if report.green {
        report.flags.push(NOT_PROVEN.to_owned());
    }
    let tree = workplace::tree_hash(setup, check.worktree.as_ref(), stop)?;
    let gated = Gated {
        report,
        tree,
        outside: Vec::new(),
        inputs: Vec::new(),
        violations: Vec::new(),
    };
    Ok((gated, ran.warnings))
}

fn context<'a>(
    setup: &'a Setup,
    tick: Option<u64>,
    worktree: Option<&'a WorktreeRecord>,
    stop: &'a AtomicBool,
) -> Result<GateContext<'a>, Unready> {
    let gate = setup.config.gate();
    Ok(GateContext {
        setup,
        gate: gate.ok_or_else(gone)?,
        tick,
        worktree,
        base: None,
        stop,
    })
}

fn said(start: Start, report: Option<&GateReport>) -> FirstRun {
    match start {
        Start::Red { .. } => FirstRun::Red {
            exit: report.map_or(1, |report| report.exit),
            tests: report.and_then(|report| report.tests),
        },
        Start::Green => FirstRun::Green,
        Start::Broken { why } => FirstRun::Broken { why },
        Start::Unwritten => FirstRun::Unwritten,
        Start::Flaky { why } => FirstRun::Flaky { why },
    }
}

/// Names the files by which a changed setting could make the gate green.
fn offer(doors: &[SideDoor]) -> Vec<String> {
    let named: Vec<_> = doors
        .iter()
        .take(NAMED)
        .map(|door| format!("{} ({})", door.path, door.why))
        .collect();
    if named.is_empty() {
        return Vec::new();
    }
    let more = match doors.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    vec![format!(
        "an agent may change how the gate judges through {}{more}; freeze them with gate.frozen \
         in loop.json",
        named.join(", ")
    )]
}

fn wish(stop: &AtomicBool) -> impl FnMut() -> Wish + '_ {
    || {
        if stop.load(Ordering::Relaxed) {
            Wish::End
        } else {
            Wish::GoOn
        }
    }
}

/// What was frozen for a task judges it to its end.
fn gone() -> Unready {
    Unready::Fault(StepFault::Error {
        reason: Error::Config,
        what: "a gate was frozen for this task, and loop.json has none any more; put it back"
            .to_owned(),
    })
}

fn failed(what: String) -> Unready {
    Unready::Fault(StepFault::Error {
        reason: Error::Disk,
        what,
    })
}

fn unready(error: GateError) -> Unready {
    let what = error.to_string();
    match error {
        GateError::Stopped => Unready::Stopped,
        GateError::Tampered(_) | GateError::NotKept { .. } => {
            Unready::Fault(StepFault::Tampered { what })
        }
        GateError::Replaced(_) => Unready::Fault(StepFault::WorktreeReplaced { what }),
        GateError::Setup { .. } => Unready::Fault(StepFault::Environment {
            reason: EnvironmentFault::SetupFailed,
            what,
            until: None,
        }),
        GateError::Pattern(_)
        | GateError::Overlay { .. }
        | GateError::Nothing { .. }
        | GateError::LeadsOut { .. } => Unready::Fault(StepFault::Error {
            reason: Error::Config,
            what,
        }),
        _ => failed(what),
    }
}
