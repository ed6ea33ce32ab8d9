//! Everything that a loop remembers is bounded (architecture, rule 4).

use crate::limited;
use crate::world::World;

fn unlimited() -> World {
    World::new(limited(|brakes| {
        brakes.max_iterations = None;
        brakes.score_plateau_window = 0;
        brakes.no_progress_window = 0;
    }))
}

// rows: U-06
#[test]
fn a_task_keeps_its_latest_32_scores_and_attempts() {
    let mut world = unlimited();
    for at in 0..40 {
        let changes = if at < 8 { "changes" } else { "same" };
        world.tick(&format!("implement {changes} / verify fail 0.{at:02}"));
    }
    let progress = world.progress();
    assert_eq!(progress.iteration, 40, "the count is no list");
    let scores: Vec<f64> = progress.scores.iter().map(|score| score.get()).collect();
    assert_eq!(scores.len(), 32);
    assert_eq!((scores[0], scores[31]), (0.08, 0.39));
    assert_eq!(progress.attempts.len(), 32);
    assert!(progress.attempts.iter().all(|attempt| !attempt.changed));
}

// rows: U-06
#[test]
fn a_loop_keeps_the_latest_64_ids_and_32_finished_tasks() {
    let mut world = unlimited();
    // The first request gave the loop its task.
    for _ in 0..64 {
        world.control("pause", true);
    }
    assert!(!world.machine.knows("c1"));
    assert!(world.machine.knows("c2"));
    assert!(world.machine.knows("c65"));
    assert!(!world.machine.knows("c66"));
    // A request that was denied is remembered too: it was answered.
    world.control("approve", false);
    assert!(world.machine.knows("c66"));

    let mut world = unlimited();
    world.rules.single = false;
    world.task.phase = None;
    for at in 0..40 {
        world.task.name = format!("t{at}");
        assert_eq!(world.tick("implement changes / verify pass 1").0, "pass");
    }
    // Done again, it is the latest, and stands there once.
    world.task.name = "t20".to_owned();
    world.tick("implement changes / verify pass 1");
    let state = world.machine.state();
    let names: Vec<&str> = state
        .finished
        .iter()
        .map(|done| done.task.as_str())
        .collect();
    assert_eq!(names.len(), 32);
    assert_eq!((names[0], names[30], names[31]), ("t8", "t39", "t20"));
    assert_eq!(state.finished[31].tick, Some(41));
    assert_eq!(state.progress.len(), 0);
}

// rows: U-06
#[test]
fn a_loops_state_says_what_happened_last() {
    let mut world = unlimited();
    world.tick("implement takes 5 changes / verify takes 3 fail 0.1");
    let state = world.machine.state();
    assert_eq!(
        (state.tick, state.in_progress, state.running),
        (1, None, None)
    );
    assert_eq!(
        state.updated_at.unwrap().to_string(),
        "2026-11-30T10:00:11.000Z"
    );
    assert_eq!(state.last_outcome.as_ref().unwrap().as_str(), "fail");
    // Looking for work and opening are no running time; making ready and working are.
    assert_eq!(
        (state.spent.wall_ms, world.progress().wall_ms),
        (9_000, 9_000)
    );
    assert_eq!(state.spent.ticks, 1);
}

// rows: B-03, B-05
// cases: 4
#[test]
fn a_window_wider_than_what_is_kept_still_stops_the_loop() {
    let mut plateau = unlimited();
    plateau.rules.brakes.score_plateau_window = 1_000;
    let mut stuck = unlimited();
    stuck.rules.brakes.no_progress_window = 1_000;
    for at in 1..32 {
        assert_eq!(
            plateau.tick("implement changes / verify fail 0.1").0,
            "fail verdict"
        );
        let rising = format!("implement same / verify fail 0.{at:02}");
        assert_eq!(stuck.tick(&rising).0, "fail verdict");
    }
    let (ended, _) = plateau.tick("implement changes / verify fail 0.1");
    assert_eq!(ended, "human_intervention score_plateau");
    let (ended, _) = stuck.tick("implement same / verify fail 0.99");
    assert_eq!(ended, "human_intervention no_progress");
}
