//! Work that waits for its judgement: held, not free (decision D-4).

use crate::world::World;
use crate::{limited, rules};

/// A tick whose work no judge has seen.
const HELD: &str = "implement changes / verify exit 1 | verify_error exit | 0 held | | | active | worktree implement verify";

// rows: V-07
// cases: 25, 29, 37
#[test]
fn held_work_is_judged_without_another_implement() {
    for table in [
        "verify pass 1       | pass         | 0 | | | active | worktree tree verify report advance",
        "verify fail 0.4 so  | fail verdict | 1 | 0.4 | so | active | worktree tree verify",
        "verify blocked x    | blocked x    | 1 | | | active | worktree tree verify",
        "verify pass 0.1     | human_intervention low_score | 1 | | | waits low_score | worktree tree verify",
        // It stays held while nobody judges it.
        "verify exit 1       | verify_error exit | 0 held | | | active | worktree tree verify",
        "verify env auth     | environment auth  | 0 held | | | active | worktree tree verify",
        "worktree env setup_failed   | environment setup_failed | 0 held | | | active | worktree",
        "worktree interrupted crash  | interrupted crash | 0 held | | | active | worktree",
        "tree interrupted signal     | interrupted signal | 0 held | | | active | worktree tree",
        "tree error disk             | error disk | 0 held | | | active | worktree tree",
        "find_work no_work           | skipped no_work | 0 held | | | active |",
        "verify error disk   | error disk | 0 held | | | active | worktree tree verify",
        "worktree replaced   | human_intervention worktree_replaced | 0 held | | | waits worktree_replaced | worktree",
        // Work in a place that was replaced is not judged any more.
        "verify replaced     | human_intervention worktree_replaced | 1 | | | waits worktree_replaced | worktree tree verify",
        // An interrupted judgement does not give it back.
        "verify interrupted crash    | interrupted crash | 1 | | | active | worktree tree verify",
        "verify mumbles / verify interrupted crash | interrupted crash | 1 | | | active | worktree tree verify verify",
        "verify meets stop           | interrupted stop | 1 | | | active paused | worktree tree verify",
        "verify meets stop mumbles   | interrupted stop | 1 | | | active paused | worktree tree verify",
        // A judgement that never began leaves it held.
        "verify unbegun interrupted stop | interrupted stop | 0 held | | | active | worktree tree verify",
        "tree meets stop same        | interrupted stop | 0 held | | | active paused | worktree tree",
    ] {
        let mut world = World::new(rules());
        world.play(HELD);
        world.play(table);
        assert!(
            !world.calls[2..]
                .iter()
                .any(|call| call.role.as_str() == "implement")
        );
        for call in &world.calls[2..] {
            let held = call.unjudged.as_ref().unwrap();
            assert_eq!((held.tick, held.output.as_str()), (1, "/outputs/output.md"));
        }
    }
}

// rows: V-07, B-02
#[test]
fn held_work_that_is_gone_is_spent_and_the_next_begins() {
    let next = "implement changes / verify fail 0.4 so | fail verdict | 2 | 0.4 | so | active | worktree tree implement verify";
    for (gone, row) in [
        ("> tree", next),
        (
            "# an unknown tree never matches",
            &format!("tree unknown / {next}"),
        ),
        // Its phase is over: it is spent before the tree is looked at.
        (
            "> phase code_review",
            "implement changes / verify fail 0.4 so | fail verdict | 2 | 0.4 | so | active | worktree implement verify",
        ),
    ] {
        let mut world = World::new(rules());
        world.play("implement changes / verify fail 0.1 old | fail verdict | 1 | 0.1 | old | active | worktree implement verify");
        world.play("implement changes / verify exit 1 | verify_error exit | 1 held | 0.1 | old | active | worktree implement verify");
        world.play(gone);
        let row = row.replace("| 2 | 0.4 |", "| 3 | 0.1 0.4 |");
        world.play(&row);
        let call = &world.calls[4];
        assert_eq!(call.role.as_str(), "implement");
        assert_eq!(call.hint, "old", "no score, and the hint is kept");
        assert_eq!(world.calls[5].unjudged, None, "this is new work");
    }
    // A tree that was unknown when it was left never matches, not even another unknown one.
    World::new(rules()).play(
        "
        implement unknown / verify exit 1 | verify_error exit | 0 held | | | active | worktree implement verify
        tree unknown / implement changes / verify fail 0 | fail verdict | 2 | 0 | | active | worktree tree implement verify
        ",
    );
}

// rows: B-02, L-03
#[test]
fn the_brakes_are_checked_when_held_work_is_spent() {
    let one = || limited(|brakes| brakes.max_iterations = Some(1));
    for (gone, asked) in [("> tree", "worktree tree"), ("> phase code_review", "")] {
        let mut world = World::new(one());
        world.play(HELD);
        world.play(gone);
        world.play(&format!(
            "| human_intervention max_iterations | 1 | | | waits max_iterations | {asked}"
        ));
    }
    // It is not tripped while the work is only held: the last attempt is judged too.
    for row in [
        "verify pass 1   | pass | 0 | | | active | worktree tree verify report advance",
        "verify fail 0.1 | human_intervention max_iterations | 1 | 0.1 | | waits max_iterations | worktree tree verify",
    ] {
        let mut world = World::new(one());
        world.play(HELD);
        world.play(row);
    }
}

// rows: B-05
// cases: 6
#[test]
fn held_work_is_no_spent_attempt_that_changed_nothing() {
    let two = limited(|brakes| brakes.no_progress_window = 2);
    let unchanged = "
        implement same / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        implement same / verify exit 1   | verify_error exit | 1 held | 0.1 | | active | worktree implement verify
    ";
    for (gone, row) in [
        (
            "",
            "verify pass 1   | pass | 0 | | | active | worktree tree verify report advance",
        ),
        (
            "",
            "verify fail 0.2 | human_intervention no_progress | 2 | 0.1 0.2 | | waits no_progress | worktree tree verify",
        ),
        (
            "> tree",
            "| human_intervention no_progress | 2 | 0.1 | | waits no_progress | worktree tree",
        ),
    ] {
        let mut world = World::new(two.clone());
        world.play(unchanged);
        world.play(gone);
        world.play(row);
    }
}

// rows: S-31
#[test]
fn held_work_waits_for_its_own_task() {
    let mut world = World::new(rules());
    world.rules.single = false;
    world.play(HELD);
    world.play(
        "
        > task u
        # In the same tree, which it leaves alone.
        implement same / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify
        > task t
        verify fail 0.4 | fail verdict | 1 | 0.4 | | active | worktree tree verify
        ",
    );
}
