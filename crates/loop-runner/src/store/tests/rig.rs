//! A loop in a temporary folder, and a driver whose steps do nothing.

use crate::clock::{Clock, FixedClock};
use crate::store::{Held, LoopDir, OpenError, records, submit};
use loop_core::answer::{
    Advanced, CallEnd, Called, FileRef, Finished, Implemented, Reading, StepAnswer, StepFault,
    Verified, Work, WorktreeRecord,
};
use loop_core::brakes::Brakes;
use loop_core::claim::Claim;
use loop_core::control::{Control, Request};
use loop_core::outcome::{EnvironmentFault, Error, Interruption, Skip};
use loop_core::record::Record;
use loop_core::rules::{CallRules, HarnessRules, Rules};
use loop_core::step::{Action, WorkTask};
use loop_core::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub(super) const ENGINE: &str = env!("CARGO_PKG_VERSION");
pub(super) const NONCE: &str = "0123456789abcdef";

pub(super) struct Rig {
    pub(super) dir: LoopDir,
    pub(super) clock: Arc<FixedClock>,
    _temp: Option<TempDir>,
}

impl Rig {
    pub(super) fn new() -> Self {
        // The store syncs a lot, which memory does at once.
        let memory = Path::new("/dev/shm");
        let temp = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let temp = temp.unwrap();
        let root = temp.path().join("loops").join("L");
        std::fs::create_dir_all(&root).unwrap();
        Self {
            _temp: Some(temp),
            ..Self::at(root)
        }
    }

    /// A loop in a folder that somebody else removes.
    pub(super) fn at(root: impl Into<PathBuf>) -> Self {
        let start: Timestamp = "2026-11-30T23:10:04.123Z".parse().unwrap();
        Self {
            dir: LoopDir::new(root),
            clock: Arc::new(FixedClock::new(start)),
            _temp: None,
        }
    }

    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    pub(super) fn try_open(&self) -> Result<Held, OpenError> {
        Held::open(&self.dir, ENGINE, self.clock(), || Ok(()))
    }

    pub(super) fn open(&self) -> Held {
        self.try_open().unwrap()
    }

    pub(super) fn submit(&self, id: &str, request: Request) {
        submit(&self.dir.control(), &control(id, request)).unwrap();
    }

    pub(super) fn log(&self) -> Vec<u8> {
        std::fs::read(self.dir.events()).unwrap()
    }

    pub(super) fn journal(&self) -> String {
        std::fs::read_to_string(self.dir.journal()).unwrap()
    }

    pub(super) fn records(&self) -> Vec<Record> {
        records(&self.dir).unwrap().map(Result::unwrap).collect()
    }

    /// Everything in the loop's folder but the lock, which opening may touch.
    pub(super) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(self.dir.root())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file() && *path != self.dir.lock())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    }

    pub(super) fn control_files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.dir.control()) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(super) fn control(id: &str, request: Request) -> Control {
    Control {
        id: id.to_owned(),
        request,
        by: "ada".to_owned(),
        note: None,
    }
}

pub(super) fn rules() -> Rules {
    let call = CallRules {
        harnesses: vec![HarnessRules {
            timeout_ms: 1_800_000,
            cost_per_call: None,
            ..HarnessRules::default()
        }],
        context_window: None,
    };
    Rules {
        worktree: Some(loop_core::config::WorktreeFor::Task),
        brakes: Brakes {
            max_iterations: Some(3),
            score_plateau_window: 3,
            score_plateau_delta: 0.0,
            min_score: 0.7.try_into().unwrap(),
            max_harness_failures: 2,
            no_progress_window: 3,
            max_wall_ms: Some(28_800_000),
            max_ticks_per_day: None,
            max_cost: None,
            max_tokens: None,
        },
        implement: call.clone(),
        verify: call.clone(),
        orchestrate: Some(call),
        scope: false,
        receipts: false,
        ..Rules::default()
    }
}

/// Does what the machine asks for next; `choice` picks how it goes, 0 is well.
/// Returns whether anything was asked for.
pub(super) fn perform(held: &mut Held, choice: u8) -> bool {
    let Some(action) = held.machine().action() else {
        return false;
    };
    match &action {
        Action::FindWork => {
            let phases = held.machine().rules().unwrap().phases.clone();
            let phase = held.machine().state().current_phase.clone();
            let phase = phase.filter(|phase| phases.contains(phase));
            held.work(match choice {
                1 => Work::Nothing(Skip::NoWork),
                2 => Work::Failed {
                    what: "no such file".to_owned(),
                },
                _ => Work::Found(WorkTask {
                    name: "t1".to_owned(),
                    phase: Some(phase.unwrap_or_else(|| phases.first().to_owned())),
                    phases,
                    item: Some(file("tick1-item.json")),
                }),
            })
            .unwrap();
        }
        Action::Open(_) => held.open_tick(NONCE).unwrap(),
        Action::Close(_) => held.close().unwrap(),
        _ => {
            if action.step().acts_outside() && !held.machine().begun() {
                held.begin().unwrap();
            }
            held.answer(answer(&action, choice), 1_000).unwrap();
        }
    }
    true
}

