//! Random answers and controls, over many ticks, against the promises.

#![allow(clippy::unwrap_used)] // a test may panic

mod world;

use loop_core::Score;
use loop_core::Usd;
use loop_core::answer::{
    Advanced, CallEnd, Called, FileRef, Implemented, Reading, StepAnswer, StepFault, Verified,
};
use loop_core::brakes::Brakes;
use loop_core::claim::Claim;
use loop_core::config::WorktreeFor;
use loop_core::control::Request;
use loop_core::outcome::{EnvironmentFault, Error, Interruption, Skip};
use loop_core::phase::Phases;
use loop_core::rules::{CallRules, Rules};
use loop_core::verdict::Unreadable;
use loop_core::{Step, Work};
use proptest::prelude::*;
use world::{Choice, World};

fn called(end: CallEnd) -> Called {
    Called {
        end,
        output: FileRef {
            path: "/outputs/tick-output.md".to_owned(),
            bytes: 3,
            sha256: "00".to_owned(),
        },
        leaked: false,
    }
}

fn end() -> impl Strategy<Value = CallEnd> {
    prop_oneof![
        6 => Just(CallEnd::Exited(0)),
        1 => Just(CallEnd::Exited(1)),
        1 => Just(CallEnd::Signaled(9)),
        1 => Just(CallEnd::TimedOut(7)),
    ]
}

fn tree() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        Just(Some("a".to_owned())),
        Just(Some("b".to_owned())),
        Just(None),
    ]
}

fn fault() -> impl Strategy<Value = StepFault> {
    let environment = prop_oneof![
        Just(EnvironmentFault::Auth),
        Just(EnvironmentFault::MissingProgram)
    ];
    prop_oneof![
        environment.prop_map(|reason| StepFault::Environment {
            reason,
            what: "env".to_owned(),
            until: None
        }),
        Just(StepFault::Error {
            reason: Error::OutputsUnwritable,
            what: "full".to_owned()
        }),
    ]
}

fn implemented() -> impl Strategy<Value = StepAnswer> {
    let claim = prop_oneof![
        5 => Just(Claim::None),
        1 => Just(Claim::Blocked("a key".to_owned())),
        1 => Just(Claim::NoWork("done".to_owned())),
    ];
    (end(), claim, any::<bool>(), tree(), tree()).prop_map(
        |(end, claim, silent, tree_before, tree_after)| {
            StepAnswer::Implement(Implemented {
                called: called(end),
                claim,
                silent,
                tree_before,
                tree_after,
            })
        },
    )
}

