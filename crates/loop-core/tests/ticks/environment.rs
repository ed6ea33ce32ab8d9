//! Faults of what is around the loop (decision D-4).

use crate::rules;
use crate::world::World;

// rows: U-19
// cases: 37, 38, 39, 43
#[test]
fn two_equal_environment_faults_in_a_row_stop_the_loop() {
    for table in [
        "
        implement env auth    | environment auth | 0 | | | active | worktree implement
        implement env auth    | human_intervention environment | 0 | | | waits environment | worktree implement
        |                       skipped environment | 0 | | | waits environment |
        ",
        // Another one is another row.
        "
        implement env auth    | environment auth | 0 | | | active | worktree implement
        implement env offline | environment offline | 0 | | | active | worktree implement
        > wait 300
        implement env auth    | environment auth | 0 | | | active | worktree implement
        implement env auth    | human_intervention environment | 0 | | | waits environment | worktree implement
        ",
        // In whichever step it shows; the work is held, not lost.
        "
        worktree env setup_failed | environment setup_failed | 0 | | | active | worktree
        worktree env setup_failed | human_intervention environment | 0 | | | waits environment | worktree
        ",
        "
        implement changes / verify env rate_limit | environment rate_limit | 0 held | | | active | worktree implement verify
        | skipped not_before | 0 held | | | active |
        > wait 300
        verify env rate_limit | human_intervention environment | 0 held | | | waits environment | worktree tree verify
        ",
        // A harness that ran, however badly, ends the row.
        "
        implement env auth    | environment auth | 0 | | | active | worktree implement
        implement exit 1      | fail exit | 1 | | | active | worktree implement
        implement env auth    | environment auth | 1 | | | active | worktree implement
        implement changes / verify exit 1 | verify_error exit | 1 held | | | active | worktree implement verify
        verify env auth       | environment auth | 1 held | | | active | worktree tree verify
        verify exit 1         | verify_error exit | 1 held | | | active | worktree tree verify
        verify env auth       | environment auth | 1 held | | | active | worktree tree verify
        ",
        // What is no environment fault and ran no harness does not.
        "
        implement env auth         | environment auth | 0 | | | active | worktree implement
        worktree interrupted crash | interrupted crash | 0 | | | active | worktree
        find_work no_work          | skipped no_work | 0 | | | active |
        implement env auth         | human_intervention environment | 0 | | | waits environment | worktree implement
        ",
    ] {
        World::new(rules()).play(table);
    }
}

// cases: 39
#[test]
fn a_queue_is_not_burned_by_one_login() {
    let mut world = World::new(rules());
    world.rules.single = false;
    world.play(
        "
        implement env auth | environment auth | 0 | | | active | worktree implement
        > task u
        implement env auth | human_intervention environment | 0 | | | waits environment | worktree implement
        > task v
        | skipped environment | 0 | | | waits environment |
        ",
    );
}

// rows: L-03
// cases: 43
#[test]
fn a_known_reset_is_waited_for_instead() {
    World::new(rules()).play(
        "
        implement env rate_limit until 3600 | environment rate_limit | 0 | | | active | worktree implement
        | skipped not_before | 0 | | | active |
        > wait 3590
        | skipped not_before | 0 | | | active |
        > wait 20
        # However often: it is no fault that a person could mend.
        implement env rate_limit until 60   | environment rate_limit | 0 | | | active | worktree implement
        # Closing took the first second; at the very time it is over.
        > wait 59
        implement env rate_limit until 60   | environment rate_limit | 0 | | | active | worktree implement
        # A service that names too short a time is not asked each time it has passed.
        > wait 60
        | skipped not_before | 0 | | | active |
        > wait 60
        implement changes / verify env quota until 60 | environment quota | 0 held | | | active | worktree implement verify
        | skipped not_before | 0 held | | | active |
        > wait 60
        verify fail 0.1                     | fail verdict | 1 | 0.1 | | active | worktree tree verify
        ",
    );
    // The tick that comes at the very time has nothing to wait for any more.
    let mut world = World::new(rules());
    world.play(
        "
        implement env quota until 60 | environment quota | 0 | | | active | worktree implement
        > wait 59
        find_work takes 0 / open takes 0 / implement exit 1 | fail exit | 1 | | | active | worktree implement
        ",
    );
    assert_eq!(world.machine.state().not_before, None);
    // A reset that has passed is no reset.
    World::new(rules()).play(
        "
        implement env rate_limit until 0  | environment rate_limit | 0 | | | active | worktree implement
        > wait 300
        implement env rate_limit until -1 | human_intervention environment | 0 | | | waits environment | worktree implement
        ",
    );
    // Waiting is no fault of the kind before it, so that one's row is broken.
    World::new(rules()).play(
        "
        implement env auth                | environment auth | 0 | | | active | worktree implement
        implement env rate_limit until 60 | environment rate_limit | 0 | | | active | worktree implement
        > wait 60
        implement env auth                | environment auth | 0 | | | active | worktree implement
        ",
    );
}
