//! Random histories: the log always leads to the machine's state.

use super::rig::{Rig, SECOND, perform, rules};
use crate::store::Held;
use crate::store::read::read_state_as;
use loop_core::control::Request;
use loop_core::outcome::{Interruption, Outcome};
use loop_core::phase::Phases;
use loop_core::record::{Body, Closed, Record};
use loop_core::replay::{Bare, ReplayError, replay, replay_foreign};
use loop_core::rules::Rules;
use loop_core::state::State;
use loop_core::step::Action;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Move {
    /// A tick is started, or the open question answered so.
    Step(u8),
    Request(Request),
    /// The process dies, and another one opens the loop.
    Crash,
    /// The same, and the new one is of another version.
    Upgrade,
    /// A signal ends a look for work.
    Signal,
}

fn moves() -> impl Strategy<Value = Move> {
    let set_task = Request::SetTask {
        task: "t1".to_owned(),
        phase: Some("plan".to_owned()),
    };
    let transition = Request::Transition {
        tick: 1,
        task: "t1".to_owned(),
        to: None,
    };
    let request = prop_oneof![
        Just(Request::Pause),
        Just(Request::Resume),
        Just(Request::Approve { task: None }),
        Just(Request::Approve { task: None }),
        Just(Request::Approve { task: None }),
        Just(Request::Stop),
        Just(set_task),
        Just(transition),
    ];
    prop_oneof![
        30 => Just(Move::Step(0)),
        10 => (1u8..8).prop_map(Move::Step),
        10 => request.prop_map(Move::Request),
        4 => Just(Move::Crash),
        1 => Just(Move::Upgrade),
        1 => Just(Move::Signal),
    ]
}

/// Two phases, so that a history comes to an end; a person ends both.
fn short() -> Rules {
    let list = vec!["spec".to_owned(), "implement".to_owned()];
    Rules {
        phases: Phases {
            approval: list.clone(),
            list,
        },
        ..rules()
    }
}

fn step(held: &mut Held, choice: u8) {
    if held.machine().action().is_none() {
        held.start(short()).unwrap();
    } else {
        perform(held, choice);
    }
    if held.machine().action().is_none()
        && let Some(ended) = held.machine().ended().cloned()
        && ended.tick.is_none()
    {
        held.idle(&ended).unwrap();
    }
}

/// Checks every tick of a history: what its `closed` record holds follows from
/// the one before.
pub(super) fn check_replays(records: &[Record]) {
    let mut state = State::new();
    let mut since = 0;
    for (at, record) in records.iter().enumerate() {
        if let Body::Closed(closed) = &record.body {
            let records = &records[since..=at];
            match replay(state.clone(), records) {
                Ok(replayed) => assert_eq!(replayed.machine.state(), &closed.state),
                Err(error) => check_foreign(state, records, closed, &error),
            }
            state = closed.state.clone();
            since = at + 1;
        }
    }
}

/// Checks a tick that another version of the engine closed.
fn check_foreign(state: State, records: &[Record], closed: &Closed, error: &ReplayError) {
    assert!(
        matches!(closed.outcome, Outcome::Interrupted(_)),
        "{error}: {closed:?}"
    );
    let bare: Vec<_> = records
        .iter()
        .map(|record| Bare::read(&serde_json::to_vec(record).unwrap()).unwrap())
        .collect();
    let mut machine = replay_foreign(state, &bare, "another").machine;
    if machine.begun() {
        let spent = closed.state.spent.wall_ms - machine.state().spent.wall_ms;
        machine.write_off(records.last().unwrap().at, spent);
    }
    let Some(Action::Close(closing)) = machine.action() else {
        panic!("{error}: no tick is open");
    };
    assert_eq!(closing.state, closed.state, "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    // rows: L-12, L-07
    // cases: 55, 107
    #[test]
    fn the_log_always_leads_to_the_machines_state(
        moves in prop::collection::vec(moves(), 1..60),
    ) {
        let rig = Rig::new();
        let mut held = Held::open(&rig.dir, "0", rig.clock(), || Ok(())).unwrap();
        let mut version = 0;
        for (at, one) in moves.into_iter().enumerate() {
            rig.clock.advance(SECOND);
            match one {
                Move::Step(choice) => step(&mut held, choice),
                Move::Request(request) => {
                    // Orchestrate's name may be taken; that is an answer too.
                    let control = super::rig::control(&format!("c{at}"), request);
                    let _taken = crate::store::submit(&rig.dir.control(), &control);
                    held.drain().unwrap();
                }
                Move::Crash | Move::Upgrade => {
                    version += u32::from(matches!(one, Move::Upgrade));
                    drop(held);
                    held = Held::open(&rig.dir, &version.to_string(), rig.clock(), || Ok(())).unwrap();
                    prop_assert!(!held.machine().begun() || held.machine().state().running.is_some());
                }
                Move::Signal => held.abandon(Interruption::Signal),
            }
            let snapshot = read_state_as(&rig.dir, &version.to_string()).unwrap();
            prop_assert_eq!(&snapshot.state, held.machine().state());
            prop_assert_eq!(snapshot.end, rig.log().len() as u64);
        }
        let records = rig.records();
        prop_assert!(records.iter().zip(1..).all(|(record, seq)| record.seq == seq));
        check_replays(&records);
    }
}
