//! Telling a source that its item is complete: once, and before any other work.

use crate::rules;
use crate::script::file;
use crate::world::World;
use loop_core::answer::Finished;
use loop_core::outcome::{Outcome, Skip};
use loop_core::phase::Phases;
use loop_core::record::Body;
use loop_core::replay::replay;
use loop_core::rules::Rules;
use loop_core::state::State;
use loop_core::step::{Fence, Finishing};
use loop_core::{Action, Answer, Refused, Reply, Start, Step, StepAnswer};

/// A loop whose task is somebody's item, in its only phase.
fn world() -> World {
    let mut world = World::new(Rules {
        single: false,
        phases: Phases {
            list: vec!["implement".to_owned()],
            approval: Vec::new(),
        },
        ..rules()
    });
    world.task.item = Some(file("item"));
    world
}

const PASSES: &str = "implement changes / verify pass 1";

fn owed(world: &World) -> Vec<Finishing> {
    world.machine.state().to_finish.clone()
}

// rows: S-30
#[test]
fn an_item_is_finished_after_its_task_is_complete_and_before_the_tick_is_closed() {
    let mut world = world();
    world.play(&format!(
        "
        implement changes / verify fail 0.1 h | fail verdict | 1 | 0.1 | h | active | worktree implement verify
        {PASSES} | pass | 0 | | | active | worktree implement verify report advance finish
        "
    ));
    assert_eq!(owed(&world), []);
    assert!(world.machine.ended().unwrap().complete);
    // An item for which there is nothing to do is none.
    let mut world = self::world();
    world.task.item = None;
    world.play(&format!(
        "{PASSES} | pass | 0 | | | active | worktree implement verify report advance"
    ));
    // A task without a record is complete without a move.
    let mut world = self::world();
    world.task.phase = None;
    world.play(&format!(
        "{PASSES} | pass | 0 | | | active | worktree implement verify finish"
    ));
}

// rows: S-19
#[test]
fn a_source_that_cannot_be_told_is_asked_again_before_any_other_work() {
    let mut world = world();
    world.play(&format!(
        "
        {PASSES} / finish error source_failed | error source_failed | 0 | | | active | worktree implement verify report advance finish
        finish error source_failed            | error source_failed | 0 | | | active | finish
        finish error disk                     | error source_failed | 0 | | | active | finish
        "
    ));
    let state = world.machine.state();
    assert_eq!((state.tick, state.spent.ticks), (1, 1), "they are no ticks");
    assert_eq!(state.finished.len(), 1, "the task stays complete");
    assert_eq!(owed(&world).len(), 1);
    let why = &world.machine.ended().unwrap().why;
    assert!(
        why.contains("t is complete, but its source could not be told"),
        "{why}"
    );
    world.task.name = "u".to_owned();
    world.task.phase = Some("implement".to_owned());
    world
        .play("finish / implement exit 1 | fail exit | 1 | | | active | finish worktree implement");
    assert_eq!(owed(&world), []);
}

// rows: S-30
#[test]
fn an_item_that_is_not_as_it_was_needs_a_person_who_lets_the_loop_go_on() {
    let mut world = world();
    world.play(&format!(
        "
        {PASSES} / finish conflict | human_intervention conflict | 0 | | | waits conflict | worktree implement verify report advance finish
        > approve                  | granted | 0 | | | active |
        find_work no_work          | skipped no_work | 0 | | | active |
        "
    ));
    assert_eq!(owed(&world), []);
    // The same when it turns out later.
    let mut world = self::world();
    world.tick(&format!("{PASSES} / finish error source_failed"));
    world.play("finish conflict | skipped conflict | 0 | | | waits conflict | finish");
    assert_eq!(owed(&world), []);
}

// rows: B-12, S-30
#[test]
fn a_person_who_approves_the_last_phase_completes_the_item() {
    for park in [false, true] {
        let mut world = world();
        world.rules.park = park;
        world.rules.phases.approval = vec!["implement".to_owned()];
        world.task.phases = world.rules.phases.clone();
        let (ended, asked) = world.tick(PASSES);
        assert!(ended.ends_with("approval_required"), "{ended}");
        assert!(!asked.contains(&Step::Finish), "it is not complete yet");
        let approve = if park { "approve:t" } else { "approve" };
        world.play(&format!(
            "> {approve} / finish error source_failed | granted | 0 | | | active | advance finish"
        ));
        assert_eq!(owed(&world).len(), 1);
        world.task.phase = Some("complete".to_owned());
        world.play("finish / find_work no_work | skipped no_work | 0 | | | active | finish");
        assert_eq!(owed(&world), []);
    }
}

// rows: L-07
// cases: 55
#[test]
fn after_a_crash_the_source_is_told_once_more_and_a_stale_answer_counts_for_nothing() {
    let mut world = world();
    world.tick(PASSES);
    let answered = world
        .records
        .iter()
        .rposition(|record| matches!(record.body, Body::Answer(_)))
        .unwrap();
    let opened = world
        .records
        .iter()
        .find(|record| matches!(record.body, Body::Opened(_)))
        .unwrap()
        .seq;
    // The answer that the source was told is not on disk.
    let mut machine = replay(State::new(), &world.records[..answered])
        .unwrap()
        .machine;
    assert!(matches!(machine.action(), Some(Action::Finish(_))));
    let fence = machine.fence().unwrap();
    assert_eq!((fence.opened, fence.step), (opened, Step::Finish));
    assert!(machine.begun(), "it may have been told");
    let reply = || Reply {
        at: world.now(),
        elapsed_ms: 1,
        bill: None,
        answer: Answer::Step(StepAnswer::Finish(Finished::Done)),
    };
    for stale in [
        Fence {
            opened: opened + 1,
            ..fence
        },
        Fence {
            step: Step::Advance,
            ..fence
        },
        Fence {
            attempt: 2,
            ..fence
        },
    ] {
        assert!(machine.answer(stale, reply()).is_err(), "{stale:?}");
    }
    machine.answer(fence, reply()).unwrap();
    assert!(machine.answer(fence, reply()).is_err(), "a second time");
    assert!(matches!(machine.action(), Some(Action::Close(_))));
    assert_eq!(machine.state().to_finish, []);
}

// rows: L-07, S-30
// cases: 55
#[test]
fn what_is_owed_outside_a_tick_has_the_fence_of_what_made_it_owed() {
    let mut world = world();
    world.tick(&format!("{PASSES} / finish error source_failed"));
    let [owed] = &owed(&world)[..] else {
        panic!("one is owed")
    };
    let fence = world.machine.fence().unwrap();
    assert_eq!((fence.opened, fence.step), (owed.owed_by, Step::Finish));
    assert_eq!(owed.item, file("item"));
    let again = replay(State::new(), &world.records).unwrap();
    assert_eq!(again.machine.state(), world.machine.state());
    assert_eq!(again.machine.fence(), Some(fence));
    assert!(!world.machine.begun());
}

// rows: U-28
#[test]
fn what_is_owed_waits_while_the_loop_is_paused() {
    let mut world = world();
    world.tick(&format!("{PASSES} / finish error source_failed"));
    world.control("pause", true);
    let start = Start {
        rules: world.rules.clone(),
        now: world.now(),
    };
    world.machine.start(start.clone()).unwrap();
    let ended = world.machine.ended().unwrap();
    assert_eq!(ended.outcome, Outcome::Skipped(Skip::Paused));
    assert_eq!(owed(&world).len(), 1);
    world.control("resume", true);
    let busy = world.machine.start(start).unwrap_err();
    assert_eq!(busy, Refused::Busy(Step::Finish));
}
