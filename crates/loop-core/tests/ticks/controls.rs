//! A person's hand on a loop while it works (row U-28, scenario 8).

use crate::world::World;
use crate::{orchestrated, rules};

// rows: U-28, B-13, L-07
// cases: 46, 140
#[test]
fn stop_ends_the_running_step_and_what_was_judged_is_finished() {
    for row in [
        "worktree meets stop | interrupted stop | 0 | | | active paused | worktree",
        "worktree meets stop ready | interrupted stop | 0 | | | active paused | worktree",
        "implement meets stop | interrupted stop | 1 | | | active paused | worktree implement",
        "implement unbegun meets stop | interrupted stop | 0 | | | active paused | worktree implement",
        // It had just ended by itself: its work is spent and unjudged.
        "implement meets stop changes | interrupted stop | 1 | | | active paused | worktree implement",
        "implement meets stop exit 1 | fail exit | 1 | | | active paused | worktree implement",
        "implement changes / verify meets stop | interrupted stop | 1 | | | active paused | worktree implement verify",
        "implement changes / verify meets stop mumbles | interrupted stop | 1 | | | active paused | worktree implement verify",
        "implement changes / verify meets stop exit 1 | verify_error exit | 0 held | | | active paused | worktree implement verify",
        // After a verdict the tick is finished, without a further call.
        "implement changes / verify meets stop pass 1 | pass | 0 | | | active paused | worktree implement verify report advance",
        "implement changes / verify meets stop fail 0.1 h | fail verdict | 1 | 0.1 | h | active paused | worktree implement verify",
        "implement changes / verify meets stop pass 0.1 | human_intervention low_score | 1 | | | waits low_score paused | worktree implement verify",
        "implement changes / verify pass 1 / report meets stop | pass | 0 | | | active paused | worktree implement verify report advance",
        "implement changes / verify pass 1 / orchestrate meets stop | pass | 0 | | | active paused | worktree implement verify report orchestrate advance",
        "implement changes / verify pass 1 / orchestrate meets asks:human_intervention meets stop | human_intervention escalated | 0 | | | waits escalated paused | worktree implement verify report orchestrate advance",
        "implement changes / verify pass 1 / advance meets stop | pass | 0 | | | active paused | worktree implement verify report orchestrate advance",
        "implement changes / verify pass 1 / close meets stop | pass | 0 | | | active paused | worktree implement verify report orchestrate advance",
        // Before there is a tick, there is nothing to end, and none begins.
        "find_work meets stop | skipped paused | 0 | | | active paused |",
        "open meets stop | skipped paused | 0 | | | active paused |",
    ] {
        let mut world = World::new(orchestrated());
        world.play(row);
        assert_eq!(world.machine.stopping(), None, "nothing is left to end");
        let next = row.split('|').skip(2).collect::<Vec<_>>();
        world.play(&format!(
            "| skipped paused |{}|{}|{}|{}|",
            next[0], next[1], next[2], next[3]
        ));
    }
    // Asked once more, or resumed, the tick still ends.
    World::new(rules()).play("implement meets stop meets stop meets resume | interrupted stop | 1 | | | active | worktree implement");
}

// rows: B-14, U-28
// cases: 140
#[test]
fn pause_lets_the_running_tick_finish_and_starts_no_other() {
    for script in [
        "worktree meets pause / implement changes / verify pass 1",
        "implement meets pause changes / verify pass 1",
        "implement changes / verify meets pause pass 1",
        "implement changes / verify pass 1 / report meets pause",
        "implement changes / verify pass 1 / orchestrate meets pause",
        "implement changes / verify pass 1 / advance meets pause",
        "implement changes / verify pass 1 / close meets pause",
    ] {
        World::new(orchestrated()).play(&format!(
            "
            {script} | pass | 0 | | | active paused | worktree implement verify report orchestrate advance
            | skipped paused | 0 | | | active paused |
            > pause  | granted | 0 | | | active paused |
            > resume | granted | 0 | | | active |
            "
        ));
    }
    // While work is looked for, no tick runs yet.
    for script in ["find_work meets pause", "open meets pause"] {
        let mut world = World::new(rules());
        world.play(&format!(
            "{script} | skipped paused | 0 | | | active paused |"
        ));
        assert_eq!(world.machine.state().tick, 0);
        world.play("> resume | granted | 0 | | | active |\n implement exit 1 | fail exit | 1 | | | active | worktree implement");
        assert_eq!(world.machine.state().tick, 1);
    }
    // A pause that was taken back in time never was.
    World::new(rules()).play("implement meets pause meets resume exit 1 | fail exit | 1 | | | active | worktree implement");
}

