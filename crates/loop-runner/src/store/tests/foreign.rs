//! Ticks that another version of the engine opened.

use super::rig::{ENGINE, Rig, SECOND, control, perform, rules, whole_tick};
use crate::store::{Held, read_state};
use loop_core::Step;
use loop_core::control::Request;
use loop_core::outcome::{Interruption, Outcome};
use loop_core::record::{Body, Requested};
use std::cell::Cell;

/// The version that opened the tick.
const OTHER: &str = "99.0.0";

/// Leaves a tick of another version at a step.
fn left_at(step: Step, begun: bool) -> Rig {
    let rig = Rig::new();
    let mut held = Held::open(&rig.dir, OTHER, rig.clock(), || Ok(())).unwrap();
    held.start(rules()).unwrap();
    while held.machine().action().unwrap().step() != step {
        perform(&mut held, 0);
    }
    if begun {
        held.begin().unwrap();
    }
    rig
}

/// Rewrites the log as another version might have written it.
fn rewrite(rig: &Rig, changes: &[(&str, &str)]) {
    let mut log = String::from_utf8(rig.log()).unwrap();
    for (ours, theirs) in changes {
        assert!(log.contains(ours), "{ours}: {log}");
        log = log.replace(ours, theirs);
    }
    std::fs::write(rig.dir.events(), log).unwrap();
    std::fs::remove_file(rig.dir.cache()).unwrap();
}

// rows: L-07, L-09
// cases: 55
#[test]
fn a_tick_of_another_version_is_closed_and_what_it_spent_counts() {
    // Each step of the rig takes a second, and there is a report behind verify.
    for (step, begun, iteration, calls, wall_ms) in [
        (Step::Worktree, false, 0, 0, 0),
        (Step::Worktree, true, 0, 0, 60_000),
        (Step::Implement, false, 0, 0, 1_000),
        (Step::Implement, true, 1, 1, 61_000),
        (Step::Verify, false, 1, 1, 2_000),
        (Step::Verify, true, 1, 2, 62_000),
        (Step::Orchestrate, false, 1, 2, 4_000),
        (Step::Orchestrate, true, 1, 3, 64_000),
        (Step::Advance, true, 1, 3, 65_000),
        (Step::Close, false, 1, 3, 6_000),
    ] {
        let rig = left_at(step, begun);
        let records = rig.records().len();
        rig.clock.advance(60 * SECOND);
        let asked = Cell::new(false);
        let held = Held::open(&rig.dir, ENGINE, rig.clock(), || {
            asked.set(true);
            Ok(())
        })
        .unwrap();
        let at = format!("{step}, begun: {begun}");
        assert_eq!(asked.get(), begun, "{at}: what may be alive is ended");
        let ended = held.machine().ended().unwrap().clone();
        assert_eq!(ended.outcome, Outcome::Interrupted(Interruption::Crash));
        assert!(ended.why.contains(OTHER), "{at}: {}", ended.why);
        assert_eq!(held.machine().action(), None, "{at}");
        let state = held.machine().state().clone();
        assert_eq!(state.progress_of("t1").iteration, iteration, "{at}");
        assert_eq!(state.spent.used.unpriced_calls, calls, "{at}");
        assert_eq!(state.spent.wall_ms, wall_ms, "{at}");
        assert_eq!(state.spent.ticks, 1, "{at}");
        assert_eq!(
            (state.tick, state.in_progress, state.running),
            (1, None, None)
        );
        assert_eq!(rig.records().len(), records + 1, "{at}: one record");
        drop(held);

        let before = rig.log();
        assert_eq!(rig.open().machine().state(), &state, "{at}");
        assert_eq!(rig.log(), before, "{at}: what is closed stays");
        whole_tick(&mut rig.open());
        assert_eq!(read_state(&rig.dir).unwrap().state.tick, 2, "{at}");
    }
}

#[test]
fn what_another_version_wrote_need_not_be_understood() {
    let changes: [&[(&str, &str)]; 5] = [
        // A field that this version does not have, and one that the other lacks.
        &[("\"max_harness_failures\":2,", "\"patience\":\"much\",")],
        // A word and a step that this version does not know.
        &[("\"worktree\":\"task\"", "\"worktree\":\"moon\"")],
        &[("\"step\":\"worktree\"", "\"step\":\"telepathy\"")],
        &[("{\"op\":\"stop\"}", "{\"op\":\"levitate\"}")],
        // Decisions that this version does not make.
        &[
            ("\"attempt\":1", "\"attempt\":7"),
            ("\"phase\":\"research\"", "\"phase\":\"dream\""),
        ],
    ];
    for changes in changes {
        let rig = left_at(Step::Implement, true);
        let requests = [("pause", Request::Pause), ("odd", Request::Stop)];
        let mut log = rig.log();
        for (seq, (id, request)) in (5..).zip(requests) {
            let requested = Requested {
                control: control(id, request),
                accepted: true,
                said: "yes".to_owned(),
            };
            let record = loop_core::record::Record {
                seq,
                at: rig.records()[0].at,
                body: Body::Control(requested),
            };
            serde_json::to_writer(&mut log, &record).unwrap();
            log.push(b'\n');
        }
        assert_eq!(rig.records().len(), 4, "the numbers above follow");
        std::fs::write(rig.dir.events(), log).unwrap();
        rewrite(&rig, changes);

        let read = read_state(&rig.dir).unwrap().state;
        assert_eq!(read.in_progress, Some(1), "{changes:?}");
        assert!(read.paused, "{changes:?}");
        let held = rig.open();
        let ended = held.machine().ended().unwrap();
        assert!(
            matches!(ended.outcome, Outcome::Interrupted(_)),
            "{changes:?}"
        );
        let state = held.machine().state();
        assert_eq!(state.progress_of("t1").iteration, 1, "{changes:?}");
        assert!(state.paused, "{changes:?}");
        assert_eq!(rig.log().iter().filter(|byte| **byte == b'\n').count(), 7);
    }
}

// rows: L-08
#[test]
fn what_this_version_wrote_has_to_be_understood() {
    let this = ("99.0.0", ENGINE);
    for change in [
        ("\"worktree\":\"task\"", "\"worktree\":\"moon\""),
        ("\"step\":\"worktree\"", "\"step\":\"telepathy\""),
        ("\"attempt\":1", "\"attempt\":7"),
    ] {
        let rig = left_at(Step::Implement, true);
        rewrite(&rig, &[this, change]);
        assert!(read_state(&rig.dir).is_err(), "{change:?}");
        assert!(rig.try_open().is_err(), "{change:?}");
    }
    // Nor is a number that is missing, or a shape of which nothing is known.
    for change in [
        ("\"seq\":3", "\"seq\":4"),
        ("{\"v\":1,\"seq\":3", "{\"v\":2,\"seq\":3"),
    ] {
        let rig = left_at(Step::Implement, true);
        rewrite(&rig, &[change]);
        assert!(read_state(&rig.dir).is_err(), "{change:?}");
        assert!(rig.try_open().is_err(), "{change:?}");
    }
}
