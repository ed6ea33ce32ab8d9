//! Tasks that are put aside, and taken back (decision D-18).

use crate::script::{file, made};
use crate::world::World;
use crate::{orchestrated, rules};
use loop_core::config::WorktreeFor;
use loop_core::outcome::Halt;
use loop_core::phase::Phases;
use loop_core::replay::replay;
use loop_core::rules::{GateRules, Rules};
use loop_core::state::{Progress, State, Status};
use std::collections::BTreeMap;

const FAILS: &str = "implement changes / verify fail 0.1 h";

/// A loop that has more than one task and puts aside what it cannot do.
fn parking() -> Rules {
    Rules {
        single: false,
        park: true,
        phases: Phases {
            list: vec!["implement".to_owned()],
            approval: Vec::new(),
        },
        ..rules()
    }
}

/// The same, in one worktree for all tasks.
fn sharing() -> Rules {
    Rules {
        worktree: Some(WorktreeFor::Loop),
        scope: true,
        ..parking()
    }
}

fn with(change: impl FnOnce(&mut Rules)) -> Rules {
    let mut rules = parking();
    change(&mut rules);
    rules
}

fn parked(world: &World) -> BTreeMap<String, Halt> {
    world.machine.state().parked.clone()
}

/// Why a task is put aside, in which loop, and the ticks that lead to it.
fn ways() -> Vec<(Halt, Rules, &'static [&'static str])> {
    let gate = GateRules {
        must_start_red: true,
        timeout_ms: 1_000,
    };
    vec![
        (
            Halt::MaxIterations,
            with(|rules| rules.brakes.max_iterations = Some(1)),
            &[FAILS],
        ),
        (
            Halt::ScorePlateau,
            with(|rules| rules.brakes.score_plateau_window = 2),
            &[FAILS, FAILS],
        ),
        (
            Halt::NoProgress,
            with(|rules| rules.brakes.no_progress_window = 1),
            &["implement same / verify fail 0.1 h"],
        ),
        (
            Halt::LowScore,
            parking(),
            &["implement changes / verify pass 0.1 h"],
        ),
        (
            Halt::Blocked,
            parking(),
            &["implement changes blocked x", "implement changes blocked x"],
        ),
        (
            Halt::Escalated,
            with(|rules| rules.orchestrate = orchestrated().orchestrate),
            &["implement changes / verify pass 1 / orchestrate meets asks:human_intervention"],
        ),
        (
            Halt::HarnessFailures,
            with(|rules| rules.brakes.max_harness_failures = 1),
            &["implement exit 1"],
        ),
        (
            Halt::FileScope,
            with(|rules| rules.scope = true),
            &["implement changes / scope outside a"],
        ),
        (
            Halt::Protected,
            with(|rules| rules.scope = true),
            &["implement changes / scope protected a"],
        ),
        (
            Halt::GateGreen,
            with(|rules| rules.gate = Some(gate)),
            &["arm green"],
        ),
        (
            Halt::ApprovalRequired,
            with(|rules| rules.phases.approval = vec!["implement".to_owned()]),
            &["implement changes / verify pass 1 h"],
        ),
        (
            Halt::MaxIterations,
            with(|rules| rules.brakes.max_iterations = Some(2)),
            &[FAILS, FAILS],
        ),
    ]
}

// rows: B-14, B-12
// cases: 9
#[test]
fn what_concerns_a_task_alone_puts_it_aside_and_the_loop_goes_on() {
    for (halt, rules, ticks) in ways() {
        let mut world = World::new(rules);
        for tick in ticks {
            assert_eq!(parked(&world), BTreeMap::new(), "{halt}");
            world.tick(tick);
        }
        let state = world.machine.state();
        let ended = world.machine.ended().unwrap();
        assert_eq!(ended.outcome.to_string(), format!("parked ({halt})"));
        assert_eq!(state.status, Status::Active, "{halt}");
        assert_eq!(state.reason, None, "{halt}");
        assert_eq!(state.current_task, None, "{halt}");
        assert_eq!(state.awaiting, None, "{halt}");
        assert_eq!(parked(&world), [("t".to_owned(), halt)].into());
        let why = world.progress().parked_why;
        assert_eq!(why.as_ref(), Some(&ended.why), "{halt}");

        // The next task is worked on; what was put aside waits for its own name.
        world.task.name = "u".to_owned();
        world.task.phase = Some("implement".to_owned());
        world.tick(match halt {
            Halt::GateGreen => "arm red / implement changes / gate red 1",
            _ => "implement changes blocked y",
        });
        world.control("approve", false);
        assert!(world.said().contains("name it: t"), "{}", world.said());
        world.control("approve:v", false);
        world.task.name = "t".to_owned();
        let moves = match halt {
            Halt::Escalated | Halt::ApprovalRequired => "advance",
            _ => "",
        };
        world.play(&format!("> approve:t | granted | 0 | | | active | {moves}"));
        assert_eq!(parked(&world), BTreeMap::new(), "{halt}");
        assert_eq!(world.progress().parked_why, None, "{halt}");
        world.control("approve:t", false);
        let again = replay(State::new(), &world.records).unwrap();
        assert_eq!(again.machine.state(), world.machine.state(), "{halt}");
    }
}

