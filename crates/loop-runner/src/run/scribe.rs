//! `STATE.md`: where a run stands, for people. The engine alone writes it.

use super::begin::Begun;
use super::{baseline, changed};
use crate::driver::Ticked;
use crate::gate::Armed;
use crate::git::plain_file;
use crate::hash::sha256_hex;
use crate::kept;
use crate::setup::Setup;
use crate::watch::Watch;
use loop_core::Step;
use loop_core::outcome::Outcome;
use loop_core::rules::Rules;
use loop_core::run::{Header, Pass, RunPhase, StateFile};
use loop_core::step::Ended;
use loop_core::text::last_line;
use std::path::Path;

/// The name of the file, in the project.
pub const STATE: &str = "STATE.md";
/// The gate's script, as the run has it.
pub(super) const SCRIPT: &str = "scripts/verify.sh";
/// The longest of these files that are read, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// Whether the digests in `STATE.md` are those of the frozen gate. A file that
/// names none says nothing; one that names others was edited (row G-18).
#[must_use]
pub fn agrees(setup: &Setup, armed: &Armed) -> bool {
    let path = setup.project.root().join(STATE);
    let Ok(Some(text)) = plain_file::read(&path, LONGEST) else {
        return true;
    };
    let header = Header::read(&String::from_utf8_lossy(&text));
    let files = armed.fingerprint.files();
    let is_frozen = |digest: &Option<String>| {
        digest
            .as_ref()
            .is_none_or(|digest| files.values().any(|entry| entry.sha256 == *digest))
    };
    is_frozen(&header.verify_sha256) && is_frozen(&header.task_sha256)
}

/// Whether the task is as the run has read it. Its path leads the list of what is
/// frozen; its text is the task's brief.
#[must_use]
pub fn is_as_read(setup: &Setup) -> bool {
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
}

impl<'a> Scribe<'a> {
    pub(super) fn new(begun: &'a Begun, watch: &'a mut dyn Watch) -> Self {
        let file = StateFile {
            phase: RunPhase::Preflight,
            cap: Rules::of(&begun.setup.config).brakes.max_iterations,
            tree: begun.tree,
            ..StateFile::default()
        };
        Self { begun, watch, file }
    }

    /// Takes in how a tick ended.
    pub(super) fn note(&mut self, ticked: &Ticked) {
        let ended = &ticked.ended;
        let progress = ticked
            .state
            .as_ref()
            .and_then(|s| s.progress.get(super::TASK));
        if let Some(plan) = progress.and_then(|progress| progress.plan.as_ref()) {
            self.file.uncovered.clone_from(&plan.uncovered);
            if self.file.plan.is_none() {
                let text = kept::read(&plan.file).ok();
                self.file.plan = text.and_then(|text| serde_json::from_slice(&text).ok());
            }
        }
        if let Some(report) = &ended.gate {
            self.file.gate_exit = Some(report.exit);
        }
        if is_pass(ended) {
            let start = ticked.state.as_ref().and_then(baseline);
            let changed = changed::since_start(&self.begun.setup, start);
            self.file.pass += 1;
            self.file.phase = RunPhase::Iterate;
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

    fn digest(&self, path: &Path) -> Option<String> {
        let path = self.begun.setup.project.root().join(path);
        let content = plain_file::read(&path, LONGEST).ok().flatten()?;
        Some(sha256_hex(&content))
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

/// Whether a tick was a pass: an attempt was begun in it.
fn is_pass(ended: &Ended) -> bool {
    match &ended.outcome {
        Outcome::Pass => ended.complete,
        Outcome::Skipped(_) => false,
        _ => ended.iteration > 0,
    }
}

impl Watch for Scribe<'_> {
    fn opened(&mut self, tick: u64, task: Option<&str>) {
        self.watch.opened(tick, task);
    }

    fn started(&mut self, step: Step) {
        if step == Step::Plan {
            self.file.phase = RunPhase::Plan;
            self.write();
        }
        self.watch.started(step);
    }

    fn ended(&mut self, step: Step, what: &str) {
        if step == Step::Arm {
            self.file.phase = RunPhase::Armed;
            self.file.verify_sha256 = self.digest(Path::new(SCRIPT));
            self.file.task_sha256 = self.digest(&self.begun.task_file);
            self.write();
        }
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
