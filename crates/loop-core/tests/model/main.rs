//! Random answers and controls, over many ticks, against the promises.

#![allow(clippy::unwrap_used)] // a test may panic

mod world;

use loop_core::Score;
use loop_core::Usd;
use loop_core::answer::{
    Advanced, Armed, CallEnd, Called, FileRef, Finished, FirstRun, Gated, Implemented, PlanAnswer,
    Planned, Reading, Scoped, StepAnswer, StepFault, Verified,
};
use loop_core::brakes::Brakes;
use loop_core::claim::Claim;
use loop_core::config::WorktreeFor;
use loop_core::control::Request;
use loop_core::gate::{GateReport, Level};
use loop_core::outcome::{EnvironmentFault, Error, Interruption, Skip};
use loop_core::phase::Phases;
use loop_core::rules::{CallRules, GateRules, HarnessRules, Rules};
use loop_core::scope::{Kind, Rule, Violation};
use loop_core::state::{Frozen, PlanRecord};
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
        outside: Vec::new(),
        inputs: Vec::new(),
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
    let outside = prop_oneof![
        8 => Just(Vec::new()),
        1 => Just(vec!["HEAD is another".to_owned()]),
    ];
    (end(), claim, any::<bool>(), tree(), tree(), outside).prop_map(
        |(end, claim, silent, tree_before, tree_after, outside)| {
            StepAnswer::Implement(Implemented {
                called: Called {
                    outside,
                    ..called(end)
                },
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
            added: Vec::new(),
        })
    })
}

fn file() -> FileRef {
    called(CallEnd::Exited(0)).output
}

fn frozen() -> Frozen {
    Frozen {
        fingerprint: "f".to_owned(),
        parts: file(),
    }
}

fn planned() -> impl Strategy<Value = StepAnswer> {
    let plan = PlanRecord {
        file: file(),
        items: 1,
        frozen: Vec::new(),
        uncovered: Vec::new(),
    };
    let why = || "so it is".to_owned();
    let answer = prop_oneof![
        4 => Just(PlanAnswer::Plan(plan)),
        1 => Just(PlanAnswer::Refused { why: why() }),
        1 => Just(PlanAnswer::Broken { why: why() }),
    ];
    (end(), answer).prop_map(|(end, answer)| {
        StepAnswer::Plan(Planned {
            called: called(end),
            answer,
        })
    })
}

/// What the steps around the calls may answer.
fn checked() -> impl Strategy<Value = StepAnswer> {
    let red = FirstRun::Red {
        exit: 1,
        tests: None,
    };
    let first_run = prop_oneof![
        6 => Just(Some(red)),
        1 => Just(None),
        1 => Just(Some(FirstRun::Green)),
        1 => Just(Some(FirstRun::Unwritten)),
    ];
    let violations = prop_oneof![
        6 => Just(Vec::new()),
        1 => any::<bool>().prop_map(|protected| vec![Violation {
            path: "a".to_owned(),
            kind: Kind::Added,
            rule: if protected { Rule::Protected } else { Rule::FileScope },
        }]),
    ];
    prop_oneof![
        any::<bool>().prop_map(|kept| StepAnswer::Baseline(kept.then(file))),
        first_run.prop_map(|first_run| StepAnswer::Arm(Armed {
            frozen: frozen(),
            first_run
        })),
        violations.prop_map(|violations| StepAnswer::Scope(Scoped {
            files: 1,
            violations,
            patch: Some(file()),
        })),
        (any::<bool>(), 0u8..2, tree()).prop_map(|(green, output, tree)| {
            StepAnswer::Gate(Box::new(Gated {
                report: GateReport {
                    exit: i32::from(!green),
                    tests: None,
                    level: Level::ExitCode,
                    green,
                    why: "the gate ended".to_owned(),
                    hint: (!green).then(|| "it is red".to_owned()),
                    flags: Vec::new(),
                    output: output.to_string(),
                },
                tree,
                outside: Vec::new(),
                inputs: Vec::new(),
                violations: Vec::new(),
            }))
        }),
        Just(StepAnswer::SetAside(None)),
        any::<bool>().prop_map(|kept| StepAnswer::Receipt(kept.then(file))),
        any::<bool>().prop_map(|done| StepAnswer::Finish(if done {
            Finished::Done
        } else {
            Finished::Conflict {
                what: "it is gone".to_owned(),
            }
        })),
    ]
}

