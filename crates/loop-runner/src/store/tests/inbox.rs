//! Requests: left, taken in, refused, set aside.

use super::rig::{Rig, control, perform, rules, whole_tick};
use crate::store::{SubmitError, submit};
use loop_core::Step;
use loop_core::control::Request;
use loop_core::outcome::{Halt, Interruption};
use loop_core::state::Status;

fn transition(tick: u64, to: Option<&str>) -> Request {
    Request::Transition {
        tick,
        task: "t1".to_owned(),
        to: to.map(str::to_owned),
    }
}

/// Goes on until `step` is asked for.
fn up_to(held: &mut crate::store::Held, step: Step) {
    while held.machine().action().unwrap().step() != step {
        perform(held, 0);
    }
}

// rows: B-13, L-12
#[test]
fn requests_are_taken_in_once_in_order_and_their_files_go() {
    let rig = Rig::new();
    rig.submit("a", Request::Pause);
    rig.submit("b", Request::Resume);
    rig.submit("c", Request::Pause);
    rig.submit("a", Request::Resume);
    let mut held = rig.open();
    let taken = held.drain().unwrap();
    let ids: Vec<_> = taken
        .iter()
        .map(|it| it.requested.control.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(taken[2].seq, 3);
    assert!(held.machine().state().paused);
    assert_eq!(rig.control_files(), [""; 0]);
    assert_eq!(held.drain().unwrap(), []);
    assert_eq!(rig.records().len(), 3);
}

#[test]
fn a_request_makes_no_loop() {
    let rig = Rig::new();
    std::fs::remove_dir(rig.dir.root()).unwrap();
    let left = submit(&rig.dir.control(), &control("a", Request::Pause));
    assert!(matches!(left, Err(SubmitError::File(_))));
    assert!(!rig.dir.root().exists());
}

#[test]
fn a_request_that_is_denied_is_recorded_and_said() {
    let rig = Rig::new();
    rig.submit("a", Request::Approve { task: None });
    let mut held = rig.open();
    let taken = held.drain().unwrap();
    assert!(!taken[0].requested.accepted);
    assert_eq!(taken[0].requested.said, "it waits for nothing");
    assert!(
        rig.journal()
            .contains("WARNING request denied op=approve by=ada")
    );
    assert_eq!(rig.control_files(), [""; 0]);
}

#[test]
fn what_cannot_be_read_is_set_aside_with_a_warning() {
    let rig = Rig::new();
    rig.submit("good", Request::Pause);
    let inbox = rig.dir.control();
    std::fs::write(inbox.join("0-torn.json"), "{\"id\":").unwrap();
    let mut large = serde_json::to_vec(&control("large", Request::Pause)).unwrap();
    large.resize(70_000, b' ');
    std::fs::write(inbox.join("1-large.json"), large).unwrap();
    std::fs::create_dir(inbox.join("2-folder")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", inbox.join("3-link.json")).unwrap();
    // Orchestrate may write one file; it must not be able to ask for more.
    let approve = serde_json::to_vec(&control("x", Request::Approve { task: None })).unwrap();
    std::fs::write(inbox.join("orchestrate-1.json"), approve).unwrap();
    let move_it = serde_json::to_vec(&control("y", transition(1, None))).unwrap();
    std::fs::write(inbox.join("4-transition.json"), move_it).unwrap();
    // A request that is still being written.
    std::fs::write(inbox.join(".tmpXYZ"), "{").unwrap();

    let mut held = rig.open();
    let taken = held.drain().unwrap();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].requested.control.id, "good");
    assert_eq!(rig.control_files(), [".tmpXYZ"]);
    assert_eq!(std::fs::read_dir(rig.dir.control_bad()).unwrap().count(), 6);
    let journal = rig.journal();
    let warnings = journal.lines().filter(|line| line.contains(" WARNING "));
    assert_eq!(warnings.count(), 6, "{journal}");
}

#[test]
fn what_is_set_aside_replaces_nothing_and_is_replaced_by_nothing() {
    let rig = Rig::new();
    let mut held = rig.open();
    let inbox = rig.dir.control();
    std::fs::create_dir(&inbox).unwrap();
    let long = "x".repeat(255);
    for name in ["folder", "file.json", &long] {
        for round in 0..3 {
            let path = inbox.join(name);
            if name == "folder" {
                std::fs::create_dir(&path).unwrap();
                std::fs::write(path.join("inside"), "x").unwrap();
            } else {
                std::fs::write(path, format!("{round}")).unwrap();
            }
            assert_eq!(held.drain().unwrap(), []);
        }
    }
    assert_eq!(std::fs::read_dir(rig.dir.control_bad()).unwrap().count(), 9);
    assert_eq!(rig.control_files(), [""; 0]);
}

