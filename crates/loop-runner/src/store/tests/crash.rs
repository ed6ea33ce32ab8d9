//! The process dies at every point, and the next one goes on.
//!
//! The test binary runs itself again with one point armed; what that process
//! leaves is then opened here.

use super::model::check_replays;
use super::rig::{ENGINE, Rig, SECOND, control, perform, rules};
use crate::fault;
use crate::nonce::random_bits;
use crate::store::file::DRAFT;
use crate::store::{Held, SubmitError, read_state, submit};
use loop_core::Step;
use loop_core::answer::{Reading, StepAnswer};
use loop_core::control::Request;
use loop_core::outcome::{Interruption, Outcome};
use loop_core::record::{Body, Record};
use loop_core::state::State;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// The variable that makes [`child`] more than an empty test.
const LOOP: &str = "STORE_TEST_LOOP";
const SIGABRT: i32 = 6;
/// The ticks that a history has.
const TICKS: u64 = 3;

/// Leaves a loop as the worst crash would: an older engine died in implement,
/// the log is torn, and the inbox holds something that cannot be read.
fn wreck() -> Rig {
    let rig = Rig::new();
    let mut held = Held::open(&rig.dir, "0.9.0", rig.clock(), || Ok(())).unwrap();
    held.start(rules()).unwrap();
    while held.machine().action().unwrap().step() != Step::Implement {
        perform(&mut held, 0);
    }
    held.begin().unwrap();
    drop(held);
    let mut log = OpenOptions::new()
        .append(true)
        .open(rig.dir.events())
        .unwrap();
    log.write_all(b"{\"v\":1,\"seq\":").unwrap();
    std::fs::create_dir(rig.dir.control()).unwrap();
    std::fs::write(rig.dir.control().join("0.json"), "?").unwrap();
    rig
}

/// Drives a loop from wherever it is to the end of its last tick.
fn drive(rig: &Rig) {
    for (id, request) in [("pause", Request::Pause), ("resume", Request::Resume)] {
        submit(&rig.dir.control(), &control(id, request)).unwrap();
    }
    let mut held = Held::open(&rig.dir, ENGINE, rig.clock(), || Ok(())).unwrap();
    held.grown = 1;
    for _ in 0..500 {
        rig.clock.advance(SECOND);
        held.drain().unwrap();
        let tick = held.machine().state().tick;
        match held.machine().action().map(|action| action.step()) {
            None if tick == TICKS => return,
            None => held.start(rules()).unwrap(),
            Some(Step::Orchestrate) => {
                if !held.machine().begun() {
                    held.begin().unwrap();
                }
                ask(rig, tick);
                held.drain().unwrap();
                perform(&mut held, 0);
            }
            // A verdict that fails keeps the task where it is.
            Some(Step::Verify) if tick == TICKS => {
                perform(&mut held, 5);
            }
            Some(_) => {
                perform(&mut held, 0);
            }
        }
    }
    panic!("the history does not end");
}

/// Makes orchestrate's request.
fn ask(rig: &Rig, tick: u64) {
    let request = Request::Transition {
        tick,
        task: "t1".to_owned(),
        to: None,
    };
    let left = submit(&rig.dir.control(), &control(&format!("o{tick}"), request));
    assert!(matches!(
        left,
        Ok(_) | Err(SubmitError::AlreadyRequested { .. })
    ));
}

/// Is run by the other tests, in a process of its own.
#[test]
fn child() {
    if let Some(root) = std::env::var_os(LOOP) {
        drive(&Rig::at(root));
    }
}

/// Lets a process die at a point; returns whether it got there.
fn dies_at(rig: &Rig, point: &str, passage: u32) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::tests::crash::child"])
        .env(LOOP, rig.dir.root())
        .env(fault::VARIABLE, format!("{point}:{passage}"))
        .current_dir(rig.dir.root())
        .output()
        .unwrap();
    let died = output.status.signal() == Some(SIGABRT);
    assert!(
        died || output.status.success(),
        "{point}:{passage}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    died
}

/// What there is of orchestrate's request of tick 2.
#[derive(Clone, Copy, Debug)]
struct Asking {
    /// Its orchestrate was begun.
    begun: bool,
    /// It waits in the inbox, or was taken in.
    left: bool,
}

