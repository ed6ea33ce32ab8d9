//! The plan: once, in a tick of its own, before anything else.

use crate::rules;
use crate::world::World;
use loop_core::rules::{GateRules, Rules};

fn planned() -> Rules {
    Rules {
        plan: Some(rules().implement),
        gate: Some(GateRules {
            must_start_red: true,
            timeout_ms: 60_000,
        }),
        judge: false,
        ..rules()
    }
}

// rows: G-05, G-06, G-11, G-36
// cases: 105
#[test]
fn a_planner_is_asked_once_and_before_any_work() {
    let mut world = World::new(planned());
    world.play(
        "
        plan planned                           | pass | 0 | | | active | worktree plan
        arm red / implement changes / gate red 7 no | fail gate_red | 1 | | no | active | worktree arm implement gate
        implement changes / gate green         | pass | 0 | |    | active | worktree implement gate report advance
        ",
    );
    let armed = &world.checks[0];
    assert_eq!(
        armed.planned,
        ["tests/x"],
        "what the plan freezes is frozen"
    );
    for row in [
        "plan refused not_objective: name the file | human_intervention refused        | 0 | | | waits refused        | worktree plan",
        "plan broken no block                      | human_intervention planner_broken | 0 | | | waits planner_broken | worktree plan",
        "plan exit 1                               | human_intervention planner_broken | 0 | | | waits planner_broken | worktree plan",
        "plan timeout                              | human_intervention planner_broken | 0 | | | waits planner_broken | worktree plan",
        // What is wrong around the loop is not the planner's fault.
        "plan env auth                             | environment auth                  | 0 | | | active               | worktree plan",
        "plan interrupted signal                   | interrupted signal                | 0 | | | active               | worktree plan",
    ] {
        World::new(planned()).play(row);
    }
}

// rows: G-04
#[test]
fn whoever_starts_over_keeps_nothing_of_the_task() {
    let mut world = World::new(planned());
    world.play(
        "
        plan planned                                | pass | 0 | | | active | worktree plan
        arm red / implement changes / gate red 7 no | fail gate_red | 1 | | no | active | worktree arm implement gate
        > restart:t                                 | granted | 0 | | | active |
        plan planned                                | pass | 0 | | | active | worktree plan
        arm green                                   | human_intervention gate_green | 0 | | | waits gate_green | worktree arm
        > restart:t                                 | granted | 0 | | | active |
        plan planned                                | pass | 0 | | | active | worktree plan
        ",
    );
    // Not while a tick runs.
    world.play("arm red / implement meets !restart:t changes / gate green | pass | 0 | | | active | worktree arm implement gate report advance");
}
