//! Where a task's work is done, and that it is remembered.

use crate::orchestrated;
use crate::script::made;
use crate::world::World;
use loop_core::config::WorktreeFor;
use loop_core::step::Workplace;

// rows
#[test]
fn the_worktree_is_shown_to_every_call_and_kept_for_the_next_tick() {
    let mut world = World::new(orchestrated());
    world.rules.worktree = Some(WorktreeFor::Task);
    world.play(
        "
        worktree made a / implement changes / verify exit 1 | verify_error exit | 0 held | | | active | worktree implement verify
        worktree made a / verify pass 1 | pass | 0 | | | active | worktree tree verify report orchestrate advance
        # It was made anew: what counts is what was made last.
        worktree made b / implement env auth | environment auth | 0 | | | active | worktree implement
        ",
    );
    let place = |tick, recorded: Option<&str>| Workplace {
        task: "t".to_owned(),
        tick,
        worktree: Some(WorktreeFor::Task),
        recorded: recorded.map(made),
    };
    assert_eq!(
        world.places,
        [
            place(1, None),
            place(2, Some("a")),
            place(2, Some("a")),
            place(3, Some("a")),
        ]
    );
    let shown: Vec<_> = world
        .calls
        .iter()
        .map(|call| call.worktree.clone())
        .collect();
    let a = || Some(made("a"));
    assert_eq!(shown, [a(), a(), a(), a(), Some(made("b"))]);
    assert_eq!(world.progress().worktree, Some(made("b")));
    assert_eq!(world.machine.ended().unwrap().worktree, Some(made("b")));
}

// rows: B-18
#[test]
fn a_finished_task_says_where_its_work_is() {
    let mut world = World::new(orchestrated());
    world.rules.worktree = Some(WorktreeFor::Task);
    world.task.phase = None;
    world.tick("worktree made a / implement changes / verify pass 1");
    assert_eq!(world.machine.ended().unwrap().worktree, Some(made("a")));
    assert_eq!(world.machine.state().finished[0].worktree, Some(made("a")));
    // In the project itself there is no such place.
    let mut world = World::new(orchestrated());
    world.tick("implement exit 1");
    assert_eq!(world.places[0].worktree, None);
    assert_eq!(world.calls[0].worktree, None);
}
