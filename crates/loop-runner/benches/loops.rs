//! How long it takes to look at a thousand loops.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use loop_core::state::State;
use loop_runner::home::Home;
use loop_runner::project::Project;
use loop_runner::setup::read_config;
use loop_runner::store::{LoopDir, read_state};
use std::fs;
use std::hint::black_box;
use std::time::Instant;

const LOOPS: usize = 1000;
const SAMPLES: usize = 9;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("home"));
    let project = Project::at(dir.path(), &home).unwrap();
    for n in 0..LOOPS {
        make(&project, &format!("l{n:04}"));
    }
    let fastest = (0..SAMPLES).map(|_| list(&project)).min_by(f64::total_cmp);
    println!("{LOOPS} loops read: {:.1} ms", fastest.unwrap());
}

/// Makes a loop with a cache of its state and a log, the last record of which is
/// in it.
fn make(project: &Project, name: &str) {
    let dir = LoopDir::new(project.loop_dir(name));
    fs::create_dir_all(dir.root()).unwrap();
    let config = format!(r#"{{"name": "{name}", "roles": {{}}}}"#);
    fs::write(dir.root().join("loop.json"), config).unwrap();
    let log = vec![b'\n'; 64 * 1024];
    fs::write(dir.events(), &log).unwrap();
    let mut state = State::new();
    state.recent_controls = vec!["0123456789abcdef".to_owned(); 64];
    let mut cache = serde_json::to_value(state).unwrap();
    cache["seq"] = 1.into();
    cache["end"] = log.len().into();
    fs::write(dir.cache(), cache.to_string()).unwrap();
}

/// Returns how many milliseconds it took.
fn list(project: &Project) -> f64 {
    let started = Instant::now();
    for name in project.loops().unwrap() {
        black_box(read_config(project, &name).unwrap());
        black_box(read_state(&LoopDir::new(project.loop_dir(&name))).unwrap());
    }
    started.elapsed().as_secs_f64() * 1000.0
}
