//! A tick through the store, and what it leaves.

use super::rig::{ENGINE, NONCE, Rig, SECOND, perform, rules, whole_tick};
use crate::store::{HeldError, Level, OpenError, read_state};
use loop_core::answer::{StepAnswer, Work};
use loop_core::outcome::{Error, Outcome, Skip};
use loop_core::record::Body;
use loop_core::replay::replay;
use loop_core::state::State;
use loop_core::{Refused, Step};

// rows: L-01, L-05, L-12, U-06
#[test]
fn a_tick_leaves_its_records_its_state_and_readable_lines() {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);

    let ended = held.machine().ended().unwrap().clone();
    assert_eq!((ended.outcome, ended.tick), (Outcome::Pass, Some(1)));
    let state = held.machine().state().clone();
    assert_eq!(state.current_phase.as_deref(), Some("spec"));
    let snapshot = read_state(&rig.dir).unwrap();
    assert_eq!(snapshot.state, state);
    assert_eq!(snapshot.end, rig.log().len() as u64);

    let records = rig.records();
    assert_eq!(snapshot.seq, records.last().unwrap().seq);
    let replayed = replay(State::new(), &records).unwrap();
    assert_eq!(replayed.machine.state(), &state);
    assert!(matches!(&records[0].body, Body::Opened(opened)
        if opened.engine == ENGINE && opened.nonce == NONCE));

    let cache: serde_json::Value =
        serde_json::from_slice(&std::fs::read(rig.dir.cache()).unwrap()).unwrap();
    assert_eq!(cache["version"], 1);
    assert_eq!(cache["tick"], 1);
    assert_eq!(cache["in_progress"], serde_json::Value::Null);
    assert_eq!(cache["seq"], snapshot.seq);
}

// rows: L-01, L-12, U-07
#[test]
fn the_readable_log_has_each_step_in_order() {
    let rig = Rig::new();
    whole_tick(&mut rig.open());
    let journal = rig.journal();
    let mut rest = journal.as_str();
    for step in [
        "gate",
        "find_work",
        "worktree",
        "implement",
        "verify",
        "orchestrate",
        "advance",
        "state_write",
    ] {
        let key = format!("step={step}");
        let at = rest
            .find(&key)
            .unwrap_or_else(|| panic!("{key}: {journal}"));
        rest = &rest[at + key.len()..];
    }
    for line in journal.lines() {
        let (time, line) = line.split_once(' ').unwrap();
        assert_eq!(time, "2026-11-30T23:10:04.123Z");
        let (level, message) = line.split_once(' ').unwrap();
        assert!(["INFO", "WARNING", "ERROR"].contains(&level), "{line}");
        assert!(message.contains('='), "{line}");
    }
}

// rows: L-11, L-12
#[test]
fn what_went_wrong_is_a_warning_on_one_line() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    for choice in [0, 0, 0, 5] {
        assert!(perform(&mut held, choice));
    }
    while perform(&mut held, 0) {}
    held.note(
        Level::Warning,
        "worktree is not known here; use_worktree is meant",
    );
    let journal = rig.journal();
    let closed = journal.lines().find(|line| line.contains("state_write"));
    let closed = closed.unwrap();
    assert!(closed.contains(" WARNING "), "{closed}");
    assert!(closed.contains("outcome=blocked"), "{closed}");
    assert!(closed.contains("a key\\nis missing"), "{closed}");
    assert!(journal.ends_with("WARNING worktree is not known here; use_worktree is meant\n"));
}

// rows: L-10
#[test]
fn a_skipped_tick_is_told_once_until_its_reason_changes() {
    let rig = Rig::new();
    let look = |rig: &Rig, found: Work| {
        let mut held = rig.open();
        held.start(rules()).unwrap();
        held.work(found).unwrap();
        let ended = held.machine().ended().unwrap().clone();
        held.idle(&ended).unwrap();
        rig.clock.advance(SECOND);
        drop(held);
        (rig.records().len(), rig.journal().lines().count())
    };
    assert_eq!(look(&rig, Work::Nothing(Skip::NoWork)), (1, 1));
    assert_eq!(look(&rig, Work::Nothing(Skip::NoWork)), (1, 1));
    let failed = || Work::Failed {
        what: "exit 1".to_owned(),
    };
    assert_eq!(look(&rig, failed()), (2, 2));
    assert_eq!(look(&rig, failed()), (2, 2));
    assert_eq!(look(&rig, Work::Nothing(Skip::NoWork)), (3, 3));
    assert_eq!(rig.open().machine().state().tick, 0, "no number is taken");
}

