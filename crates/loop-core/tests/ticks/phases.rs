//! Phases, approval, and tasks that are elsewhere (decision D-9).

use crate::rules;
use crate::world::World;
use loop_core::phase::Phases;

fn phases(list: &[&str], approval: &[&str]) -> Phases {
    let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Phases {
        list: strings(list),
        approval: strings(approval),
    }
}

// rows: B-07, B-08
#[test]
fn a_pass_moves_one_phase_and_some_need_a_person() {
    let advances = "pass | 0 | | | active | worktree implement verify report advance";
    let asks = "human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report";
    for (from, row, to) in [
        ("research", advances, "spec"),
        ("spec", asks, "spec"),
        ("implement", advances, "code_review"),
        ("code_review", advances, "bug_find"),
        ("bug_find", asks, "bug_find"),
    ] {
        let mut world = World::new(rules());
        world.play(&format!(
            "> phase {from}\n implement changes / verify pass 1 | {row}"
        ));
        assert_eq!(world.task.phase.as_deref(), Some(to));
        let ended = world.machine.ended().unwrap();
        assert_eq!(
            ended.phase.as_deref(),
            Some(to),
            "it says where the task is now"
        );
        assert!(!ended.complete);
        assert_eq!(world.machine.state().current_phase.as_deref(), Some(to));
    }
}

// rows: B-07, B-18
#[test]
fn the_last_phase_completes_the_task() {
    // A phase of the loop's own has no document, so nothing is copied.
    let own = phases(&["build", "polish"], &[]);
    let mut world = World::new(rules());
    world.rules.phases = own.clone();
    world.task.phases = own;
    world.play(
        "
        > phase build
        implement changes / verify pass 1 | pass | 0 | | | active | worktree implement verify advance
        implement changes / verify pass 1 | pass | 0 | | | complete | worktree implement verify advance
        ",
    );
    let ended = world.machine.ended().unwrap();
    assert!(ended.complete);
    assert_eq!(ended.phase.as_deref(), Some("complete"));
    let state = world.machine.state();
    assert_eq!((&state.current_task, &state.current_phase), (&None, &None));
    assert_eq!((state.finished.len(), state.finished[0].tick), (1, Some(2)));
    assert_eq!(
        state.progress.get("t"),
        None,
        "the record of a finished task goes"
    );
    world.play("find_work no_current_task | skipped no_current_task | 0 | | | complete |");
    // Any other source goes on by itself.
    let mut world = World::new(rules());
    world.rules.single = false;
    world.task.phases = phases(&["implement"], &[]);
    world.play("implement changes / verify pass 1 | pass | 0 | | | active | worktree implement verify report advance");
    assert_eq!(world.machine.state().current_task, None);
}

// rows: B-18
#[test]
fn a_task_without_a_record_is_complete_when_it_passes() {
    let mut world = World::new(rules());
    world.task.phase = None;
    world.play("implement changes / verify fail 0.1 | fail verdict | 1 | 0.1 | | active | worktree implement verify");
    world.play(
        "implement changes / verify pass 1   | pass | 0 | | | complete | worktree implement verify",
    );
    let finished = &world.machine.state().finished;
    assert_eq!((finished.len(), finished[0].tick), (1, Some(2)));
}

// rows: B-07
#[test]
fn the_tasks_own_phases_and_approvals_count() {
    let mut world = World::new(rules());
    world.task.phases = phases(&["implement", "spec"], &["implement"]);
    world.play(
        "
        implement changes / verify pass 1 | human_intervention approval_required | 0 | | | waits approval_required | worktree implement verify report
        > approve | granted | 0 | | | active | advance
        implement changes / verify pass 1 | pass | 0 | | | complete | worktree implement verify report advance
        ",
    );
}

