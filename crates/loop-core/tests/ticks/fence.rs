//! What the machine refuses (state.md: stale and repeated answers change nothing).

use crate::orchestrated;
use crate::world::World;
use loop_core::answer::{Advanced, StepAnswer};
use loop_core::outcome::Interruption;
use loop_core::{Answer, Fence, Machine, Refused, Reply, Start, Step};

/// Plays a tick up to the point where `step` is asked for.
fn asked_for(step: Step) -> Machine {
    let mut world = World::new(orchestrated());
    let mut machine = world.machine.clone();
    let start = Start {
        rules: orchestrated(),
        now: world.now(),
    };
    machine.start(start).unwrap();
    let before = world.records.len();
    world.tick("implement changes / verify pass 1");
    for record in &world.records[before..] {
        if machine.fence().unwrap().step == step {
            return machine;
        }
        if machine.fence().unwrap().step == Step::FindWork {
            let work = Answer::Work(loop_core::Work::Found(loop_core::step::WorkTask {
                phase: Some("implement".to_owned()),
                ..world.task.clone()
            }));
            give(&mut machine, work).unwrap();
        }
        if machine.fence().unwrap().step == step {
            return machine;
        }
        use loop_core::record::Body;
        match &record.body {
            Body::Opened(opened) => {
                let nonce = opened.nonce.clone();
                let seq = record.seq;
                give(&mut machine, Answer::Opened { seq, nonce }).unwrap();
            }
            Body::Began { fence, .. } => machine.begin(*fence, record.at, 7).unwrap(),
            Body::Answer(answered) => {
                give(&mut machine, Answer::Step(answered.answer.clone())).unwrap();
            }
            _ => {}
        }
    }
    panic!("{step} is not asked for");
}

fn give(machine: &mut Machine, answer: Answer) -> Result<(), Refused> {
    let fence = machine.fence().unwrap();
    machine.answer(fence, reply(answer))
}

fn reply(answer: Answer) -> Reply {
    Reply {
        at: "2026-11-30T12:00:00Z".parse().unwrap(),
        elapsed_ms: 1_000,
        bill: None,
        answer,
    }
}

const STEPS: [Step; 9] = [
    Step::Open,
    Step::Worktree,
    Step::Implement,
    Step::Verify,
    Step::Report,
    Step::Orchestrate,
    Step::Advance,
    Step::Close,
    Step::FindWork,
];

// rows: B-19
#[test]
fn a_fence_is_the_number_of_the_opened_record_the_step_and_the_attempt() {
    let mut world = World::new(orchestrated());
    world.tick("implement changes / verify mumbles / verify pass 1");
    assert_eq!(world.machine.rules(), Some(&orchestrated()));
    use loop_core::record::Body;
    let opened = world
        .records
        .iter()
        .find(|record| matches!(record.body, Body::Opened(_)));
    let opened = opened.unwrap().seq;
    let answered = world
        .records
        .iter()
        .filter_map(|record| match &record.body {
            Body::Answer(answered) => Some(answered.fence),
            _ => None,
        });
    let steps = [
        (Step::Worktree, 1),
        (Step::Implement, 1),
        (Step::Verify, 1),
        (Step::Verify, 2),
        (Step::Report, 1),
        (Step::Orchestrate, 1),
        (Step::Advance, 1),
    ];
    let expected = steps.map(|(step, attempt)| Fence {
        opened,
        step,
        attempt,
    });
    assert_eq!(answered.collect::<Vec<_>>(), expected);
    for step in [Step::FindWork, Step::Open] {
        let before = Fence {
            opened: 0,
            step,
            attempt: 1,
        };
        assert_eq!(
            asked_for(step).fence(),
            Some(before),
            "it has no number yet"
        );
    }
}

// rows: B-19
// cases: 55
#[test]
fn another_fence_is_refused_and_changes_nothing() {
    for step in &STEPS[..8] {
        let machine = asked_for(*step);
        let fence = machine.fence().unwrap();
        let others = [
            Fence {
                opened: fence.opened + 1,
                ..fence
            },
            Fence {
                attempt: fence.attempt + 1,
                ..fence
            },
            Fence {
                step: Step::FindWork,
                ..fence
            },
        ];
        for other in others {
            let mut again = machine.clone();
            let answer = Answer::Step(StepAnswer::Report);
            assert_eq!(again.answer(other, reply(answer)), Err(Refused::Stale));
            let at = "2026-11-30T12:00:00Z".parse().unwrap();
            assert_eq!(again.begin(other, at, 7), Err(Refused::Stale));
            assert_eq!(again, machine);
        }
    }
    // Between two ticks there is no question at all.
    let world = World::new(orchestrated());
    let fence = asked_for(Step::Open).fence().unwrap();
    let mut machine = world.machine.clone();
    assert_eq!(machine.fence(), None);
    assert_eq!(
        machine.answer(fence, reply(Answer::Closed)),
        Err(Refused::Stale)
    );
    assert_eq!(machine, world.machine);
}

