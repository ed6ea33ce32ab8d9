//! What others do with the loop of a run while it is at work.

use super::{GATE, planned};
use crate::support::{Running, World, wait_for};
use rustix::process::Signal;
use std::fs::File;

/// Starts a run, and takes the loop's lock between its first two passes, as a tick
/// of somebody else's would.
fn run_and_lock(world: &World) -> (Running, File) {
    let running = world.start(["run"]);
    wait_for(&world.rec("taken/implement.1"));
    let lock = File::open(world.data("loops/run/.lock")).unwrap();
    lock.lock().unwrap();
    (running, lock)
}

// rows: G-20
#[test]
fn another_tick_of_its_loop_is_waited_for() {
    let world = planned(GATE);
    world.role(
        "implement",
        "[ \"$n\" != 3 ] || echo x >done; echo \"$n\" >>work.txt; sleep 0.2",
    );
    let (running, lock) = run_and_lock(&world);
    assert!(world.count("implement") < 3);
    drop(lock);
    let ran = running.wait().rc(0);
    assert!(ran.out.contains("outcome: green\n"), "{ran:#?}");
}

// rows: G-20, G-24
#[test]
fn a_run_that_waits_for_another_tick_can_be_ended() {
    let world = planned(GATE);
    world.role("implement", "echo \"$n\" >>work.txt; sleep 0.2");
    let (running, lock) = run_and_lock(&world);
    running.signal(Signal::TERM);
    let ran = running.wait();
    assert!(ran.out.contains("outcome: aborted\n"), "{ran:#?}");
    drop(lock);
}