// rows: U-49, B-10
// cases: 110
#[test]
fn a_task_that_is_set_during_a_tick_counts_from_its_end() {
    for (script, came_to, asked) in [
        (
            "implement meets set_task:u changes / verify fail 0.4 h",
            "fail verdict | 1 | 0.4 | h | active",
            "worktree implement verify",
        ),
        (
            "implement changes / verify pass 1 / close meets set_task:u",
            "pass | 0 | | | active",
            "worktree implement verify report advance",
        ),
        (
            "implement meets set_task:u meets stop",
            "interrupted stop | 1 | | | active paused",
            "worktree implement",
        ),
        // The source had made up its mind: that tick is the old task's.
        (
            "find_work meets set_task:u late / implement exit 1",
            "fail exit | 1 | | | active",
            "worktree implement",
        ),
    ] {
        let mut world = World::new(rules());
        world.play(&format!("{script} | {came_to} | {asked}"));
        assert_eq!(world.machine.ended().unwrap().task.as_deref(), Some("t"));
        let state = world.machine.state();
        assert_eq!(state.current_task.as_deref(), Some("u"), "{script}");
        assert_eq!(state.current_phase.as_deref(), Some("implement"));
        assert!(
            state
                .progress
                .get("u")
                .is_none_or(|progress| progress.hint.is_empty())
        );
    }
    // Before it is opened, there is time to look again.
    for script in ["find_work meets set_task:u", "open meets set_task:u"] {
        let mut world = World::new(rules());
        world.play(&format!(
            "{script} / implement exit 1 | fail exit | 0 | | | active | worktree implement"
        ));
        assert_eq!(world.machine.ended().unwrap().task.as_deref(), Some("u"));
        assert_eq!(world.machine.state().progress_of("u").iteration, 1);
    }
    // The last word counts.
    let mut world = World::new(rules());
    world.play("implement meets set_task:u meets set_task:v exit 1 | fail exit | 1 | | | active | worktree implement");
    assert_eq!(world.machine.state().current_task.as_deref(), Some("v"));
    // A halt about the old task stays, and is approved as the old task's.
    let mut world = World::new(rules());
    world.play(
        "
        > phase spec
        implement meets set_task:u changes / verify pass 1 | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report
        > approve | granted | 0 | | | active | advance
        ",
    );
    let state = world.machine.state();
    assert_eq!(state.current_task.as_deref(), Some("u"));
    assert_eq!(
        state.current_phase.as_deref(),
        Some("implement"),
        "of u, not of t"
    );
}

// rows: U-49
// cases: 110
#[test]
fn a_set_task_starts_with_empty_counts_and_no_hint() {
    World::new(rules()).play(
        "
        implement changes / verify fail 0.1 h | fail verdict | 1 | 0.1 | h | active | worktree implement verify
        implement changes / verify exit 1     | verify_error exit | 1 held | 0.1 | h | active | worktree implement verify
        > set_task:t                          | granted | 0 | | | active |
        implement changes / verify fail 0.1 h | fail verdict | 1 | 0.1 | h | active | worktree implement verify
        # Another task's record is left alone.
        > set_task:u                          | granted | 1 | 0.1 | h | active |
        ",
    );
    // A finished loop has something to do again; a waiting one still waits.
    let mut world = World::new(rules());
    world.task.phase = None;
    world.play(
        "
        implement changes / verify pass 1 | pass | 0 | | | complete | worktree implement verify
        > set_task:t                      | granted | 0 | | | active |
        implement changes / verify pass 0 | human_intervention low_score | 1 | | | waits low_score | worktree implement verify
        > set_task:t                      | granted | 0 | | | waits low_score |
        ",
    );
}

