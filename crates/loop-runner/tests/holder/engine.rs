//! Engines and holders that are killed, and the lock that tells.

use crate::{
    runner::tests,
    support::{Yard, exited, kill, wait_until},
};
use loop_runner::holder::{Stale, StaleError, StartError, Wish, end_stale, spawn};
use std::{
    fs::{self, File},
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

tests![
    nothing_outlives_a_killed_engine,
    second_step_waits_for_the_first,
    lock_is_not_inherited,
    nothing_outlives_a_killed_holder,
    only_what_the_killed_holder_held_is_ended,
    holder_whose_engine_is_gone_starts_nothing,
    hung_holder_is_ended_by_the_next_engine,
    healthy_holder_of_a_lost_engine_is_ended,
    innocent_processes_are_left_alone,
    without_a_holder_a_group_is_ended,
    terminal_interrupt_does_not_reach_the_command,
];

/// Longer than an idle lock can look held by accident.
const PATIENCE: Duration = Duration::from_millis(500);

/// Two sessions of their own, then a loop in the child's.
const BUSY: &str = "setsid sh -c 'setsid sleep 600 & setsid sleep 600' & touch ready; \
    while :; do date >> growing; sleep 0.02; done";

// cases: 46, 47
fn nothing_outlives_a_killed_engine() {
    let yard = Yard::new();
    let mut engine = yard.engine("engine", BUSY);
    yard.wait_for("ready");
    engine.kill();
    yard.wait_until_deserted();
    wait_until("the lock is free", || {
        File::open(yard.path("step.lock"))
            .unwrap()
            .try_lock()
            .is_ok()
    });
}

// rows: L-09
fn second_step_waits_for_the_first() {
    let yard = Yard::new();
    let first = spawn(&yard.shell("touch ready; sleep 600")).unwrap();
    let mut second = yard.shell("touch second");
    second.lock_patience = Duration::from_millis(50);
    let holder = yard.holder();
    assert!(matches!(
        spawn(&second),
        Err(StartError::StepAlive { pid: Some(pid) }) if pid == holder
    ));
    assert!(!yard.path("second").exists());

    first.wait(|| Wish::Kill).unwrap();
    // The lock is given back before the end is told.
    assert!(
        File::open(yard.path("step.lock"))
            .unwrap()
            .try_lock()
            .is_ok()
    );
    second.lock_patience = Duration::from_secs(5);
    assert_eq!(yard.finish(&second).how, exited(0));
    assert!(yard.path("second").exists());
}

fn lock_is_not_inherited() {
    let yard = Yard::new();
    // Of our files the child has the pipes only.
    yard.run("ls -l /proc/$$/fd");
    let open = yard.read("out");
    assert!(open.contains(" 1 -> pipe:"), "{open}");
    assert!(
        !open.contains(&yard.path("").display().to_string()),
        "{open}"
    );
}

// rows: L-09, D-22; cases: 46, 47
fn nothing_outlives_a_killed_holder() {
    let yard = Yard::new();
    let script = "(while :; do sleep 0.02; done) & \
        setsid sh -c 'setsid sleep 600 & touch ready; sleep 600' & \
        while ! [ -e ready ]; do sleep 0.02; done; kill -9 $PPID; sleep 600";
    let mut engine = yard.engine("engine", script);
    let said = engine.say();
    assert!(said.starts_with("Err(HolderLost"), "{said}");
    yard.assert_deserted();
    assert_eq!(engine.say(), "childless: true");
    // The kernel has freed the lock.
    assert_eq!(yard.run("true").how, exited(0));
}

// rows: D-22
fn only_what_the_killed_holder_held_is_ended() {
    let yard = Yard::new();
    let script = "setsid sh -c 'touch ready; sleep 600' & \
        while ! [ -e ready ]; do sleep 0.02; done; kill -9 $PPID; sleep 600";
    let mut engine = yard.engine("engine-of-two", script);
    let said = engine.say();
    assert!(said.starts_with("Err(HolderLost"), "{said}");
    assert_eq!(engine.say(), "other step: Ok(Exited(3))");
    assert_eq!(engine.say(), "own child: None");
}

// rows: D-22
fn holder_whose_engine_is_gone_starts_nothing() {
    for stopped in [false, true] {
        let yard = Yard::new();
        // Another step has the lock while the engine dies.
        let lock = File::create(yard.path("step.lock")).unwrap();
        lock.lock().unwrap();
        let mut engine = yard.engine("engine", "touch started");
        let holder = wait_for_child(engine.pid());
        wait_until("the holder has a session", || {
            session(holder) == Some(holder)
        });
        if stopped {
            // It will get the lock before it can notice the death.
            kill(holder, "STOP");
        }
        engine.kill();
        if stopped {
            drop(lock);
            kill(holder, "CONT");
        }
        wait_until("the holder is gone", || session(holder).is_none());
        assert!(!yard.path("started").exists());
    }
}

fn hung_holder_is_ended_by_the_next_engine() {
    let yard = Yard::new();
    let script = format!("trap 'touch asked; exit' TERM; {BUSY}");
    let mut engine = yard.engine("engine", &script);
    yard.wait_for("ready");
    let holder = yard.holder();
    kill(holder, "STOP");
    engine.kill();
    // A stopped holder does nothing by itself; made to go on, it gives grace.
    let stale = end_stale(&yard.path("step.lock"), 2 * PATIENCE).unwrap();
    assert_eq!(stale, Stale::Ended { pid: holder });
    yard.assert_deserted();
    assert!(yard.path("asked").exists());
}

fn healthy_holder_of_a_lost_engine_is_ended() {
    let yard = Yard::new();
    let stubborn = "trap '' TERM; touch ready; while :; do sleep 0.02; done";
    let mut engine = yard.engine("engine", stubborn);
    yard.wait_for("ready");
    let holder = yard.holder();
    engine.kill();
    // The holder is waiting for its grace of ten seconds.
    let stale = end_stale(&yard.path("step.lock"), PATIENCE).unwrap();
    assert_eq!(stale, Stale::Ended { pid: holder });
    yard.assert_deserted();
    assert_eq!(
        end_stale(&yard.path("step.lock"), PATIENCE).unwrap(),
        Stale::Gone
    );
    assert_eq!(
        end_stale(&yard.path("absent"), PATIENCE).unwrap(),
        Stale::Gone
    );
}

fn innocent_processes_are_left_alone() {
    let yard = Yard::new();
    let mut innocent = Command::new("sleep").arg("600").spawn().unwrap();
    let mut lock = File::create(yard.path("step.lock")).unwrap();
    lock.lock().unwrap();
    let pid = innocent.id();
    // A number that was used again, and an engine that is more than a holder.
    for text in [format!("holder {pid} 1\n"), format!("engine {pid}\n")] {
        lock.set_len(0).unwrap();
        lock.write_all(text.as_bytes()).unwrap();
        let error = end_stale(&yard.path("step.lock"), Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, StaleError::Alive { .. }), "{error}");
    }
    assert_eq!(innocent.try_wait().unwrap(), None);
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

fn without_a_holder_a_group_is_ended() {
    for orphan in ["sleep 600", "sleep 600 >&- 2>&-"] {
        let yard = Yard::new();
        let script = format!("{orphan} & echo $PPID > parent; exit 5");
        let mut engine = yard.engine("engine-without-holder", &script);
        assert_eq!(engine.say(), "Ok(Exited(5))", "{orphan}");
        // Init reaps them, when it comes to it.
        yard.wait_until_deserted();
        assert_eq!(yard.read("parent"), format!("{}\n", engine.pid()));
        assert_eq!(yard.read("step.lock"), format!("engine {}\n", engine.pid()));
    }
}

// cases: 46
fn terminal_interrupt_does_not_reach_the_command() {
    let yard = Yard::new();
    // What the terminal's Ctrl-C does: a signal to the engine's whole group.
    let script = "touch ready; while ! [ -e go ]; do sleep 0.02; done; exit 6";
    let mut engine = yard.engine("engine", script);
    yard.wait_for("ready");
    assert_ne!(session(yard.holder()), session(engine.pid()));
    fs::write(yard.path("go"), "").unwrap();
    assert_eq!(engine.say(), "Ok(Exited(6))");
}

fn wait_for_child(parent: u32) -> u32 {
    let mut child = None;
    wait_until("there is a child", || {
        let output = Command::new("ps")
            .args(["-o", "pid=", "--ppid", &parent.to_string()])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        child = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        child.is_some()
    });
    child.unwrap()
}

/// Returns the session of a living process.
fn session(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // Whoever is to reap a zombie may take a while.
    fields.get(3).filter(|_| fields[0] != "Z")?.parse().ok()
}