// rows: B-09, B-18
#[test]
fn a_task_that_is_elsewhere_is_a_conflict() {
    let refused = "| human_intervention conflict | 0 | | | waits conflict |";
    // The loop's phases lack the task's.
    let mut world = World::new(rules());
    world.play(&format!("> phase polish\n{refused}"));
    assert_eq!(
        world.machine.ended().unwrap().why,
        "task t is in phase `polish`, which this loop's phases lack (research, spec, implement, code_review, bug_find)"
    );
    // The task's own copy lacks it: no pass could tell where it goes.
    let mut world = World::new(rules());
    world.task.phases = phases(&["research"], &[]);
    world.play(refused);
    assert_eq!(
        world.machine.ended().unwrap().why,
        "task t is in phase `implement`, which its own phases lack (research)"
    );
    // It was moved while the tick ran.
    let mut world = World::new(rules());
    world.play(
        "
        implement changes / verify pass 1 h / advance conflict | human_intervention conflict | 0 | | h | waits conflict | worktree implement verify report advance
        > approve | granted | 0 | | h | active |
        ",
    );
    assert_eq!(world.machine.state().awaiting, None);
    // With a person: the source says so, and nothing is asked.
    World::new(rules()).play("find_work with_a_person | skipped escalated | 0 | | | active |");
}

// rows: B-07, K-01
#[test]
fn the_report_is_kept_under_the_phases_name() {
    let mut world = World::new(rules());
    world.play(
        "
        implement changes / verify exit 1 | verify_error exit | 0 held | | | active | worktree implement verify
        # In a tick that only judges, it is the report of the tick that worked.
        verify pass 1 | pass | 0 | | | active | worktree tree verify report advance
        implement changes / verify pass 1 | pass | 0 | | | active | worktree implement verify report advance
        ",
    );
    let kept: Vec<_> = world
        .reports
        .iter()
        .map(|report| (report.task.as_str(), report.file))
        .collect();
    assert_eq!(kept, [("t", "IMPLEMENTATION.md"), ("t", "CODE_REVIEW.md")]);
    assert!(
        world
            .reports
            .iter()
            .all(|report| report.output == "/outputs/output.md")
    );
}

// rows: B-08, B-18
#[test]
fn a_tick_says_where_the_task_goes() {
    let one = phases(&["build"], &[]);
    for (phases, phase, script, why) in [
        (
            Phases::default(),
            Some("implement"),
            "",
            "t passed `implement` and goes on to `code_review`",
        ),
        (
            Phases::default(),
            Some("spec"),
            "",
            "t passed `spec`; a person has to let it go on to `implement`",
        ),
        (one, Some("build"), "", "t passed `build` and is complete"),
        (Phases::default(), None, "", "t passed and is complete"),
        (
            Phases::default(),
            Some("implement"),
            "/ orchestrate meets asks:human_intervention",
            "orchestrate handed t to a person",
        ),
        (
            Phases::default(),
            Some("implement"),
            "/ advance conflict",
            "the task is elsewhere",
        ),
    ] {
        let mut world = World::new(crate::orchestrated());
        world.rules.phases = phases.clone();
        world.task.phases = phases;
        world.task.phase = phase.map(str::to_owned);
        world.tick(&format!("implement changes / verify pass 1 {script}"));
        assert_eq!(world.machine.ended().unwrap().why, why);
        let waits = world.machine.state().reason.is_some();
        let kept = world.machine.state().why.as_deref();
        assert_eq!(
            kept,
            waits.then_some(why),
            "a halt's reason is kept in words"
        );
    }
}

// rows: B-02, B-16
// cases: 6
#[test]
fn a_pass_whose_move_could_not_be_made_is_moved_before_anything_is_done_again() {
    let mut world = World::new(rules());
    world.play(
        "
        implement changes / verify pass 1 / advance error disk | error disk | 0 | | | active | worktree implement verify report advance
        advance error disk                                     | error disk | 0 | | | active | advance
        advance / implement changes / verify fail 0.1          | fail verdict | 1 | 0.1 | | active | advance worktree implement verify
        ",
    );
    assert_eq!(world.calls.len(), 4, "nothing was done twice");
    // A task that has gone elsewhere meanwhile is a conflict, as ever.
    World::new(rules()).play(
        "
        implement changes / verify pass 1 / advance error disk | error disk | 0 | | | active | worktree implement verify report advance
        advance conflict | skipped conflict | 0 | | | waits conflict | advance
        ",
    );
}
