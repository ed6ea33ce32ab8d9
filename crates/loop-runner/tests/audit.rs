//! The audit of a project on a real file system.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use loop_core::outcome::{Halt, Skip};
use loop_core::phase::Phases;
use loop_core::state::{Progress, State, Status};
use loop_core::task::Origin;
use loop_core::time::Timestamp;
use loop_runner::audit::{AuditReport, LoopEntry, LoopFacts, audit};
use loop_runner::tasks::{Mover, NewTask, ProjectOnDisk, Tasks};
use loop_worksource::{Audit, LoopView, Next, ProjectError, Violation, WorkSource, slugify};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

struct Fixture {
    dir: TempDir,
    tasks: Tasks,
    loops: Vec<LoopFacts>,
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let tasks = Tasks::new(dir.path());
        Self {
            dir,
            tasks,
            loops: Vec::new(),
        }
    }

    fn task(&self, name: &str, phases: Phases) {
        let new = NewTask {
            name,
            title: name,
            brief: None,
            phases,
            origin: Origin::person(),
            at: Timestamp::default(),
        };
        self.tasks.create(&new).unwrap();
    }

    fn move_to(&self, name: &str, to: &str) {
        let mover = Mover {
            by: "ada",
            loop_name: None,
            at: Timestamp::default(),
        };
        self.tasks.transition(name, Some(to), mover).unwrap();
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.dir.path().join("tasks").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn a_loop(&mut self, name: &str, state: &State) -> &mut LoopFacts {
        self.loops.push(LoopFacts {
            entry: LoopEntry::of(name, state),
            invalid: None,
            missing_prompts: Vec::new(),
        });
        self.loops.last_mut().unwrap()
    }

    fn audit(&self) -> AuditReport {
        audit(&self.tasks, &self.loops).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::to_value(self.audit()).unwrap()
    }

    /// Codes and tasks of all violations, in order.
    fn found(&self) -> Vec<(String, Option<String>)> {
        let violations = self.audit().violations.into_iter();
        violations.map(|one| (one.code, one.task)).collect()
    }

    /// Lets the audit source take its next piece of work.
    fn next(&self) -> Next {
        let view = LoopView {
            name: "l".to_owned(),
            current_task: None,
            phases: Phases::default(),
            parked: BTreeMap::new(),
            finished: BTreeSet::new(),
            at: Timestamp::default(),
        };
        let mut project = ProjectOnDisk::new(
            self.dir.path(),
            self.tasks.clone(),
            Box::new(|_| panic!("nothing is run")),
            Box::new(|| {
                audit(&self.tasks, &self.loops)
                    .map(|report| report.violations)
                    .map_err(|error| ProjectError::new(&error))
            }),
        );
        Audit.next(&view, &mut project).unwrap()
    }

    fn next_task(&self) -> String {
        match self.next() {
            Next::Found(found) => found.task.name,
            Next::Nothing(skip) => panic!("{skip:?}"),
        }
    }
}

/// Every path below `root` with its content.
fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = if path.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            all.push((path.display().to_string(), text));
        }
    }
    all.sort();
    all
}

// rows: AU-01, AU-04
#[test]
fn an_empty_project_has_four_empty_keys() {
    let text = serde_json::to_string(&Fixture::new().audit()).unwrap();
    let empty = r#"{"violations":[],"loops":[],"total_tasks":0,"untracked_tasks":0}"#;
    assert_eq!(text, empty);
}

// rows: AU-01, AU-05, AU-06, AU-08, AU-12, AU-13, U-29, Q-38
#[test]
fn emits_violations_array() {
    let mut fixture = Fixture::new();
    fixture.task("z-late", Phases::default());
    fixture.move_to("z-late", "spec");
    fixture.task("ok", Phases::default());
    fixture.file("a-bare/SPEC.md", "");
    fixture.file("broken/task.json", "{\n oops");
    let facts = fixture.a_loop("b", &State::new());
    facts.missing_prompts = vec![("verify".to_owned(), "v.md".to_owned())];
    fixture.a_loop("a", &State::new()).invalid = Some("loop.json:3:1: oops".to_owned());

    let report = fixture.json();
    assert_eq!(report["total_tasks"], 4);
    assert_eq!(report["untracked_tasks"], 1);
    let place = fixture.dir.path().join("tasks/broken/task.json");
    assert_eq!(
        report["violations"],
        json!([
            {
                "severity": "high", "code": "invalid_loop",
                "message": "loop a has a loop.json that cannot be used",
                "detail": "loop.json:3:1: oops"
            },
            {
                "severity": "high", "code": "invalid_task", "task": "broken",
                "message": "task broken has a record that cannot be used",
                "detail": format!("{}:2:2: key must be a string", place.display())
            },
            {
                "severity": "high", "code": "missing_artifact", "task": "z-late",
                "message": "task z-late has no RESEARCH.md, which phase research leaves"
            },
            {
                "severity": "med", "code": "untracked_task", "task": "a-bare",
                "message": "task a-bare has no task.json"
            },
            {
                "severity": "low", "code": "prompt_missing",
                "message": "loop b has no prompt v.md for verify"
            },
        ])
    );
}