// rows: B-14
#[test]
fn what_concerns_more_than_a_task_stops_the_loop() {
    let gate = |rules: &mut Rules| {
        rules.gate = Some(GateRules {
            must_start_red: true,
            timeout_ms: 1_000,
        });
    };
    let once = |rules: &mut Rules| rules.brakes.max_harness_failures = 1;
    let no_time = |rules: &mut Rules| rules.brakes.max_wall_ms = Some(1);
    let one_a_day = |rules: &mut Rules| rules.brakes.max_ticks_per_day = Some(0);
    for (halt, rules, tick) in [
        (
            Halt::VerifierBroken,
            with(once),
            "implement changes / verify exit 1",
        ),
        (Halt::OutsideChanged, parking(), "implement elsewhere"),
        (Halt::WorktreeReplaced, parking(), "worktree replaced"),
        (Halt::Tampered, parking(), "implement tampered"),
        (
            Halt::Conflict,
            parking(),
            "implement changes / verify pass 1 / advance conflict",
        ),
        (Halt::MaxWall, with(no_time), ""),
        (Halt::MaxTicks, with(one_a_day), ""),
        (Halt::GateBroken, with(gate), "arm broken"),
        (Halt::GateUnwritten, with(gate), "arm unwritten"),
        (Halt::GateFlaky, with(gate), "arm flaky"),
    ] {
        let mut world = World::new(rules);
        let (ended, _) = world.tick(tick);
        assert_eq!(ended, format!("human_intervention {halt}"));
        assert_eq!(parked(&world), BTreeMap::new(), "{halt}");
        assert_eq!(world.machine.state().reason, Some(halt));
    }
    // A loop with one task has no other to go on with.
    let mut world = World::new(Rules {
        single: true,
        park: false,
        ..parking()
    });
    let (ended, _) = world.tick("implement changes / verify pass 0.1");
    assert_eq!(ended, "human_intervention low_score");
}

// cases: 9
#[test]
fn in_a_shared_worktree_the_work_is_taken_out_first() {
    let mut world = World::new(sharing());
    world.rules.brakes.max_iterations = Some(1);
    world.play(
        "
        worktree made all / implement changes / verify fail 0.1 h | parked max_iterations | 1 | 0.1 | h | active | worktree baseline implement scope verify set_aside
        ",
    );
    let check = world.checks.last().unwrap();
    assert_eq!(check.task, "t");
    assert_eq!(check.worktree, Some(made("all")));
    assert_eq!(check.baseline, Some(file("baseline")));
    assert_eq!(
        world.progress().baseline,
        None,
        "there is nothing of it left"
    );
    assert_eq!(world.progress().worktree, None);
    // Taken back, it starts from what the tree is by then.
    world.play(
        "
        > approve:t | granted | 0 | | | active |
        worktree made all / implement changes / verify pass 1 | pass | 0 | | | active | worktree baseline implement scope verify report advance
        ",
    );
}

// cases: 9
#[test]
fn work_that_passed_is_not_taken_out_and_neither_is_what_nobody_can_tell_apart() {
    let mut world = World::new(sharing());
    world.rules.phases.approval = vec!["implement".to_owned()];
    world.task.phases = world.rules.phases.clone();
    world.play("worktree made all / implement changes / verify pass 1 | parked approval_required | 0 | | | active | worktree baseline implement scope verify report");
    let mut world = World::new(sharing());
    world.play("worktree made all / baseline unknown / implement changes / verify pass 0.1 | parked low_score | 1 | | | active | worktree baseline implement scope verify");
    // A tree of the task's own is in nobody's way.
    let mut world = World::new(sharing());
    world.rules.worktree = Some(WorktreeFor::Task);
    world.play("worktree made t / implement changes / verify pass 0.1 | parked low_score | 1 | | | active | worktree baseline implement scope verify");
    assert_eq!(world.progress().worktree, Some(made("t")));
}

// cases: 9
#[test]
fn another_task_is_not_worked_on_among_leavings() {
    for (fault, halt) in [
        ("error disk", "conflict"),
        ("replaced", "worktree_replaced"),
    ] {
        let mut world = World::new(sharing());
        world.play(&format!(
            "worktree made all / implement changes / verify pass 0.1 / set_aside {fault} | human_intervention {halt} | 1 | | | waits {halt} | worktree baseline implement scope verify set_aside"
        ));
        assert_eq!(parked(&world), BTreeMap::new());
        let why = world.machine.state().why.clone().unwrap();
        assert!(why.contains("its work could not be taken out"), "{why}");
        world.play(&format!("| skipped {halt} | 1 | | | waits {halt} |"));
    }
}

// rows: S-31
#[test]
fn a_start_in_a_shared_place_holds_until_another_task_is_worked_on() {
    let starts = |world: &World| -> Vec<(String, bool)> {
        let all = world.machine.state().progress.iter();
        all.map(|(task, progress)| (task.clone(), progress.baseline.is_some()))
            .collect()
    };
    let both = |t: bool| vec![("t".to_owned(), t), ("u".to_owned(), true)];
    for (worktree, holds) in [
        (Some(WorktreeFor::Loop), false),
        (None, false),
        (Some(WorktreeFor::Task), true),
    ] {
        let mut world = World::new(sharing());
        world.rules.worktree = worktree;
        world.tick("worktree made a / implement changes / verify fail 0.1");
        world.task.name = "u".to_owned();
        world.tick("worktree made a / implement changes / verify fail 0.1");
        assert_eq!(starts(&world), both(holds), "{worktree:?}");
    }
}

#[test]
fn what_a_task_that_is_put_aside_had_counted_stays_until_it_is_taken_back() {
    let mut world = World::new(parking());
    world.tick("implement changes / verify fail 0.3 h");
    world.tick("implement changes / verify pass 0.1 h");
    let Progress {
        iteration, scores, ..
    } = world.progress();
    assert_eq!((iteration, scores.len()), (2, 1));
    world.control("set_task:u", true);
    assert_eq!(parked(&world), [("t".to_owned(), Halt::LowScore)].into());
}