// rows: B-19
#[test]
fn only_the_answer_to_the_question_is_taken() {
    let answers = |asked: Step| {
        [
            (
                Answer::Work(loop_core::Work::Nothing(loop_core::outcome::Skip::NoWork)),
                Step::FindWork,
            ),
            (
                Answer::Opened {
                    seq: 9,
                    nonce: String::new(),
                },
                Step::Open,
            ),
            (Answer::Closed, Step::Close),
            (Answer::Step(StepAnswer::Worktree(None)), Step::Worktree),
            (Answer::Step(StepAnswer::Tree(None)), Step::Tree),
            (Answer::Step(StepAnswer::Report), Step::Report),
            (
                Answer::Step(StepAnswer::Advance(Advanced::Moved)),
                Step::Advance,
            ),
        ]
        .into_iter()
        .filter(move |(_, step)| *step != asked)
    };
    for asked in STEPS {
        let machine = asked_for(asked);
        for (answer, _) in answers(asked) {
            let mut again = machine.clone();
            assert_eq!(give(&mut again, answer), Err(Refused::NoAnswerTo { asked }));
            assert_eq!(again, machine);
        }
        // A move and a copy are over in no time; the rest can be cut short.
        let cut = matches!(
            asked,
            Step::Worktree | Step::Implement | Step::Verify | Step::Orchestrate
        );
        let interrupted = Answer::Step(StepAnswer::Interrupted(Interruption::Crash));
        assert_eq!(
            give(&mut machine.clone(), interrupted).is_ok(),
            cut,
            "{asked}"
        );
        let failed = Answer::Step(StepAnswer::Failed(loop_core::answer::StepFault::Error {
            reason: loop_core::outcome::Error::Disk,
            what: "full".to_owned(),
        }));
        let own = matches!(asked, Step::FindWork | Step::Open | Step::Close);
        assert_eq!(give(&mut machine.clone(), failed).is_ok(), !own, "{asked}");
    }
}

// rows: B-19, L-07
#[test]
fn what_acts_outside_has_to_be_begun_once_and_nothing_else() {
    let at = "2026-11-30T12:00:00Z".parse().unwrap();
    for (step, answer) in [
        (Step::Worktree, StepAnswer::Worktree(None)),
        (Step::Advance, StepAnswer::Advance(Advanced::Moved)),
    ] {
        let mut machine = asked_for(step);
        let before = machine.clone();
        assert!(!machine.begun());
        let refused = give(&mut machine, Answer::Step(answer.clone())).unwrap_err();
        assert_eq!(refused, Refused::NotBegun { step });
        assert_eq!(refused.to_string(), format!("step `{step}` was not begun"));
        assert_eq!(machine, before);
        let fence = machine.fence().unwrap();
        machine.begin(fence, at, 7).unwrap();
        assert!(machine.begun());
        let running = machine.state().running.unwrap();
        assert_eq!((running.step, running.since, running.pid), (step, at, 7));
        assert_eq!(machine.begin(fence, at, 7), Err(Refused::Stale));
        give(&mut machine, Answer::Step(answer)).unwrap();
        assert_eq!(machine.state().running, None);
    }
    for step in [Step::FindWork, Step::Open, Step::Report, Step::Close] {
        let mut machine = asked_for(step);
        let fence = machine.fence().unwrap();
        assert_eq!(machine.begin(fence, at, 7), Err(Refused::Stale), "{step}");
    }
}

// rows: B-19
#[test]
fn a_busy_machine_starts_nothing_else() {
    for step in STEPS {
        let mut machine = asked_for(step);
        let before = machine.clone();
        let start = Start {
            rules: orchestrated(),
            now: "2026-11-30T12:00:00Z".parse().unwrap(),
        };
        let refused = machine.start(start).unwrap_err();
        assert_eq!(refused, Refused::Busy(step));
        assert_eq!(refused.to_string(), format!("the loop is busy: {step}"));
        assert_eq!(machine, before);
    }
}

// rows: B-12, L-07
#[test]
fn an_approved_move_is_owed_under_its_controls_number() {
    let mut world = World::new(orchestrated());
    world.play(
        "
        > phase spec
        implement changes / verify pass 1 | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report orchestrate
        ",
    );
    world.control("approve", true);
    let control = world.records.last().unwrap();
    let (seq, at) = (control.seq, control.at);
    let mut machine = world.machine.clone();
    let owed = Fence {
        opened: seq,
        step: Step::Advance,
        attempt: 1,
    };
    assert_eq!(machine.fence(), Some(owed));
    let Some(loop_core::Action::Advance(advance)) = machine.action() else {
        panic!("{:?}", machine.action());
    };
    assert_eq!((advance.task.as_str(), advance.tick), ("t", None));
    assert_eq!(
        (advance.from.as_str(), advance.to.as_str()),
        ("spec", "implement")
    );
    assert_eq!(advance.by.as_deref(), Some("ada"), "a person made it");
    // No tick starts before it is made, and nothing is approved twice.
    let start = Start {
        rules: orchestrated(),
        now: at,
    };
    assert_eq!(machine.start(start), Err(Refused::Busy(Step::Advance)));
    world.control("approve", false);
    let moved = Answer::Step(StepAnswer::Advance(Advanced::Moved));
    let not_begun = Refused::NotBegun {
        step: Step::Advance,
    };
    assert_eq!(give(&mut machine, moved.clone()), Err(not_begun));
    assert!(!machine.begun());
    machine.begin(owed, at, 7).unwrap();
    assert!(machine.begun());
    assert_eq!(machine.begin(owed, at, 7), Err(Refused::Stale));
    give(&mut machine, moved.clone()).unwrap();
    assert!(!machine.begun());
    assert_eq!(machine.action(), None);
    assert_eq!(machine.answer(owed, reply(moved)), Err(Refused::Stale));
}