// rows: AU-12, U-29
#[test]
fn a_task_lacks_the_documents_of_the_phases_behind_it() {
    let fixture = Fixture::new();
    fixture.task("t", Phases::default());
    assert_eq!(fixture.found(), []);
    fixture.move_to("t", "spec");
    let missing = || [("missing_artifact".to_owned(), Some("t".to_owned()))];
    assert_eq!(fixture.found(), missing());
    fixture.move_to("t", "human_intervention");
    assert_eq!(fixture.found(), missing(), "where it was counts");
    fixture.file("t/RESEARCH.md", "");
    assert_eq!(fixture.found(), []);

    let own = Phases {
        list: vec!["spec".to_owned(), "implement".to_owned()],
        approval: Vec::new(),
    };
    fixture.task("own", own);
    fixture.move_to("own", "implement");
    fixture.move_to("own", "complete");
    assert_eq!(
        fixture.found(),
        [],
        "a list of its own asks for no documents"
    );

    let record = fixture.dir.path().join("tasks/own/task.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(
        &record,
        text.replace("\"phase\": \"complete\"", "\"phase\": \"gone\""),
    )
    .unwrap();
    assert_eq!(
        fixture.found(),
        [("invalid_task".to_owned(), Some("own".to_owned()))]
    );
}

// rows: AU-07, Q-39
#[test]
fn includes_loops_block() {
    let mut fixture = Fixture::new();
    let mut state = State::new();
    state.status = Status::HumanIntervention;
    state.reason = Some(Halt::ScorePlateau);
    state.current_task = Some("t".to_owned());
    state.current_phase = Some("spec".to_owned());
    let progress = Progress {
        iteration: 3,
        ..Progress::default()
    };
    state.progress.insert("t".to_owned(), progress);
    fixture.a_loop("b", &state);
    fixture.a_loop("a", &State::new());
    let report = fixture.json();
    assert_eq!(
        report["loops"],
        json!([
            {
                "name": "a", "status": "active", "paused": false, "current_task": null,
                "current_phase": null, "iteration": 0, "last_score": null, "reason": null
            },
            {
                "name": "b", "status": "human_intervention", "paused": false,
                "current_task": "t", "current_phase": "spec", "iteration": 3,
                "last_score": null, "reason": "score_plateau"
            },
        ])
    );
    assert_eq!(
        report["violations"],
        json!([]),
        "how a loop is doing is no violation"
    );
}

// rows: AU-13, AU-14
#[test]
fn the_audit_is_read_only_and_says_the_same_twice() {
    let mut fixture = Fixture::new();
    for name in ["c", "a", "b"] {
        fixture.task(name, Phases::default());
        fixture.move_to(name, "spec");
    }
    fixture.file("bare/x", "");
    fixture.a_loop("l", &State::new());
    let before = tree(fixture.dir.path());
    let first = serde_json::to_string(&fixture.audit()).unwrap();
    assert_eq!(serde_json::to_string(&fixture.audit()).unwrap(), first);
    assert_eq!(tree(fixture.dir.path()), before);
    assert!(!first.contains('\n'));
}

// rows: AU-02, AU-03, Q-40
#[test]
fn pickable_by_runner_run_json() {
    let fixture = Fixture::new();
    fixture.file("bare/x", "");
    let report = fixture.audit();
    let stdout = format!(
        "warning: noise\n{}\n",
        serde_json::to_string(&report).unwrap()
    );
    assert_eq!(Violation::read_all(&stdout).unwrap(), report.violations);
}

// rows: S-19
#[test]
fn what_cannot_be_looked_at_is_an_error() {
    let fixture = Fixture::new();
    fs::write(fixture.dir.path().join("tasks"), "not a folder").unwrap();
    assert!(audit(&fixture.tasks, &[]).is_err());
}

// rows: S-08, S-09, S-10, S-12
#[test]
fn the_audit_source_picks_the_worst_violation() {
    let mut fixture = Fixture::new();
    fixture.task("t-high", Phases::default());
    fixture.move_to("t-high", "spec");
    fixture.file("a-med/SPEC.md", "");
    let facts = fixture.a_loop("b", &State::new());
    facts.missing_prompts = vec![("verify".to_owned(), "v.md".to_owned())];
    assert_eq!(fixture.next_task(), "t-high");
    assert_eq!(
        fixture.json()["total_tasks"],
        2,
        "no new task folder appeared"
    );
}

// rows: S-13, S-14, S-15, S-29
#[test]
fn a_violation_without_a_task_makes_one_and_does_not_feed_on_it() {
    let mut fixture = Fixture::new();
    fixture.a_loop("b", &State::new()).invalid = Some("loop.json:1:1: EOF".to_owned());
    let message = fixture.audit().violations[0].message.clone();
    assert_eq!(fixture.next_task(), slugify(&message));
    let record = fixture.tasks.read(&slugify(&message)).unwrap().unwrap();
    assert_eq!(record.phase, "research");
    let brief = fixture.tasks.brief(&record.name).unwrap().unwrap();
    assert!(brief.contains(&message) && brief.contains("loop.json:1:1: EOF"));

    fixture.loops[0].invalid = Some("loop.json:7:7: another fault".to_owned());
    assert_eq!(
        fixture.next_task(),
        slugify(&message),
        "the same task as long as it is broken"
    );
    assert_eq!(fixture.found().len(), 1);
    assert_eq!(fixture.json()["total_tasks"], 1);

    fixture.loops[0].invalid = None;
    assert_eq!(fixture.next(), Next::Nothing(Skip::NoWork));
}