// rows: B-10
#[test]
fn approving_during_a_tick_is_refused() {
    for script in [
        "worktree meets !approve / implement exit 1",
        "implement meets !approve exit 1",
        "implement exit 1 / close meets !approve",
    ] {
        World::new(rules()).play(&format!(
            "{script} | fail exit | 1 | | | active | worktree implement"
        ));
    }
    World::new(rules()).play(
        "implement changes / verify pass 0 / close meets !approve | human_intervention low_score | 1 | | | waits low_score | worktree implement verify",
    );
}

// rows: U-28, C-11, C-12, C-13, B-15
#[test]
fn a_person_is_told_what_a_request_did() {
    let passes = "implement changes / verify pass 1 / orchestrate";
    for (ticks, requests, said) in [
        (&[][..], &["pause"][..], "paused"),
        (&[], &["pause", "pause"], "it was paused already"),
        (
            &["implement meets pause exit 1"],
            &[],
            "paused; tick 1 finishes first",
        ),
        (&[], &["resume"], "it was not paused"),
        (&[], &["pause", "resume"], "resumed"),
        (
            &["implement changes / verify pass 0"],
            &["pause", "resume"],
            "resumed; it still waits for a person (low_score): loop approve",
        ),
        (&[], &["stop"], "paused; nothing was running"),
        (
            &["implement meets stop"],
            &[],
            "stopping tick 1, and paused",
        ),
        (&[], &["set_task:u"], "the task is u"),
        (
            &["implement meets set_task:u exit 1"],
            &[],
            "the task is u from the next tick on",
        ),
        (&[], &["!approve"], "it waits for nothing"),
        (
            &[],
            &["pause", "!approve"],
            "it waits for nothing but the end of its pause: loop resume",
        ),
        (
            &["implement meets !approve exit 1"],
            &[],
            "tick 1 is running; nothing waits for approval yet",
        ),
        (
            &["implement changes / verify pass 0"],
            &["approve"],
            "approved; the loop goes on after low_score",
        ),
        (
            &[&format!("{passes} meets asks:next")],
            &[],
            "t goes on to `code_review`",
        ),
        (
            &[&format!("{passes} meets asks:code_review")],
            &[],
            "t goes on to `code_review`",
        ),
        (
            &[&format!("{passes} meets asks:human_intervention")],
            &[],
            "t goes to a person",
        ),
        (
            &[&format!("{passes} meets !asks:spec")],
            &[],
            "the judgement allows `code_review` or `human_intervention`, nothing else",
        ),
        (
            &["implement changes / verify pass 0 / orchestrate meets !asks:next"],
            &[],
            "the judgement allows `human_intervention` only",
        ),
        (
            &[&format!("{passes} meets asks:next meets !asks:next")],
            &[],
            "orchestrate has used its one request of this tick",
        ),
        (
            &[&format!("{passes} meets !asks_for_other:u")],
            &[],
            "this tick is about t, not about u",
        ),
        (
            &["implement meets !asks:next exit 1"],
            &[],
            "only orchestrate may move a task, and only while its tick asks it",
        ),
    ] {
        let mut world = World::new(orchestrated());
        for tick in ticks {
            world.tick(tick);
        }
        for request in requests {
            let denied = request.strip_prefix('!');
            world.control(denied.unwrap_or(request), denied.is_none());
        }
        assert_eq!(world.said(), said, "{ticks:?}, {requests:?}");
    }
    let mut world = World::new(rules());
    world.task.phase = Some("spec".to_owned());
    world.tick("implement changes / verify pass 1");
    world.control("approve", true);
    assert_eq!(world.said(), "approved; t goes on to `implement`");
}
