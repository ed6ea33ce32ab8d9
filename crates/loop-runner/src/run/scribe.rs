//! `STATE.md`: where a run stands, for people. The engine alone writes it.

use super::begin::Begun;
use super::{baseline, changed};
use crate::driver::Ticked;
use crate::gate::{Armed, Mismatch, recorded};
use crate::git::plain_file;
use crate::kept;
use crate::setup::Setup;
use crate::watch::Watch;
use loop_core::Step;
use loop_core::outcome::{Halt, Outcome};
use loop_core::plan::{Plan, uncovered};
use loop_core::run::{Header, Pass, RunPhase, StateFile};
use loop_core::state::{Frozen, State};
use loop_core::step::Ended;
use loop_core::text::last_line;
use std::path::Path;

/// The name of the file, in the project.
pub(super) const STATE: &str = "STATE.md";
/// The gate's script, as the run has it.
pub(super) const SCRIPT: &str = "scripts/verify.sh";
/// The longest of these files that are read, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// Tells whether the `STATE.md` of a run says something else of the frozen gate
/// than what it is (row G-18). Without the file nothing is said; other loops have
/// none.
pub(crate) fn disagreement(setup: &Setup, armed: &Armed) -> Option<Mismatch> {
    if setup.name != super::NAME {
        return None;
    }
    let agrees = match plain_file::read(&setup.project.root().join(STATE), LONGEST) {
        Ok(Some(text)) => {
            let digests = Digests::of(setup, armed);
            Header::read(&String::from_utf8_lossy(&text))
                .agrees(digests.verify.as_deref(), digests.task.as_deref())
        }
        Ok(None) => false,
        Err(error) => plain_file::is_absent(&error),
    };
    (!agrees).then(|| Mismatch {
        path: STATE.to_owned(),
        what: "says something else than what was frozen".to_owned(),
    })
}

/// What `STATE.md` shows of a frozen gate.
#[derive(Debug, Default)]
struct Digests {
    verify: Option<String>,
    task: Option<String>,
}

impl Digests {
    fn of(setup: &Setup, armed: &Armed) -> Self {
        let files = armed.fingerprint.files();
        let digest = |path: &str| files.get(path).map(|entry| entry.sha256.clone());
        let frozen = setup.config.gate().map(|gate| gate.frozen());
        let task = frozen.and_then(|frozen| frozen.first());
        Self {
            verify: digest(SCRIPT),
            task: task.and_then(|path| digest(path.as_str())),
        }
    }

    /// Those of a gate that is on record; none when the record cannot be read,
    /// which the next look at the gate tells.
    fn recorded(setup: &Setup, gate: &Frozen) -> Self {
        recorded(gate).map_or_else(|_| Self::default(), |armed| Self::of(setup, &armed))
    }
}

/// Whether the task of a run is as the run has read it. Its path leads the list of
/// what is frozen; its text is the task's brief. Other loops have no such file.
pub(crate) fn is_as_read(setup: &Setup) -> bool {
    if setup.name != super::NAME {
        return true;
    }
    let frozen = setup.config.gate().map(|gate| gate.frozen());
    let Some(path) = frozen.and_then(|frozen| frozen.first()) else {
        return false;
    };
    let text = plain_file::read(&setup.project.root().join(path.as_str()), LONGEST);
    let brief = setup.tasks.brief(super::TASK);
    matches!((text, brief), (Ok(Some(text)), Ok(Some(brief))) if text == brief.as_bytes())
}

/// Passes on what a tick tells, and keeps `STATE.md` up to date.
pub(super) struct Scribe<'a> {
    begun: &'a Begun,
    watch: &'a mut dyn Watch,
    pub(super) file: StateFile,
    /// Whether implement was called in this tick.
    works: bool,
}

impl<'a> Scribe<'a> {
    pub(super) fn new(begun: &'a Begun, watch: &'a mut dyn Watch) -> Self {
        let mut file = StateFile {
            phase: RunPhase::Preflight,
            cap: begun.setup.rules().brakes.max_iterations,
            tree: begun.tree,
            ..StateFile::default()
        };
        // A pass by hand goes on with what is armed and planned.
        if let Some(progress) = begun.state.progress.get(super::TASK) {
            file.pass = progress.iteration;
            if let Some(gate) = &progress.gate {
                let digests = Digests::recorded(&begun.setup, &gate.frozen);
                (file.verify_sha256, file.task_sha256) = (digests.verify, digests.task);
            }
        }
        let mut scribe = Self {
            begun,
            watch,
            file,
            works: false,
        };
        scribe.take_plan(&begun.state);
        scribe
    }

