//! How long a long backlog takes.

use loop_core::phase::Phases;
use loop_core::task::Task;
use loop_core::time::Timestamp;
use loop_worksource::{
    Backlog, Level, LoopView, NewTask, Next, Program, Project, ProjectError, Ran, SourceOptions,
    TaskFacts, Violation, WorkSource, Written,
};
use std::collections::{BTreeMap, BTreeSet};

fn main() {
    divan::main();
}

/// A project that holds one file and no tasks.
struct OneFile(String);

impl Project for OneFile {
    fn read(&mut self, _: &str) -> Result<Option<Vec<u8>>, ProjectError> {
        Ok(Some(self.0.clone().into_bytes()))
    }

    fn replace(&mut self, _: &str, _: &[u8], _: &[u8]) -> Result<Written, ProjectError> {
        Ok(Written::Changed)
    }

    fn task_names(&mut self) -> Result<Vec<String>, ProjectError> {
        Ok(Vec::new())
    }

    fn task(&mut self, _: &str) -> Result<Option<TaskFacts>, ProjectError> {
        Ok(None)
    }

    fn create(&mut self, _: &NewTask, _: &LoopView) -> Result<(), ProjectError> {
        Ok(())
    }

    fn claim(&mut self, _: &str, _: &LoopView) -> Result<Option<String>, ProjectError> {
        Ok(None)
    }

    fn adopt(&mut self, _: &str, _: &LoopView) -> Result<Option<Task>, ProjectError> {
        Ok(None)
    }

    fn violations(&mut self) -> Result<Vec<Violation>, ProjectError> {
        Ok(Vec::new())
    }

    fn run(&mut self, program: &Program) -> Result<Ran, ProjectError> {
        Err(ProjectError {
            what: format!("{:?} is not run here", program.argv),
        })
    }

    fn note(&mut self, _: Level, _: &str) {}
}

/// Finds the last of many items, the only open one.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn next(bencher: divan::Bencher<'_, '_>, items: usize) {
    let mut text = String::from("# Plan\n\n");
    for i in 1..items {
        text.push_str(&format!("- [x] **task-{i}** and what it is about\n"));
    }
    text.push_str("- [ ] **last** one\n");
    let options = SourceOptions {
        area: Some("plan".to_owned()),
        ..SourceOptions::default()
    };
    let source = Backlog::new(&options).expect("`plan` is an area");
    let view = LoopView {
        name: "l".to_owned(),
        current_task: None,
        phases: Phases::default(),
        parked: BTreeMap::new(),
        finished: BTreeSet::new(),
        at: Timestamp::default(),
    };
    bencher.bench_local(|| {
        let found = source.next(&view, &mut OneFile(text.clone()));
        assert!(matches!(found, Ok(Next::Found(_))));
    });
}
