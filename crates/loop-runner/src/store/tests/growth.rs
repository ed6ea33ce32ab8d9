//! Logs that are put aside, and readers that follow through it.

use super::model::check_replays;
use super::rig::{Rig, perform, rules, whole_tick};
use crate::store::{read_state, records, records_after};
use loop_core::record::Body;
use std::fs;

/// A rig whose log is put aside at each close.
fn always_grown(rig: &Rig) -> crate::store::Held {
    let mut held = rig.open();
    held.grown = 1;
    held
}

fn log_files(rig: &Rig) -> Vec<String> {
    let names = rig.files().into_iter().map(|(path, _)| {
        let name = path.file_name().unwrap();
        name.to_str().unwrap().to_owned()
    });
    names.filter(|name| name.starts_with("events")).collect()
}

#[test]
fn a_grown_log_is_put_aside_and_the_new_one_starts_with_the_state() {
    let rig = Rig::new();
    let mut held = always_grown(&rig);
    whole_tick(&mut held);
    let first = read_state(&rig.dir).unwrap();
    assert_eq!(rig.log().len() as u64, first.end);
    assert_eq!(rig.log().iter().filter(|byte| **byte == b'\n').count(), 1);
    whole_tick(&mut held);
    let last = read_state(&rig.dir).unwrap();
    assert_eq!(
        log_files(&rig),
        [
            format!("events-1-{}.jsonl", first.seq),
            format!("events-{}-{}.jsonl", first.seq, last.seq),
            "events.jsonl".to_owned(),
        ]
    );
    let records = rig.records();
    assert!(
        records
            .iter()
            .zip(1..)
            .all(|(record, seq)| record.seq == seq)
    );
    assert_eq!(records.len() as u64, last.seq);
    check_replays(&records);

    let state = held.machine().state().clone();
    drop(held);
    fs::remove_file(rig.dir.cache()).unwrap();
    assert_eq!(read_state(&rig.dir).unwrap().state, state);
    assert_eq!(rig.open().machine().state(), &state);
}

#[test]
fn a_log_below_the_threshold_stays() {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);
    assert_eq!(log_files(&rig), ["events.jsonl"]);
    held.grown = rig.log().len() as u64 * 3;
    whole_tick(&mut held);
    assert_eq!(log_files(&rig), ["events.jsonl"]);
}

#[test]
fn what_a_crash_leaves_of_putting_aside_is_cleared() {
    let rig = Rig::new();
    whole_tick(&mut rig.open());
    let records = rig.records();
    fs::write(rig.dir.root().join("events.jsonl.new"), "half a rec").unwrap();
    let segment = rig.dir.root().join("events-1-12.jsonl");
    fs::hard_link(rig.dir.events(), segment).unwrap();
    assert_eq!(rig.records(), records, "readers skip what repeats");
    drop(rig.open());
    assert_eq!(log_files(&rig), ["events.jsonl"]);
    assert_eq!(rig.records(), records);
}

// rows: L-08
#[test]
fn a_log_that_is_missing_beside_an_older_part_is_no_fresh_start() {
    let rig = Rig::new();
    whole_tick(&mut always_grown(&rig));
    fs::remove_file(rig.dir.events()).unwrap();
    fs::remove_file(rig.dir.cache()).unwrap();
    let error = rig.try_open().unwrap_err().to_string();
    assert!(error.contains("is missing beside"), "{error}");
    assert!(read_state(&rig.dir).is_err());
}