    /// Takes in the plan, once there is one on record.
    fn take_plan(&mut self, state: &State) {
        let progress = state.progress.get(super::TASK);
        let record = progress.and_then(|progress| progress.plan.as_ref());
        if let Some(record) = record.filter(|_| self.file.plan.is_none()) {
            let text = kept::read(&record.file).ok();
            let plan: Option<Plan> = text.and_then(|text| serde_json::from_slice(&text).ok());
            self.file.uncovered = match &plan {
                // The record's list is cut.
                Some(plan) => uncovered(&self.begun.done_when, plan),
                None => record.uncovered.clone(),
            };
            self.file.plan = plan;
        }
    }

    /// Takes in how a tick ended.
    pub(super) fn note(&mut self, ticked: &Ticked) {
        let ended = &ticked.ended;
        if let Some(state) = &ticked.state {
            self.take_plan(state);
        }
        if let Some(report) = &ended.gate {
            self.file.gate_exit = Some(report.exit);
        } else if ended.outcome == Outcome::HumanIntervention(Halt::GateGreen) {
            self.file.gate_exit = Some(0);
        }
        if std::mem::take(&mut self.works) {
            let start = ticked.state.as_ref().and_then(baseline);
            let changed = changed::since_start(&self.begun.setup, start);
            self.file.log.push(Pass {
                number: self.file.pass,
                tick: ended.tick.unwrap_or_default(),
                gate_exit: ended.gate.as_ref().map(|report| report.exit),
                changed: changed.map(|changed| changed.size),
                why: tried(ended),
            });
        }
        self.write();
    }

    /// Writes the file in one move; what stands there may be a link or a pipe.
    pub(super) fn write(&mut self) {
        let path = self.begun.setup.project.root().join(STATE);
        if let Err(error) = kept::write(&path, self.file.to_string().as_bytes()) {
            self.watch
                .warning(&format!("cannot write {}: {error}", path.display()));
        }
    }
}

/// Says what came of a pass: of a red gate the end of what it printed, which tells
/// more than that it is red.
fn tried(ended: &Ended) -> String {
    let hint = ended
        .gate
        .as_ref()
        .and_then(|report| report.hint.as_deref());
    let printed = hint.and_then(|hint| hint.split_once("\n\n"));
    match printed.and_then(|(_, output)| last_line(output)) {
        Some(line) if matches!(ended.outcome, Outcome::Fail(_)) => format!("the gate said: {line}"),
        _ => ended.why.clone(),
    }
}

impl Watch for Scribe<'_> {
    fn opened(&mut self, tick: u64, task: Option<&str>) {
        self.watch.opened(tick, task);
    }

    fn started(&mut self, step: Step) {
        match step {
            Step::Plan => {
                self.file.phase = RunPhase::Plan;
                self.write();
            }
            // What counts as a pass is a call of implement (row G-33).
            Step::Implement => {
                self.works = true;
                self.file.pass += 1;
                self.file.phase = RunPhase::Iterate;
                self.write();
            }
            _ => {}
        }
        self.watch.started(step);
    }

    fn frozen(&mut self, gate: &Frozen) {
        let digests = Digests::recorded(&self.begun.setup, gate);
        self.file.phase = RunPhase::Armed;
        (self.file.verify_sha256, self.file.task_sha256) = (digests.verify, digests.task);
        self.write();
        self.watch.frozen(gate);
    }

    fn ended(&mut self, step: Step, what: &str) {
        self.watch.ended(step, what);
    }

    fn note(&mut self, message: &str) {
        self.watch.note(message);
    }

    fn warning(&mut self, message: &str) {
        self.watch.warning(message);
    }

    fn over(&mut self, ended: &Ended, outputs: &Path) {
        self.watch.over(ended, outputs);
    }
}