/// An answer for whatever step may be asked for: the world looks up the one that fits.
fn choice() -> impl Strategy<Value = Choice> {
    let step = prop_oneof![
        implemented(),
        verified(),
        planned(),
        tree().prop_map(StepAnswer::Tree),
        checked(),
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
        3 => Just(Request::Approve { task: None }),
        2 => Just(Request::Approve { task: Some("t".to_owned()) }),
        1 => Just(Request::Restart { task: "t".to_owned(), phase: None }),
        1 => Just(Request::Freeze { task: "t".to_owned(), frozen: frozen() }),
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
        prop_oneof![3 => Just(None), 1 => (1u64..100).prop_map(Some)],
    )
        .prop_map(
            |(max_iterations, plateau, stuck, failures, wall, ticks, cost, tokens)| Brakes {
                max_iterations,
                score_plateau_window: plateau,
                score_plateau_delta: 0.0,
                min_score: Score::try_from(0.7).unwrap(),
                max_harness_failures: failures,
                no_progress_window: stuck,
                max_wall_ms: wall,
                max_ticks_per_day: ticks,
                max_cost: cost.and_then(Usd::from_micros),
                max_tokens: tokens,
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
    let bools = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let harnesses = (1usize..4, any::<bool>(), 0u8..3);
    (brakes, phases, bools, 0u8..4, worktree, harnesses).prop_map(
        |(brakes, phases, (orchestrate, single, park, scope), judge, worktree, harnesses)| {
            let (count, reports, judges) = harnesses;
            let reports = reports || brakes.max_tokens.is_some();
            let estimate = Usd::from_micros(7).filter(|_| brakes.max_cost.is_some() && !reports);
            let harness = |name| HarnessRules {
                name: format!("h{name}"),
                timeout_ms: 1_800_000,
                cost_per_call: estimate,
                reports_cost: reports,
                reports_tokens: reports,
            };
            let call = CallRules {
                harnesses: (0..count).map(harness).collect(),
                context_window: None,
            };
            // The judge has the same harnesses, the same in another order, or the last.
            let mut verify = call.clone();
            match judges {
                0 => {}
                1 => verify.harnesses.reverse(),
                _ => drop(verify.harnesses.drain(..count - 1)),
            }
            Rules {
                single,
                worktree,
                park: park && !single,
                scope,
                receipts: scope,
                watch: true,
                gate: (judge < 2).then_some(GateRules {
                    must_start_red: true,
                    timeout_ms: 60_000,
                }),
                judge: judge > 0,
                plan: (orchestrate && single).then(|| call.clone()),
                phases,
                closed_until: None,
                brakes,
                implement: call.clone(),
                orchestrate: orchestrate.then(|| call.clone()),
                verify,
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

    // rows: H-20
    #[test]
    fn no_judge_judges_itself_whoever_is_out_of_service(
        rules in rules(),
        choices in prop::collection::vec(choice().prop_filter("about a call", is_about_a_call), 0..80),
    ) {
        let mut world = World::new(Rules {
            judge: true,
            gate: None,
            plan: None,
            ..rules
        });
        for choice in choices {
            world.turn(choice);
        }
        world.finish();
    }
}

/// Whether a choice says what becomes of the work, of its judgement, or of a call.
fn is_about_a_call(choice: &Choice) -> bool {
    match choice {
        Choice::Answer(answer) => {
            matches!(answer, StepAnswer::Implement(_) | StepAnswer::Verify(_))
        }
        Choice::Fail(_) | Choice::Wait(_) | Choice::Control(Request::Approve { .. }) => true,
        _ => false,
    }
}

#[test]
fn steps_that_act_outside_are_the_ones_state_md_names() {
    let outside: Vec<_> = Step::ALL
        .into_iter()
        .filter(|step| step.acts_outside())
        .collect();
    assert_eq!(
        outside,
        [
            Step::Worktree,
            Step::Plan,
            Step::Arm,
            Step::Implement,
            Step::Gate,
            Step::Verify,
            Step::Orchestrate,
            Step::Advance,
            Step::SetAside,
            Step::Finish
        ]
    );
}
