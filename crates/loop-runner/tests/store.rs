//! The event store as a driver outside the crate uses it.

use loop_core::answer::Work;
use loop_core::brakes::Brakes;
use loop_core::control::{Control, Request};
use loop_core::outcome::{Outcome, Skip};
use loop_core::rules::{CallRules, HarnessRules, Rules};
use loop_runner::clock::{Clock, SystemClock};
use loop_runner::store::{
    Answered, AttemptAlive, Held, Level, LoopDir, OpenError, read_state, records, request,
};
use std::sync::Arc;

const ENGINE: &str = env!("CARGO_PKG_VERSION");

fn nothing_is_alive() -> Result<(), AttemptAlive> {
    Ok(())
}

fn rules() -> Rules {
    let call = CallRules {
        harnesses: vec![HarnessRules {
            timeout_ms: 60_000,
            cost_per_call: None,
            ..HarnessRules::default()
        }],
        context_window: None,
    };
    Rules {
        brakes: Brakes {
            max_iterations: Some(10),
            score_plateau_window: 3,
            score_plateau_delta: 0.0,
            min_score: 0.7.try_into().expect("0.7 is a score"),
            max_harness_failures: 3,
            no_progress_window: 3,
            max_wall_ms: None,
            max_ticks_per_day: None,
            max_cost: None,
            max_tokens: None,
        },
        implement: call.clone(),
        verify: call,
        orchestrate: None,
        scope: false,
        receipts: false,
        ..Rules::default()
    }
}

// rows: B-13, L-02, L-09, L-10
// cases: 117
#[test]
fn a_paused_loop_looks_for_no_work_and_goes_on_when_resumed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = LoopDir::new(temp.path());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let ask = |id: &str, op: Request| {
        let control = Control {
            id: id.to_owned(),
            request: op,
            by: "ada".to_owned(),
            note: None,
        };
        let nothing_owed = |_: &mut Held| unreachable!("no move is owed");
        let clock = Arc::clone(&clock);
        match request(
            &dir,
            &control,
            ENGINE,
            clock,
            nothing_is_alive,
            nothing_owed,
        )
        .unwrap()
        {
            Answered::Done(requested) => requested.said,
            recorded @ Answered::Recorded { .. } => panic!("{recorded:?}"),
        }
    };
    let look = || {
        let mut held = Held::open(&dir, ENGINE, Arc::clone(&clock), nothing_is_alive).unwrap();
        held.drain().unwrap();
        held.start(rules()).unwrap();
        if held.machine().action().is_some() {
            held.work(Work::Nothing(Skip::NoWork)).unwrap();
        }
        let ended = held.machine().ended().unwrap().clone();
        held.idle(&ended).unwrap();
        held.note(Level::Info, "looked");
        ended.outcome
    };

    assert_eq!(ask("1", Request::Pause), "paused");
    assert!(read_state(&dir).unwrap().state.paused);
    assert_eq!(look(), Outcome::Skipped(Skip::Paused));
    assert_eq!(ask("2", Request::Resume), "resumed");
    assert_eq!(look(), Outcome::Skipped(Skip::NoWork));
    assert_eq!(records(&dir).unwrap().map(Result::unwrap).count(), 4);

    let held = Held::open(&dir, ENGINE, Arc::clone(&clock), nothing_is_alive).unwrap();
    let second = Held::open(&dir, ENGINE, Arc::clone(&clock), nothing_is_alive);
    assert!(matches!(second, Err(OpenError::Locked { by: Some(_) })));
    drop(held);
}
