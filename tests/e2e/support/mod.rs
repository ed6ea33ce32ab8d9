//! A world of its own for every test: home, project, agents and their records.

mod call;
mod config;
mod repository;
mod run;
mod world;

pub(crate) use call::Call;
pub(crate) use config::{default_loop, verdict};
pub(crate) use run::{Run, Running};
pub(crate) use world::World;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before the test says that it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `done` gives something, and fails when it never does.
pub(crate) fn wait_until<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(done) = done() {
            return done;
        }
        assert!(started.elapsed() < PATIENCE, "waited too long: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for a file, and returns its text.
pub(crate) fn wait_for(path: &Path) -> String {
    wait_until(&format!("{} appears", path.display()), || {
        std::fs::read_to_string(path).ok()
    })
}