#[test]
fn a_follower_goes_on_through_every_growth() {
    let rig = Rig::new();
    let mut held = always_grown(&rig);
    let mut follower = records(&rig.dir).unwrap();
    assert!(follower.next().is_none(), "there is no log yet");
    let mut seen = Vec::new();
    for ticks in [1, 0, 3, 1] {
        for _ in 0..ticks {
            if held.machine().state().awaiting.is_some() {
                rig.submit(
                    &format!("a{}", seen.len()),
                    loop_core::control::Request::Approve { task: None },
                );
                held.drain().unwrap();
                while perform(&mut held, 0) {}
            }
            whole_tick(&mut held);
        }
        held.start(rules()).unwrap_or_default();
        perform(&mut held, 0);
        seen.extend(follower.by_ref().map(Result::unwrap));
        assert_eq!(seen, rig.records());
        assert_eq!(follower.position(), seen.len() as u64);
        while perform(&mut held, 0) {}
    }
    let from = seen.len() as u64 / 2;
    let later: Vec<_> = records_after(&rig.dir, from)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(later, rig.records()[from as usize..]);
}

#[test]
fn a_follower_waits_for_a_whole_line() {
    let rig = Rig::new();
    whole_tick(&mut rig.open());
    let log = rig.log();
    let mut follower = records(&rig.dir).unwrap();
    let known = follower.by_ref().count();
    // What is half written may be taken back, and something else come.
    let torn = [&log[..], b"{\"v\":1,\"seq\":77"].concat();
    fs::write(rig.dir.events(), torn).unwrap();
    assert!(follower.next().is_none());
    fs::write(rig.dir.events(), &log).unwrap();
    assert!(follower.next().is_none());
    let mut held = rig.open();
    held.start(rules()).unwrap();
    perform(&mut held, 0);
    perform(&mut held, 0);
    let next = follower.next().unwrap().unwrap();
    assert_eq!(next.seq, known as u64 + 1);
    assert!(matches!(next.body, Body::Opened(_)));
}

// rows: L-08
#[test]
fn a_follower_ends_at_what_cannot_be_trusted() {
    let rig = Rig::new();
    whole_tick(&mut rig.open());
    let log = String::from_utf8(rig.log()).unwrap();
    let lines: Vec<_> = log.lines().collect();
    let without = [&lines[..3], &lines[4..]].concat();
    let bad = [&lines[..3], &["?"], &lines[3..]].concat();
    let twice = [&lines[..3], &lines[2..]].concat();
    for (lines, message) in [
        (without, "line 4: record 5 where 4 has to be"),
        (twice, "line 4: record 3 where 4 has to be"),
        (
            bad,
            "line 4: not a record: expected value at line 1 column 1",
        ),
    ] {
        fs::write(rig.dir.events(), lines.join("\n") + "\n").unwrap();
        let mut follower = records(&rig.dir).unwrap();
        assert_eq!(follower.by_ref().take(3).filter(Result::is_ok).count(), 3);
        let error = follower.next().unwrap().unwrap_err().to_string();
        assert!(error.ends_with(message), "{error}");
        assert!(follower.next().is_none());
    }
}

// rows: L-06
#[test]
fn readers_never_fail_while_a_tick_is_driven() {
    let rig = Rig::new();
    let mut held = always_grown(&rig);
    whole_tick(&mut held);
    let dir = rig.dir.clone();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut follower = records(&dir).unwrap();
            let mut last = 0;
            let mut looks = 0;
            let mut is_last = false;
            while !is_last || looks < 3 {
                // Asked before the look, so that the last one sees everything.
                is_last = done.load(std::sync::atomic::Ordering::Acquire);
                let snapshot = read_state(&dir).unwrap();
                assert!(snapshot.seq >= last, "time does not go back");
                last = snapshot.seq;
                for record in follower.by_ref() {
                    record.unwrap();
                }
                looks += 1;
            }
            follower.position()
        });
        for tick in 0..15 {
            if held.machine().state().reason.is_some() {
                rig.submit(
                    &format!("a{tick}"),
                    loop_core::control::Request::Approve { task: None },
                );
                held.drain().unwrap();
                while perform(&mut held, 0) {}
            }
            whole_tick(&mut held);
        }
        done.store(true, std::sync::atomic::Ordering::Release);
        let seen = reader.join().unwrap();
        assert_eq!(seen, read_state(&rig.dir).unwrap().seq);
    });
}