impl Asking {
    fn of(rig: &Rig) -> Self {
        let is = |body: &Body| match body {
            Body::Began { tick, fence, .. } => (*tick, fence.step) == (Some(2), Step::Orchestrate),
            _ => false,
        };
        let taken = |body: &Body| matches!(body, Body::Control(it) if it.control.id == "o2");
        let records = rig.records();
        let any = |is: &dyn Fn(&Body) -> bool| records.iter().any(|record| is(&record.body));
        Self {
            begun: any(&is),
            left: any(&taken)
                || rig
                    .control_files()
                    .contains(&"orchestrate-2.json".to_owned()),
        }
    }

    /// Whether the request is among the records in the end. Who died between the
    /// two has not asked, and is not called again.
    fn expected(death: Option<Self>, end: Self) -> bool {
        match death {
            Some(death) if death.begun => death.left,
            _ => end.begun,
        }
    }
}

/// What a history spends, counted here and from its records alone.
#[derive(Debug, Default, PartialEq)]
struct Spending {
    ticks: u64,
    calls: u64,
    wall_ms: u64,
    /// Attempts of the task since it passed.
    iteration: u32,
    /// Its failing verdicts since.
    scores: usize,
}

impl Spending {
    fn of(records: &[Record]) -> Self {
        let mut spent = Self::default();
        for record in records {
            match &record.body {
                Body::Opened(_) => spent.ticks += 1,
                Body::Began { fence, .. } => {
                    let role = matches!(
                        fence.step,
                        Step::Implement | Step::Verify | Step::Orchestrate
                    );
                    spent.calls += u64::from(role);
                    spent.iteration += u32::from(fence.step == Step::Implement);
                }
                Body::Answer(answered) => {
                    spent.wall_ms += answered.elapsed_ms;
                    if let StepAnswer::Verify(verified) = &answered.answer
                        && let Reading::Verdict(verdict) = &verified.reading
                    {
                        if verdict.pass {
                            (spent.iteration, spent.scores) = (0, 0);
                        } else {
                            spent.scores += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        spent
    }

    fn told(state: &State) -> Self {
        let progress = state.progress_of("t1");
        Self {
            ticks: state.spent.ticks,
            calls: state.spent.used.unpriced_calls,
            wall_ms: state.spent.wall_ms,
            iteration: progress.iteration,
            scores: progress.scores.len(),
        }
    }
}

/// Checks a whole history; `death` is what there was of orchestrate's request
/// when the process died, if it did.
fn check(rig: &Rig, death: Option<Asking>, at: &str) {
    let records = rig.records();
    assert!(
        records
            .iter()
            .zip(1..)
            .all(|(record, seq)| record.seq == seq),
        "{at}: no gaps"
    );
    check_replays(&records);
    let count = |is: &dyn Fn(&Body) -> bool| {
        records
            .iter()
            .filter(|Record { body, .. }| is(body))
            .count()
    };
    let closed = count(&|body| matches!(body, Body::Closed(_)));
    assert_eq!(closed as u64, TICKS, "{at}: each tick is closed once");
    let asked = Asking::expected(death, Asking::of(rig));
    for (id, times) in [("pause", 1), ("resume", 1), ("o2", usize::from(asked))] {
        let taken = count(&|body| matches!(body, Body::Control(it) if it.control.id == id));
        assert_eq!(taken, times, "{at}: {id}");
    }
    let healed = count(&|body| matches!(body, Body::Healed { .. }));
    assert!(healed >= 1, "{at}: the log was torn");
    for record in &records {
        let Body::Began { tick, fence, .. } = &record.body else {
            continue;
        };
        let begun = count(&|body| matches!(body, Body::Began { fence: it, .. } if it == fence));
        let ended = count(&|body| matches!(body, Body::Answer(it) if it.fence == *fence));
        // What the other engine was at has no answer: the tick was closed.
        let lost = *tick == Some(1) && fence.step == Step::Implement;
        let expected = (1, usize::from(!lost));
        assert_eq!((begun, ended), expected, "{at}: {fence:?}");
    }
    let state = read_state(&rig.dir).unwrap().state;
    assert_eq!(
        Spending::told(&state),
        Spending::of(&records),
        "{at}: nothing is counted twice, and nothing is lost"
    );
    assert!(!state.paused, "{at}");
    assert_eq!((state.tick, state.in_progress), (TICKS, None), "{at}");
    check_files(rig, at);
}

/// Checks that nothing is left behind that a loop at rest does not have.
fn check_files(rig: &Rig, at: &str) {
    let waiting = rig.control_files();
    let mut waiting = waiting.iter().filter(|name| !name.starts_with('.'));
    assert_eq!(waiting.next(), None, "{at}");
    let aside = std::fs::read_dir(rig.dir.control_bad()).unwrap();
    let aside = aside.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let aside: Vec<_> = aside.collect();
    assert!(
        matches!(&aside[..], [one] if one.starts_with("0.json.")),
        "{at}: {aside:?}"
    );
    let names = std::fs::read_dir(rig.dir.root()).unwrap();
    for name in names.map(|entry| entry.unwrap().file_name()) {
        let name = name.into_string().unwrap();
        assert_ne!(name, "events.jsonl.new", "{at}");
        assert!(!name.starts_with(DRAFT), "{at}: {name}");
    }
    let lock = std::fs::File::open(rig.dir.lock()).unwrap();
    assert!(lock.try_lock().is_ok(), "{at}: nobody holds the lock");
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    for process in processes.map(|entry| entry.unwrap().path()) {
        let works_here = std::fs::read_link(process.join("cwd"));
        let works_here = works_here.is_ok_and(|cwd| cwd == rig.dir.root());
        assert!(!works_here, "{at}: {} is left", process.display());
    }
}

/// Lets a process die at a passage, goes on, and checks the history; returns
/// whether it got there.
fn kill(point: &str, passage: u32) -> bool {
    let at = format!("{point}:{passage}");
    let rig = wreck();
    let died = dies_at(&rig, point, passage);
    let death = died.then(|| {
        read_state(&rig.dir).unwrap_or_else(|error| panic!("{at}: {error}"));
        let death = Asking::of(&rig);
        drive(&rig);
        death
    });
    check(&rig, death, &at);
    died
}

/// Lets a process die at every point whose name starts so.
fn sweep(prefixes: &[&str], passages: &[u32]) {
    let of = |point: &&&str| prefixes.iter().any(|prefix| point.starts_with(prefix));
    for point in fault::POINTS.iter().filter(of) {
        for passage in passages {
            let died = kill(point, *passage);
            assert!(died || *passage > 1, "{point} is never passed");
        }
    }
}

// rows: L-06, L-07, L-09
// cases: 55, 107
#[test]
fn a_death_while_opening_is_made_good() {
    sweep(&["open."], &[1]);
}

// rows: L-06, L-07
// cases: 55, 107
#[test]
fn a_death_around_a_write_is_made_good() {
    sweep(&["append.", "cache."], &[1, 3, 8]);
}

// rows: L-07
// cases: 55
#[test]
fn a_death_around_a_step_is_made_good() {
    sweep(&["step."], &[1, 2, 4]);
}

// cases: 55
#[test]
fn a_death_around_a_request_is_made_good() {
    sweep(&["submit.", "drain."], &[1, 2]);
}

// cases: 55, 107
#[test]
fn a_death_while_a_tick_is_closed_is_made_good() {
    sweep(&["close.", "growth."], &[1, 2]);
}

/// The variable that says how many random deaths there are, and how many there
/// are without it.
const KILLS: (&str, u64) = ("LOOP_KILLS", 4);
/// The variable that makes a run like an earlier one.
const SEED: &str = "LOOP_KILLS_SEED";
/// The latest passage that is tried; a point that is passed less often is tried
/// at an earlier one.
const LAST_PASSAGE: u64 = 16;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

// rows: L-06, L-07, L-09
// cases: 55, 107
#[test]
fn a_death_anywhere_is_made_good() {
    let (variable, few) = KILLS;
    let kills = number(variable).unwrap_or(few);
    let seed = number(SEED).unwrap_or_else(random_bits);
    println!("{SEED}={seed} {variable}={kills}");
    let mut random = seed;
    let mut below = |end: u64| {
        // Knuth's linear congruential generator; its high bits are good enough.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    for _ in 0..kills {
        let point = fault::POINTS[below(fault::POINTS.len() as u64) as usize];
        let mut passage = below(LAST_PASSAGE) + 1;
        // Every point is passed once at least.
        while !kill(point, passage as u32) {
            passage = below(passage) + 1;
        }
    }
}

// rows: L-07, L-09
#[test]
fn a_tick_that_was_cut_short_in_implement_spends_its_iteration() {
    let rig = wreck();
    let asked = std::cell::Cell::new(false);
    let held = Held::open(&rig.dir, ENGINE, rig.clock(), || {
        asked.set(true);
        Ok(())
    });
    let held = held.unwrap();
    assert!(asked.get(), "what is left of the step is ended first");
    let ended = held.machine().ended().unwrap();
    assert_eq!(ended.outcome, Outcome::Interrupted(Interruption::Crash));
    assert_eq!(held.machine().state().progress_of("t1").iteration, 1);
    assert!(held.machine().action().is_none());
}
