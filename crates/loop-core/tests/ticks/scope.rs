//! What an attempt may change, and what it may not.

use crate::world::World;
use crate::{orchestrated, rules};
use loop_core::rules::Rules;
use loop_core::scope::Rule;

fn watched() -> Rules {
    Rules {
        scope: true,
        ..rules()
    }
}

// rows
// cases: 89
#[test]
fn what_landed_out_of_scope_is_not_judged() {
    for row in [
        "implement changes / verify pass 1         | pass | 0 | | | active | worktree baseline implement scope verify report advance",
        "implement changes / scope outside a b     | human_intervention file_scope | 1 | | | waits file_scope | worktree baseline implement scope",
        "implement changes / scope protected a     | human_intervention protected  | 1 | | | waits protected  | worktree baseline implement scope",
        "implement changes / scope tampered        | human_intervention tampered   | 1 | | | waits tampered   | worktree baseline implement scope",
        "implement changes / scope error disk      | error disk                    | 0 held | | | active      | worktree baseline implement scope",
        "implement changes / scope interrupted stop | interrupted stop             | 1 | | | active           | worktree baseline implement scope",
        "baseline error disk                       | error disk                    | 0 | | | active           | worktree baseline",
        "implement exit 1                          | fail exit                     | 1 | | | active           | worktree baseline implement",
    ] {
        World::new(watched()).play(row);
    }
}

// rows: X-07
#[test]
fn the_end_of_the_tick_names_what_was_not_allowed() {
    let mut world = World::new(watched());
    world.tick("implement changes / scope outside a b c d e f g");
    let ended = world.machine.ended().unwrap();
    assert_eq!(ended.violations.len(), 7);
    assert_eq!(ended.violations[0].rule, Rule::FileScope);
    let why = &ended.why;
    assert!(why.contains("a (added, outside file_scope)"), "{why}");
    assert!(why.ends_with("and 2 more"), "{why}");
}

// rows: X-08
#[test]
fn the_state_at_the_start_of_a_task_is_kept_until_it_ends() {
    let mut world = World::new(watched());
    world.play(
        "
        implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree baseline implement scope verify
        implement changes / verify fail 0.2 | fail verdict | 2 | 0.1 0.2 | | active | worktree implement scope verify
        # Work that is only judged again is looked at again, too.
        implement changes / verify exit 1   | verify_error exit | 2 held | 0.1 0.2 | | active | worktree implement scope verify
        verify fail 0.3                     | fail verdict | 3 | 0.1 0.2 0.3 | | active | worktree tree scope verify
        ",
    );
    assert!(world.checks.iter().all(|check| check.baseline.is_some()));
    // What cannot be told is asked for again, not taken for nothing.
    World::new(watched()).play(
        "
        baseline unknown / implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree baseline implement scope verify
        implement changes / verify fail 0.2 | fail verdict | 2 | 0.1 0.2 | | active | worktree baseline implement scope verify
        ",
    );
}

// rows: X-04
// cases: 88
#[test]
fn a_change_outside_stops_the_task_and_its_work_is_judged_if_that_was_a_person() {
    let mut world = World::new(rules());
    world.play(
        "
        implement changes elsewhere | human_intervention outside_changed | 0 held | | | waits outside_changed | worktree implement
        | skipped outside_changed | 0 held | | | waits outside_changed |
        > approve | granted | 0 held | | | active |
        verify pass 1 | pass | 0 | | | active | worktree tree verify report advance
        ",
    );
    for row in [
        // Failed work is not worth a judgement.
        "implement elsewhere blocked no key | human_intervention outside_changed | 1 | | | waits outside_changed | worktree implement",
        "implement exit 1 elsewhere | human_intervention outside_changed | 1 | | | waits outside_changed | worktree implement",
        "implement changes / verify elsewhere | human_intervention outside_changed | 0 held | | | waits outside_changed | worktree implement verify",
    ] {
        World::new(rules()).play(row);
    }
    // What was decided is done; then somebody has to look.
    World::new(orchestrated()).play(
        "implement changes / verify pass 1 / orchestrate elsewhere | human_intervention outside_changed | 0 | | | waits outside_changed | worktree implement verify report orchestrate advance",
    );
    // A person may say that it does not matter.
    World::new(Rules { watch: false, ..rules() }).play(
        "implement changes elsewhere / verify pass 1 | pass | 0 | | | active | worktree implement verify report advance",
    );
}
