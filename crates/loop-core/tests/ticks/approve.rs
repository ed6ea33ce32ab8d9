//! What a person's approval clears, for every reason (decision D-7).

use crate::script::made;
use crate::world::World;
use crate::{limited, orchestrated, rules};
use loop_core::Machine;
use loop_core::Score;
use loop_core::bill::Usage;
use loop_core::control::{Control, Request};
use loop_core::outcome::{EnvironmentFault, Halt};
use loop_core::state::{
    Attempt, EnvironmentStreak, Progress, Spent, State, Status, Today, Unjudged,
};
use loop_core::time::Timestamp;

/// What an approval clears beside the halt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clears {
    /// Counts, scores, failures and hint: the task starts afresh.
    Work,
    Hint,
    VerifyFailures,
    Nothing,
}

const TABLE: [(Halt, Clears); 26] = [
    (Halt::MaxIterations, Clears::Work),
    (Halt::ScorePlateau, Clears::Work),
    (Halt::NoProgress, Clears::Work),
    (Halt::HarnessFailures, Clears::Work),
    (Halt::Blocked, Clears::Work),
    (Halt::LowScore, Clears::Work),
    (Halt::Escalated, Clears::Work),
    (Halt::FileScope, Clears::Work),
    (Halt::Protected, Clears::Work),
    (Halt::ApprovalRequired, Clears::Hint),
    (Halt::VerifierBroken, Clears::VerifyFailures),
    (Halt::MaxCost, Clears::Nothing),
    (Halt::MaxTokens, Clears::Nothing),
    (Halt::MaxWall, Clears::Nothing),
    (Halt::MaxTicks, Clears::Nothing),
    (Halt::Environment, Clears::Nothing),
    (Halt::Tampered, Clears::Nothing),
    (Halt::WorktreeReplaced, Clears::Nothing),
    (Halt::OutsideChanged, Clears::Nothing),
    (Halt::Conflict, Clears::Nothing),
    (Halt::PlannerBroken, Clears::Nothing),
    (Halt::GateGreen, Clears::Nothing),
    (Halt::GateBroken, Clears::Nothing),
    (Halt::GateUnwritten, Clears::Nothing),
    (Halt::GateFlaky, Clears::Nothing),
    (Halt::Refused, Clears::Nothing),
];

fn marked() -> Progress {
    Progress {
        iteration: 5,
        scores: vec![Score::try_from(0.4).unwrap()],
        hint: "h".to_owned(),
        harness_failures: 2,
        verify_failures: 3,
        blocked: 1,
        attempts: vec![Attempt {
            changed: false,
            gate: None,
        }],
        wall_ms: 77,
        unjudged: Some(Unjudged {
            tick: 4,
            tree: None,
            phase: None,
            output: "/outputs/output.md".to_owned(),
            harness: None,
        }),
        worktree: Some(made("t")),
        ..Progress::default()
    }
}

fn waiting(halt: Halt) -> State {
    State {
        status: Status::HumanIntervention,
        reason: Some(halt),
        why: Some("because".to_owned()),
        halted_task: Some("t".to_owned()),
        current_task: Some("t".to_owned()),
        progress: [("t".to_owned(), marked()), ("u".to_owned(), marked())].into(),
        environment: Some(EnvironmentStreak {
            reason: EnvironmentFault::Auth,
            count: 2,
        }),
        spent: Spent {
            used: Usage {
                unpriced_calls: 9,
                ..Usage::default()
            },
            wall_ms: 88,
            ticks: 4,
            ..Spent::default()
        },
        today: Today {
            day: "2026-11-30".to_owned(),
            ticks: 4,
        },
        not_before: Some(Timestamp::from_unix_millis(1)),
        ..State::new()
    }
}

fn approve(state: State) -> State {
    let mut machine = Machine::new(state);
    let control = Control {
        id: "c1".to_owned(),
        request: Request::Approve { task: None },
        by: "ada".to_owned(),
        note: None,
    };
    machine.control(1, Timestamp::default(), &control).unwrap();
    machine.state().clone()
}

// rows: B-11, B-12, B-14, K-08
// cases: 117
#[test]
fn what_approve_clears_depends_on_the_reason() {
    for halt in Halt::ALL {
        assert!(TABLE.iter().any(|(known, _)| known == halt), "{halt}");
    }
    for (halt, clears) in TABLE {
        for paused in [false, true] {
            let before = State {
                paused,
                ..waiting(halt)
            };
            let after = approve(before.clone());
            let mut expected = State {
                status: Status::Active,
                reason: None,
                why: None,
                halted_task: None,
                recent_controls: vec!["c1".to_owned()],
                updated_at: Some(Timestamp::default()),
                ..before
            };
            let task = expected.progress.get_mut("t").unwrap();
            match clears {
                // The work itself, where it is, and how long it took are facts.
                Clears::Work => {
                    *task = Progress {
                        wall_ms: 77,
                        unjudged: marked().unjudged,
                        worktree: marked().worktree,
                        ..Progress::default()
                    }
                }
                Clears::Hint => task.hint.clear(),
                Clears::VerifyFailures => task.verify_failures = 0,
                Clears::Nothing => {}
            }
            assert_eq!(after, expected, "{halt}");
        }
    }
}