fn verified() -> impl Strategy<Value = StepAnswer> {
    let reading = prop_oneof![
        6 => (any::<bool>(), 0.0f64..=1.0, any::<bool>()).prop_map(|(pass, score, blocked)| {
            let blocked = if blocked && !pass { r#","blocked":"x""# } else { "" };
            Reading::of(&format!(r#"{{"pass":{pass},"score":{score},"next_hint":"h"{blocked}}}"#), "")
        }),
        2 => Just(Reading::Unreadable(Unreadable::NoObject)),
    ];
    (end(), reading, tree()).prop_map(|(end, reading, tree)| {
        StepAnswer::Verify(Verified {
            called: called(end),
            reading,
            tree,
            changed: Vec::new(),
        })
    })
}

/// An answer for whatever step may be asked for: the world looks up the one that fits.
fn choice() -> impl Strategy<Value = Choice> {
    let step = prop_oneof![
        implemented(),
        verified(),
        tree().prop_map(StepAnswer::Tree),
        Just(StepAnswer::Orchestrate(called(CallEnd::Exited(0)))),
        prop_oneof![
            4 => Just(Advanced::Moved),
            1 => Just(Advanced::Conflict { what: "elsewhere".to_owned() })
        ]
        .prop_map(StepAnswer::Advance),
    ];
    let request = prop_oneof![
        1 => Just(Request::Pause),
        1 => Just(Request::Resume),
        3 => Just(Request::Approve),
        1 => Just(Request::Stop),
        1 => Just(Request::SetTask { task: "t".to_owned(), phase: Some("spec".to_owned()) }),
        1 => Just(Request::SetTask { task: "u".to_owned(), phase: None }),
        1 => (1u64..4, any::<bool>()).prop_map(|(tick, human)| Request::Transition {
            tick,
            task: "t".to_owned(),
            to: human.then(|| "human_intervention".to_owned()),
        }),
    ];
    prop_oneof![
        12 => step.prop_map(Choice::Answer),
        1 => fault().prop_map(Choice::Fail),
        1 => Just(Choice::Interrupt(Interruption::Crash)),
        1 => Just(Choice::Interrupt(Interruption::Signal)),
        2 => request.prop_map(Choice::Control),
        1 => Just(Choice::Stale),
        1 => prop_oneof![Just(Work::Nothing(Skip::NoWork)), Just(Work::Failed { what: "x".to_owned() })]
            .prop_map(Choice::NoWork),
        1 => (1u64..5_000_000).prop_map(Choice::Wait),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    let brakes = (
        prop_oneof![3 => (1u32..5).prop_map(Some), 1 => Just(None)],
        prop_oneof![Just(0u32), 2u32..4],
        0u32..4,
        1u32..4,
        prop_oneof![3 => Just(None), 1 => (1u64..100_000).prop_map(Some)],
        prop_oneof![3 => Just(None), 1 => (1u32..6).prop_map(Some)],
        prop_oneof![3 => Just(None), 1 => (1i64..60).prop_map(Some)],
    )
        .prop_map(
            |(max_iterations, plateau, stuck, failures, wall, ticks, cost)| Brakes {
                max_iterations,
                score_plateau_window: plateau,
                score_plateau_delta: 0.0,
                min_score: Score::try_from(0.7).unwrap(),
                max_harness_failures: failures,
                no_progress_window: stuck,
                max_wall_ms: wall,
                max_ticks_per_day: ticks,
                max_cost: cost.and_then(Usd::from_micros),
            },
        );
    let phases = prop_oneof![
        Just(Phases::default()),
        Just(Phases {
            list: vec!["implement".to_owned()],
            approval: vec![]
        })
    ];
    let worktree = prop_oneof![
        Just(None),
        Just(Some(WorktreeFor::Task)),
        Just(Some(WorktreeFor::Loop))
    ];
    (brakes, phases, any::<bool>(), any::<bool>(), worktree).prop_map(
        |(brakes, phases, orchestrate, single, worktree)| {
            let call = CallRules {
                timeout_ms: 1_800_000,
                cost_per_call: brakes.max_cost.and_then(|_| Usd::from_micros(7)),
                context_window: None,
            };
            Rules {
                single,
                worktree,
                phases,
                brakes,
                implement: call,
                verify: call,
                orchestrate: orchestrate.then_some(call),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // rows: B-02, B-10, B-14, B-15, B-19, L-07, L-12
    // cases: 6, 9, 25, 29, 37, 39, 117
    #[test]
    fn the_promises_hold(rules in rules(), choices in prop::collection::vec(choice(), 0..160)) {
        let mut world = World::new(rules);
        for choice in choices {
            world.turn(choice);
        }
        world.finish();
    }
}

#[test]
fn steps_that_act_outside_are_the_ones_state_md_names() {
    let outside: Vec<_> = [
        Step::FindWork,
        Step::Open,
        Step::Worktree,
        Step::Tree,
        Step::Implement,
        Step::Verify,
        Step::Report,
        Step::Orchestrate,
        Step::Advance,
        Step::Close,
    ]
    .into_iter()
    .filter(|step| step.acts_outside())
    .collect();
    assert_eq!(
        outside,
        [
            Step::Worktree,
            Step::Implement,
            Step::Verify,
            Step::Orchestrate,
            Step::Advance
        ]
    );
}