/// Starts a tick and performs it to its end, all going well.
pub(super) fn whole_tick(held: &mut Held) {
    held.start(rules()).unwrap();
    while perform(held, 0) {}
}

fn answer(action: &Action, choice: u8) -> StepAnswer {
    match action {
        Action::Worktree(_) => match choice {
            1 => environment(),
            2 => StepAnswer::Failed(StepFault::WorktreeReplaced {
                what: "config differs".to_owned(),
            }),
            3 => StepAnswer::Interrupted(Interruption::Signal),
            _ => StepAnswer::Worktree(Some(WorktreeRecord {
                path: "/w/t1".to_owned(),
                branch: "loop/L/t1".to_owned(),
                base: "abc".to_owned(),
                admin: "def".to_owned(),
            })),
        },
        Action::Tree(_) => StepAnswer::Tree((choice < 3).then(|| "after".to_owned())),
        Action::Implement(_) => implement(choice),
        Action::Verify(_) => verify(choice),
        Action::Report(_) => match choice {
            1 => error(),
            _ => StepAnswer::Report,
        },
        Action::Orchestrate(_) => match choice {
            1 => environment(),
            2 => StepAnswer::Interrupted(Interruption::Stop),
            3 => StepAnswer::Orchestrate(called(CallEnd::Exited(1))),
            _ => StepAnswer::Orchestrate(called(CallEnd::Exited(0))),
        },
        Action::Advance(_) => match choice {
            1 => error(),
            2 => StepAnswer::Advance(Advanced::Conflict {
                what: "the task is in phase `plan`".to_owned(),
            }),
            _ => StepAnswer::Advance(Advanced::Moved),
        },
        Action::Finish(_) => match choice {
            1 => error(),
            2 => StepAnswer::Finish(Finished::Conflict {
                what: "its box is gone".to_owned(),
            }),
            _ => StepAnswer::Finish(Finished::Done),
        },
        Action::Plan(_)
        | Action::Baseline(_)
        | Action::Arm(_)
        | Action::Scope(_)
        | Action::Gate(_)
        | Action::Receipt(_)
        | Action::SetAside(_) => unreachable!("the rules ask for none"),
        Action::FindWork | Action::Open(_) | Action::Close(_) => unreachable!("not a step"),
    }
}

fn implement(choice: u8) -> StepAnswer {
    let (end, claim, after) = match choice {
        1 => return environment(),
        2 => return StepAnswer::Interrupted(Interruption::Signal),
        3 => (CallEnd::Exited(1), Claim::None, "before"),
        4 => (CallEnd::TimedOut(60), Claim::None, "after"),
        5 => (
            CallEnd::Exited(0),
            Claim::Blocked("a key\nis missing".to_owned()),
            "before",
        ),
        _ => (CallEnd::Exited(0), Claim::None, "after"),
    };
    StepAnswer::Implement(Implemented {
        called: called(end),
        claim,
        silent: false,
        tree_before: Some("before".to_owned()),
        tree_after: Some(after.to_owned()),
    })
}

fn verify(choice: u8) -> StepAnswer {
    let (end, text) = match choice {
        1 => return environment(),
        2 => return StepAnswer::Interrupted(Interruption::Signal),
        3 => (CallEnd::Exited(3), ""),
        4 => (CallEnd::Exited(0), "looks good to me"),
        5 => (
            CallEnd::Exited(0),
            r#"{"pass": false, "score": 0.4, "next_hint": "fix it"}"#,
        ),
        6 => (
            CallEnd::Exited(0),
            r#"{"pass": true, "score": 0.123456789}"#,
        ),
        7 => (
            CallEnd::Exited(0),
            r#"{"pass": false, "score": 0, "blocked": "no key"}"#,
        ),
        _ => (CallEnd::Exited(0), r#"{"pass": true, "score": 1.0}"#),
    };
    StepAnswer::Verify(Verified {
        called: called(end),
        reading: Reading::of(text, ""),
        tree: Some("after".to_owned()),
        changed: Vec::new(),
        added: Vec::new(),
    })
}

fn called(end: CallEnd) -> Called {
    Called {
        end,
        output: file("tick1-output.md"),
        leaked: false,
        outside: Vec::new(),
        inputs: Vec::new(),
    }
}

fn file(name: &str) -> FileRef {
    FileRef {
        path: format!("/l/outputs/{name}"),
        bytes: 6,
        sha256: "00".repeat(32),
    }
}

fn environment() -> StepAnswer {
    StepAnswer::Failed(StepFault::Environment {
        reason: EnvironmentFault::Offline,
        what: "no route to host".to_owned(),
        until: None,
    })
}

fn error() -> StepAnswer {
    StepAnswer::Failed(StepFault::Error {
        reason: Error::Disk,
        what: "no space left".to_owned(),
    })
}

/// A second of the rig's time.
pub(super) const SECOND: Duration = Duration::from_secs(1);