// rows: B-02, B-12, C-13, K-08
#[test]
fn a_brake_that_was_approved_starts_its_count_over() {
    let two = limited(|brakes| brakes.max_iterations = Some(2));
    World::new(two).play(
        "
        > !approve                             | denied | 0 | | | active |
        implement changes / verify fail 0.1 h  | fail verdict | 1 | 0.1 | h | active | worktree implement verify
        > !approve                             | denied | 1 | 0.1 | h | active |
        implement changes / verify fail 0.2 h  | human_intervention max_iterations | 2 | 0.1 0.2 | h | waits max_iterations | worktree implement verify
        |                                        skipped max_iterations | 2 | 0.1 0.2 | h | waits max_iterations |
        > approve                              | granted | 0 | | | active |
        implement changes / verify fail 0.1 i  | fail verdict | 1 | 0.1 | i | active | worktree implement verify
        implement changes / verify fail 0.2 i  | human_intervention max_iterations | 2 | 0.1 0.2 | i | waits max_iterations | worktree implement verify
        > approve                              | granted | 0 | | | active |
        > !approve                             | denied | 0 | | | active |
        ",
    );
}

// rows: B-12, V-07
#[test]
fn a_broken_verifier_is_asked_again_about_the_same_work() {
    World::new(rules()).play(
        "
        implement changes / verify exit 1 | verify_error exit | 0 held | | | active | worktree implement verify
        verify exit 1                     | verify_error exit | 0 held | | | active | worktree tree verify
        verify exit 1                     | human_intervention verifier_broken | 0 held | | | waits verifier_broken | worktree tree verify
        > approve                         | granted | 0 held | | | active |
        verify exit 1                     | verify_error exit | 0 held | | | active | worktree tree verify
        verify pass 1                     | pass | 0 | | | active | worktree tree verify report advance
        ",
    );
}

// rows: B-12
// cases: 38, 39
#[test]
fn an_approved_environment_is_checked_again() {
    let halted = "
        implement env auth | environment auth | 0 | | | active | worktree implement
        implement env auth | human_intervention environment | 0 | | | waits environment | worktree implement
        > approve          | granted | 0 | | | active |
    ";
    for row in [
        // Not mended: the row goes on, and one call has shown it.
        "implement env auth    | human_intervention environment | 0 | | | waits environment | worktree implement",
        "implement env offline | environment offline | 0 | | | active | worktree implement",
        "implement changes / verify fail 0 | fail verdict | 1 | 0 | | active | worktree implement verify
         implement env auth    | environment auth | 1 | 0 | | active | worktree implement",
    ] {
        let mut world = World::new(rules());
        world.play(halted);
        world.play(row);
    }
}

// rows: B-08, B-12, B-16, K-08
#[test]
fn approving_makes_the_awaited_move() {
    let gated = "
        > phase spec
        implement changes / verify pass 1 h | human_intervention approval_required | 0 | | h | waits approval_required | worktree implement verify report
        |                                     skipped approval_required | 0 | | h | waits approval_required |
    ";
    let mut world = World::new(rules());
    world.play(gated);
    world.play("> approve | granted | 0 | | | active | advance");
    assert_eq!(world.task.phase.as_deref(), Some("implement"));
    world.play("implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify");
    // The task is elsewhere by now.
    let mut world = World::new(rules());
    world.play(gated);
    world.play("> approve / advance conflict | granted | 0 | | | waits conflict | advance");
    world.play("> approve | granted | 0 | | | active |");
    // The move could not be made: it waits as before, and can be approved again.
    for fault in ["error disk", "env offline", "replaced"] {
        let mut world = World::new(rules());
        world.play(gated);
        world.play(&format!(
            "> approve / advance {fault} | granted | 0 | | | waits approval_required | advance"
        ));
        assert_eq!(world.machine.state().halted_task.as_deref(), Some("t"));
        let why = world.machine.state().why.clone().unwrap();
        assert!(
            why.starts_with("the approved move could not be made: "),
            "{why}"
        );
        world.play("> approve | granted | 0 | | | active | advance");
    }
    // The last phase: the approval completes the task.
    let mut world = World::new(rules());
    world.play(
        "
        > phase bug_find
        implement changes / verify pass 1 | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report
        > approve | granted | 0 | | | complete | advance
        ",
    );
    let finished = &world.machine.state().finished;
    assert_eq!(finished.len(), 1);
    assert_eq!((finished[0].task.as_str(), finished[0].tick), ("t", None));
    assert_eq!(world.machine.state().current_task, None);
}

// rows: B-09, B-12
#[test]
fn a_task_that_was_handed_over_goes_back_where_it_was() {
    let mut world = World::new(orchestrated());
    world.play(
        "
        implement changes / verify pass 1 h / orchestrate meets asks:human_intervention | human_intervention escalated | 0 | | h | waits escalated | worktree implement verify report orchestrate advance
        > approve / advance error disk | granted | 0 | | | waits escalated | advance
        > approve | granted | 0 | | | active | advance
        ",
    );
    assert_eq!(world.task.phase.as_deref(), Some("implement"));
    assert_eq!(
        world.machine.state().current_phase.as_deref(),
        Some("implement")
    );
}

// rows: B-14, B-13
#[test]
fn pause_and_approve_are_independent() {
    let gated = "
        > phase spec
        implement changes / verify pass 1 | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report
        > pause   | granted | 0 | | | waits approval_required paused |
        |           skipped paused | 0 | | | waits approval_required paused |
    ";
    for rest in [
        "> approve | granted | 0 | | | active paused | advance
         |           skipped paused | 0 | | | active paused |
         > resume  | granted | 0 | | | active |
         > resume  | granted | 0 | | | active |",
        "> resume  | granted | 0 | | | waits approval_required |
         |           skipped approval_required | 0 | | | waits approval_required |
         > approve | granted | 0 | | | active | advance",
        "> stop    | granted | 0 | | | waits approval_required paused |
         > approve | granted | 0 | | | active paused | advance
         > !approve | denied | 0 | | | active paused |",
    ] {
        let mut world = World::new(rules());
        world.play(gated);
        world.play(rest);
    }
}