// rows: B-13
#[test]
fn an_entry_that_cannot_be_set_aside_holds_up_nothing() {
    let rig = Rig::new();
    let inbox = rig.dir.control();
    std::fs::create_dir(&inbox).unwrap();
    std::fs::write(inbox.join("0.json"), "?").unwrap();
    std::fs::create_dir(inbox.join("1")).unwrap();
    std::fs::create_dir(rig.dir.outputs()).unwrap();
    std::fs::write(rig.dir.control_bad(), "in the way").unwrap();
    rig.submit("stop", Request::Stop);
    let mut held = rig.open();
    assert_eq!(held.drain().unwrap().len(), 1);
    assert!(held.machine().state().paused);
    assert_eq!(held.drain().unwrap(), []);
    assert_eq!(rig.control_files(), ["0.json", "1"]);
    let journal = rig.journal();
    let warned = journal
        .matches("an entry of the inbox stays where it is")
        .count();
    assert_eq!(warned, 2, "once for each: {journal}");
}

#[test]
fn an_id_that_the_state_should_not_remember_is_set_aside() {
    let rig = Rig::new();
    let mut held = rig.open();
    let longest = "x".repeat(128);
    let ids = [
        "Az-09",
        &longest,
        "",
        &"x".repeat(129),
        "a b",
        "a/b",
        "\u{e4}",
    ];
    for (at, id) in ids.into_iter().enumerate() {
        rig.submit(id, Request::Pause);
        let taken = held.drain().unwrap();
        assert_eq!(taken.len(), usize::from(at < 2), "{id}");
        assert_eq!(rig.control_files(), [""; 0]);
    }
    assert_eq!(held.machine().state().recent_controls, ["Az-09", &longest]);
    assert_eq!(std::fs::read_dir(rig.dir.control_bad()).unwrap().count(), 5);
}

#[test]
fn a_flood_of_requests_is_taken_in_piece_by_piece() {
    let rig = Rig::new();
    let inbox = rig.dir.control();
    rig.submit("last", Request::Pause);
    for number in 0..600 {
        std::fs::write(inbox.join(format!("0-{number}.json")), "?").unwrap();
    }
    let mut held = rig.open();
    for left in [345, 89] {
        assert_eq!(held.drain().unwrap(), []);
        assert_eq!(rig.control_files().len(), left);
    }
    assert_eq!(held.drain().unwrap().len(), 1);
    assert_eq!(rig.control_files(), [""; 0]);
}

// cases: 111
#[test]
fn a_stop_during_a_step_ends_the_tick_under_the_same_fence() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    up_to(&mut held, Step::Implement);
    held.begin().unwrap();
    let fence = held.machine().fence();
    rig.submit("s", Request::Stop);
    assert_eq!(held.drain().unwrap().len(), 1);
    assert_eq!(held.machine().stopping(), Some(Interruption::Stop));
    assert_eq!(held.machine().fence(), fence);
    let interrupted = loop_core::answer::StepAnswer::Interrupted(Interruption::Stop);
    held.answer(interrupted, 10).unwrap();
    while perform(&mut held, 0) {}
    assert!(held.machine().state().paused);
    assert_eq!(held.machine().state().progress_of("t1").iteration, 1);
}

// rows: B-14
#[test]
fn an_approval_makes_a_move_owed_that_survives_a_crash() {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);
    whole_tick(&mut held);
    assert_eq!(held.machine().state().reason, Some(Halt::ApprovalRequired));
    rig.submit("p", Request::Pause);
    rig.submit("a", Request::Approve { task: None });
    held.drain().unwrap();
    let state = held.machine().state().clone();
    assert_eq!((state.status, state.paused), (Status::Active, true));

    held.begin().unwrap();
    let fence = held.machine().fence();
    drop(held);
    let mut held = rig.open();
    assert_eq!(held.machine().fence(), fence, "it is still owed");
    let before = rig.records().len();
    held.begin().unwrap();
    assert_eq!(rig.records().len(), before, "it is begun once");
    assert!(perform(&mut held, 0));
    assert_eq!(
        held.machine().state().current_phase.as_deref(),
        Some("implement")
    );
    assert!(held.machine().action().is_none());
}

// rows: K-07
#[test]
fn orchestrate_has_one_request_a_tick() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    up_to(&mut held, Step::Orchestrate);
    held.begin().unwrap();
    rig.submit("o1", transition(1, Some("human_intervention")));
    assert!(held.drain().unwrap()[0].requested.accepted);
    assert_eq!(rig.control_files(), ["orchestrate-1.json"], "it stays");
    assert_eq!(held.drain().unwrap(), [], "and is not done again");
    let again = control("o2", transition(1, None));
    assert!(matches!(
        submit(&rig.dir.control(), &again),
        Err(SubmitError::AlreadyRequested { tick: 1 })
    ));
    while perform(&mut held, 0) {}
    assert_eq!(held.machine().state().reason, Some(Halt::Escalated));
    assert_eq!(rig.control_files(), [""; 0], "until the tick is closed");

    rig.submit("o3", transition(1, None));
    let late = held.drain().unwrap();
    assert!(!late[0].requested.accepted, "the tick is over");
    assert_eq!(rig.control_files(), [""; 0]);
}
