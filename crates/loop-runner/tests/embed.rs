//! Another program drives a loop, with a work source of its own.

#![allow(clippy::unwrap_used)] // a test may panic

use loop_core::outcome::Outcome;
use loop_core::phase::Phases;
use loop_core::step::WorkTask;
use loop_core::task::Origin;
use loop_core::time::Timestamp;
use loop_runner::clock::SystemClock;
use loop_runner::driver;
use loop_runner::home::Home;
use loop_runner::interrupt::Interrupt;
use loop_runner::project::Project;
use loop_runner::setup::{Setup, Surroundings};
use loop_runner::tasks::{NewTask, Tasks};
use loop_runner::watch::NoWatch;
use loop_worksource::{Finish, Found, Item, LoopView, Next, SourceError, Surveyed, WorkSource};
use std::fs;
use std::sync::Arc;

/// A source that always has the same task.
#[derive(Debug)]
struct Always(&'static str);

impl WorkSource for Always {
    fn next(
        &self,
        view: &LoopView,
        project: &mut dyn loop_worksource::Project,
    ) -> Result<Next, SourceError> {
        let record = project.adopt(self.0, view).unwrap().unwrap();
        Ok(Next::Found(Box::new(Found {
            task: WorkTask {
                name: record.name.clone(),
                phase: Some(record.phase.clone()),
                phases: record.phases(),
                item: None,
            },
            item: Item::new(self.0, "a title", "", Origin::person()),
        })))
    }

    fn survey(
        &self,
        _view: &LoopView,
        _project: &mut dyn loop_worksource::Project,
    ) -> Result<Vec<Surveyed>, SourceError> {
        Ok(Vec::new())
    }

    fn finish(
        &self,
        _item: &Item,
        _project: &mut dyn loop_worksource::Project,
    ) -> Result<Finish, SourceError> {
        Ok(Finish::Nothing)
    }
}

// rows: W-05
#[test]
fn a_source_of_the_embedders_own_gives_the_loop_its_work() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::new(root.path().join("home"));
    let folder = root.path().join("project");
    fs::create_dir_all(folder.join(".automaton/loops/l")).unwrap();
    let script = r#"case $AUTOMATON_ROLE in
        implement) echo work > work.txt; echo did it ;;
        verify) test -s work.txt && echo '{"pass":true,"score":1}' ;;
    esac"#;
    let config = serde_json::json!({
        "name": "l",
        "roles": {},
        "harness": {"command": ["sh", "-c", script]},
        "phases": ["implement"],
        "approval_phases": [],
    });
    fs::write(
        folder.join(".automaton/loops/l/loop.json"),
        config.to_string(),
    )
    .unwrap();
    let project = Project::at(&folder, &home).unwrap();
    let tasks = Tasks::new(project.data());
    let task = NewTask {
        name: "theirs",
        title: "Theirs",
        brief: None,
        phases: Phases::default(),
        origin: Origin::person(),
        at: Timestamp::default(),
    };
    tasks.create(&task).unwrap();
    let around = Surroundings {
        home,
        project,
        clock: Arc::new(SystemClock::new()),
        environment: std::env::vars_os().collect(),
    };
    let mut setup = Setup::read(&around, "l").unwrap();
    setup.source = Box::new(Always("theirs"));
    loop_runner::trust::trust(&setup, "the embedder").unwrap();
    let ticked = driver::tick(&setup, &Interrupt::new(), &mut NoWatch);
    assert_eq!(ticked.ended.outcome, Outcome::Pass, "{ticked:#?}");
    assert_eq!(ticked.ended.task.as_deref(), Some("theirs"));
    assert_eq!(tasks.read("theirs").unwrap().unwrap().phase, "complete");
}