// rows: L-02
#[test]
fn what_is_refused_writes_nothing() {
    let rig = Rig::new();
    let mut held = rig.open();
    assert!(matches!(
        held.close(),
        Err(HeldError::Refused(Refused::Stale))
    ));
    held.start(rules()).unwrap();
    assert!(matches!(
        held.open_tick(NONCE),
        Err(HeldError::Refused(Refused::NoAnswerTo {
            asked: Step::FindWork
        }))
    ));
    perform(&mut held, 0);
    perform(&mut held, 0);
    let (log, machine) = (rig.log(), held.machine().clone());
    let answer = StepAnswer::Worktree(None);
    let refused = held.answer(answer, 0).unwrap_err();
    assert!(matches!(
        refused,
        HeldError::Refused(Refused::NotBegun { .. })
    ));
    held.begin().unwrap();
    assert!(held.begin().is_err(), "a step is begun once");
    assert_ne!(rig.log(), log);
    assert_ne!(held.machine(), &machine);
}

#[test]
fn an_answer_too_large_for_a_record_is_refused() {
    let rig = Rig::new();
    let mut held = rig.open();
    held.start(rules()).unwrap();
    perform(&mut held, 0);
    perform(&mut held, 0);
    held.begin().unwrap();
    let log = rig.log();
    let failed = StepAnswer::Failed(loop_core::answer::StepFault::Error {
        reason: Error::Disk,
        what: "x".repeat(40_000),
    });
    assert!(matches!(
        held.answer(failed, 0),
        Err(HeldError::TooLarge { .. })
    ));
    assert_eq!(rig.log(), log);
    assert!(perform(&mut held, 0), "the step can still be answered");
}

// rows: L-09, U-46
#[test]
fn a_second_opener_is_told_who_holds_the_lock() {
    let rig = Rig::new();
    let held = rig.open();
    let error = rig.try_open().unwrap_err();
    assert!(matches!(error, OpenError::Locked { by: Some(pid) } if pid == std::process::id()));
    assert_eq!(error.outcome(), Outcome::Skipped(Skip::Locked));
    drop(held);
    rig.open();
    assert!(rig.dir.lock().exists(), "the file stays");
}

#[test]
fn a_lock_file_that_was_taken_away_is_made_anew() {
    let rig = Rig::new();
    let held = rig.open();
    std::fs::remove_file(rig.dir.lock()).unwrap();
    drop(held);
    rig.open();
}

// rows: L-06
// cases: 109
#[test]
fn whoever_lost_its_lock_or_log_writes_nothing_more() {
    type Spoil = fn(&Rig);
    let spoils: [(&str, Spoil); 5] = [
        ("everything", |rig| {
            std::fs::remove_dir_all(rig.dir.root()).unwrap();
        }),
        ("the log", |rig| {
            std::fs::remove_file(rig.dir.events()).unwrap();
        }),
        ("the lock", |rig| {
            std::fs::remove_file(rig.dir.lock()).unwrap();
        }),
        ("the lock, and another is there", |rig| {
            std::fs::remove_file(rig.dir.lock()).unwrap();
            std::fs::write(rig.dir.lock(), "").unwrap();
        }),
        ("the lock, and a link to it is there", |rig| {
            let moved = rig.dir.root().join("moved");
            std::fs::rename(rig.dir.lock(), &moved).unwrap();
            std::os::unix::fs::symlink(moved, rig.dir.lock()).unwrap();
        }),
    ];
    for (what, spoil) in spoils {
        let rig = Rig::new();
        let mut held = rig.open();
        held.start(rules()).unwrap();
        perform(&mut held, 0);
        spoil(&rig);
        let before = std::fs::read(rig.dir.events()).unwrap_or_default();
        let error = held.open_tick(NONCE).unwrap_err();
        assert!(matches!(error, HeldError::StateRemoved { .. }), "{what}");
        assert_eq!(error.outcome(), Outcome::Error(Error::StateRemoved));
        assert_eq!(held.machine().state().in_progress, None, "{what}");
        let after = std::fs::read(rig.dir.events()).unwrap_or_default();
        assert_eq!(before, after, "{what}");
    }
}

// rows: L-06
#[test]
fn of_two_that_drive_after_the_lock_was_removed_one_writes() {
    let rig = Rig::new();
    let mut first = rig.open();
    first.start(rules()).unwrap();
    while first.machine().action().unwrap().step() != Step::Implement {
        perform(&mut first, 0);
    }
    first.begin().unwrap();
    std::fs::remove_file(rig.dir.lock()).unwrap();
    let mut second = rig.open();
    let interrupted = StepAnswer::Interrupted(loop_core::outcome::Interruption::Signal);
    let error = first.answer(interrupted, 1).unwrap_err();
    assert!(matches!(error, HeldError::StateRemoved { .. }));
    whole_tick(&mut second);
    let records = rig.records();
    assert!(
        records
            .iter()
            .zip(1..)
            .all(|(record, seq)| record.seq == seq)
    );
    let closed = |record: &&loop_core::record::Record| matches!(record.body, Body::Closed(_));
    assert_eq!(records.iter().filter(closed).count(), 2);
}
