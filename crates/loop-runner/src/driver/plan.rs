//! The planner: asked once, and its answer read by loop-core's one reader.

use super::Driver;
use crate::kept;
use crate::run;
use crate::setup::Setup;
use crate::store::{HeldError, Took};
use crate::workplace;
use loop_core::answer::{PlanAnswer, Planned};
use loop_core::config::Criteria;
use loop_core::plan::{self, Plan, uncovered};
use loop_core::state::PlanRecord;
use loop_core::step::Call;
use loop_core::text::counted;
use loop_core::{Step, StepAnswer};
use std::path::Path;

/// Lines without a check that are recorded.
const UNCOVERED: usize = 20;

impl Driver<'_> {
    pub(super) fn plan(&mut self, call: &Call) -> Result<(), HeldError> {
        let mut took = Took::default();
        let answer = match self.run_call(call, &mut took)? {
            Ok(ran) => {
                let cwd = workplace::project_folder(self.setup, call.worktree.as_ref());
                let answer = read(self.setup, call.tick, &ran.text, &cwd);
                self.watch.ended(Step::Plan, &said(&answer));
                StepAnswer::Plan(Planned {
                    called: ran.called,
                    answer,
                })
            }
            Err(answer) => answer,
        };
        self.held.answer(answer, took)
    }
}

fn read(setup: &Setup, tick: u64, text: &str, cwd: &Path) -> PlanAnswer {
    if !run::is_as_read(setup) {
        let why = "the planner changed the task; it is for a person to write".to_owned();
        return PlanAnswer::Broken { why };
    }
    match plan::read(text) {
        plan::Planned::Broken { why } => PlanAnswer::Broken { why },
        plan::Planned::Refused { code, how } if how.is_empty() => PlanAnswer::Refused {
            why: format!("the planner refused the task: {code}"),
        },
        plan::Planned::Refused { code, how } => PlanAnswer::Refused {
            why: format!("the planner refused the task: {code}: {how}"),
        },
        plan::Planned::Plan(plan) => match record(setup, tick, &plan, cwd) {
            Ok(record) if setup.strict && !record.uncovered.is_empty() => PlanAnswer::Refused {
                why: format!(
                    "no check covers (--strict): {}",
                    record.uncovered.join("; ")
                ),
            },
            Ok(record) => PlanAnswer::Plan(record),
            Err(why) => PlanAnswer::Broken { why },
        },
    }
}

/// Keeps a plan, after a look at what it names.
fn record(setup: &Setup, tick: u64, plan: &Plan, cwd: &Path) -> Result<PlanRecord, String> {
    let frozen: Vec<_> = plan.frozen.iter().map(|path| path.as_str()).collect();
    let missing = frozen.iter().find(|path| {
        !cwd.join(path)
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_file())
    });
    if let Some(missing) = missing {
        return Err(format!("the plan freezes {missing}, which is no file"));
    }
    let path = setup.dir.outputs().join(format!("tick{tick}-plan.json"));
    let text = serde_json::to_vec_pretty(plan).map_err(|error| error.to_string())?;
    let file = kept::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = match setup.config.acceptance_criteria() {
        Some(Criteria::List(lines)) => lines.as_slice(),
        Some(Criteria::Text(_)) | None => &[],
    };
    let mut without_check = uncovered(lines, plan);
    without_check.truncate(UNCOVERED);
    Ok(PlanRecord {
        file,
        items: plan.plan.len(),
        frozen: frozen.into_iter().map(str::to_owned).collect(),
        uncovered: without_check,
    })
}

fn said(answer: &PlanAnswer) -> String {
    match answer {
        PlanAnswer::Plan(plan) if plan.uncovered.is_empty() => {
            format!(
                "{}, each with its check",
                counted(plan.items as u64, "item")
            )
        }
        PlanAnswer::Plan(plan) => format!(
            "{}; no check covers: {}",
            counted(plan.items as u64, "item"),
            plan.uncovered.join("; ")
        ),
        PlanAnswer::Refused { why } | PlanAnswer::Broken { why } => why.clone(),
    }
}
