//! Logs that a crash, a disk or a person has damaged.

use super::rig::{ENGINE, Rig, perform, rules, whole_tick};
use crate::store::scan::read_tail;
use crate::store::{LogError, OpenError, read_state};
use loop_core::outcome::{Error, Outcome};
use loop_core::record::Body;
use std::fs;

/// A loop with one whole tick and a second one in its middle.
fn worked() -> Rig {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);
    held.start(rules()).unwrap();
    for _ in 0..4 {
        perform(&mut held, 0);
    }
    rig
}

/// Where each line of a log ends.
fn ends(log: &[u8]) -> Vec<usize> {
    let newlines = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).collect()
}

/// Opens a loop whose log cannot be trusted, and checks that nothing was changed.
fn refused(rig: &Rig) -> LogError {
    let before = rig.files();
    let error = rig.try_open().unwrap_err();
    assert_eq!(rig.files(), before, "nothing is changed: {error}");
    assert_eq!(error.outcome(), Outcome::Error(Error::State));
    match error {
        OpenError::Log(error) => error,
        other => panic!("{other}"),
    }
}

// rows: L-08
// cases: 107
#[test]
fn a_log_cut_anywhere_after_a_tick_is_read_up_to_its_last_whole_record() {
    let log = worked().log();
    let ends = ends(&log);
    let rig = Rig::new();
    let closed = ends[ends.len() - 5];
    for cut in closed - 50..=log.len() {
        fs::write(rig.dir.events(), &log[..cut]).unwrap();
        let file = fs::File::open(rig.dir.events()).unwrap();
        let tail = read_tail(&file, &rig.dir.events(), ENGINE).unwrap();
        let good = ends.iter().filter(|end| **end <= cut).count();
        let end = ends[good - 1];
        assert_eq!((tail.seq, tail.end), (good as u64, end as u64));
        assert_eq!(tail.torn, log[end..cut]);
    }
}

// rows: L-07, L-08
// cases: 55, 107
#[test]
fn a_log_cut_in_its_last_two_records_is_healed() {
    let whole = worked();
    let log = whole.log();
    let ends = ends(&log);
    let first = ends[ends.len() - 3];
    let rig = Rig::new();
    let near =
        |cut: &usize| cut.is_multiple_of(17) || ends.iter().any(|end| end.abs_diff(*cut) < 3);
    for cut in (first..log.len()).filter(near) {
        fs::remove_dir_all(rig.dir.root()).unwrap();
        fs::create_dir(rig.dir.root()).unwrap();
        fs::write(rig.dir.events(), &log[..cut]).unwrap();
        let good = ends.iter().filter(|end| **end <= cut).count();
        let torn = cut - ends[good - 1];

        assert_eq!(read_state(&rig.dir).unwrap().seq, good as u64);
        let held = rig.open();
        let records = rig.records();
        if torn == 0 {
            assert!(!matches!(records[good - 1].body, Body::Healed { .. }));
        } else {
            let kept = rig.dir.root().join(format!("events.torn-{}", good + 1));
            assert_eq!(fs::read(&kept).unwrap(), &log[cut - torn..cut]);
            assert_eq!(
                records[good].body,
                Body::Healed {
                    cut_bytes: torn as u64,
                    kept: kept.display().to_string(),
                }
            );
            assert!(
                rig.journal()
                    .contains("WARNING the torn end of the log was cut")
            );
        }
        assert_eq!(&read_state(&rig.dir).unwrap().state, held.machine().state());
        assert_eq!(held.machine().state().tick, 2, "the tick is not lost");
    }
}

// rows: L-08
// cases: 107
#[test]
fn garbage_behind_the_last_record_is_healed_and_kept() {
    let tails: [&[u8]; 5] = [
        &[0; 4096],
        b"\0\0\0\n",
        b"\n",
        b"{\"v\":1,\"seq\":\n",
        b"\xff\xfe\n\0\0{\"v\":1",
    ];
    for tail in tails {
        let rig = worked();
        let mut log = rig.log();
        let good = ends(&log).len();
        log.extend_from_slice(tail);
        fs::write(rig.dir.events(), log).unwrap();
        drop(rig.open());
        let kept = rig.dir.root().join(format!("events.torn-{}", good + 1));
        assert_eq!(fs::read(kept).unwrap(), tail);
        assert!(matches!(rig.records()[good].body, Body::Healed { .. }));
        drop(rig.open());
    }
}

// rows: L-08
#[test]
fn a_bad_line_before_a_good_one_is_refused_with_its_place() {
    for garbage in ["not json\n", "\0\0\0\n", "\n"] {
        let rig = worked();
        let log = String::from_utf8(rig.log()).unwrap();
        let (before, last) = log.trim_end().rsplit_once('\n').unwrap();
        fs::write(rig.dir.events(), format!("{before}\n{garbage}{last}\n")).unwrap();
        let lines = before.lines().count() as u64;
        match refused(&rig) {
            LogError::BadLine { path, line, .. } => {
                assert_eq!((path, line), (rig.dir.events(), lines + 1));
            }
            other => panic!("{other}"),
        }
        assert!(read_state(&rig.dir).is_err());
    }
}

/// What somebody wrote on purpose is no crash, and is never cut away.
#[test]
fn a_last_line_that_another_engine_wrote_is_refused() {
    for line in [
        "{\"v\":2,\"seq\":99,\"at\":\"2026-11-30T23:10:04.123Z\",\"kind\":\"closed\"}\n",
        "{\"v\":1,\"seq\":99,\"at\":\"2026-11-30T23:10:04.123Z\",\"kind\":\"merged\"}\n",
    ] {
        let rig = worked();
        let mut log = rig.log();
        log.extend_from_slice(line.as_bytes());
        fs::write(rig.dir.events(), log).unwrap();
        assert!(matches!(refused(&rig), LogError::BadLine { .. }));
    }
}

// rows: L-08
#[test]
fn a_missing_record_is_refused_with_its_place() {
    let rig = worked();
    let log = String::from_utf8(rig.log()).unwrap();
    let mut lines: Vec<_> = log.lines().collect();
    let gone = lines.len() - 2;
    lines.remove(gone);
    fs::write(rig.dir.events(), lines.join("\n") + "\n").unwrap();
    match refused(&rig) {
        LogError::Gap {
            line,
            expected,
            found,
            ..
        } => {
            let gone = gone as u64 + 1;
            assert_eq!((line, expected, found), (gone, gone, gone + 1));
        }
        other => panic!("{other}"),
    }
}

// rows: L-08
// cases: 107
#[test]
fn a_log_that_lost_its_end_is_never_a_fresh_start() {
    let rig = worked();
    let log = rig.log();
    for left in [0, ends(&log)[0], ends(&log)[3]] {
        fs::write(rig.dir.events(), &log[..left]).unwrap();
        assert!(matches!(refused(&rig), LogError::Cut { .. }), "{left}");
        assert!(read_state(&rig.dir).is_err());
    }
    // NULs of the same length, as a file system can leave them.
    fs::write(rig.dir.events(), vec![0; log.len()]).unwrap();
    assert!(matches!(refused(&rig), LogError::Cut { .. }));
    fs::remove_file(rig.dir.events()).unwrap();
    let error = refused(&rig);
    assert!(matches!(error, LogError::Missing { .. }));
    let message = error.to_string();
    assert!(message.contains("events.jsonl is missing"), "{message}");
    assert!(read_state(&rig.dir).is_err());
    // A cache that cannot be read tells of a log, too.
    fs::write(rig.dir.cache(), "{").unwrap();
    assert!(matches!(refused(&rig), LogError::Missing { .. }));
    fs::write(rig.dir.events(), "").unwrap();
    assert!(matches!(refused(&rig), LogError::Cut { .. }));
}

// rows: L-08, U-06
// cases: 107
#[test]
fn a_cache_that_is_corrupt_old_or_gone_is_rebuilt() {
    let rig = worked();
    drop(rig.open());
    let right = fs::read(rig.dir.cache()).unwrap();
    let old = String::from_utf8(right.clone()).unwrap();
    let old = old.replace("\"paused\": false", "\"paused\": true");
    let old = old.replace("\"end\": ", "\"end\": 1");
    let wrong: [&[u8]; 5] = [b"", b"{", &[0; 4096], b"[]", old.as_bytes()];
    for bytes in wrong {
        fs::write(rig.dir.cache(), bytes).unwrap();
        let state = read_state(&rig.dir).unwrap().state;
        let held = rig.open();
        assert_eq!(&state, held.machine().state());
        assert_eq!(fs::read(rig.dir.cache()).unwrap(), right);
    }
    let warnings = rig
        .journal()
        .matches("cannot be read and is rebuilt")
        .count();
    assert_eq!(warnings, 4, "one for each that was corrupt");
    fs::remove_file(rig.dir.cache()).unwrap();
    drop(rig.open());
    assert_eq!(fs::read(rig.dir.cache()).unwrap(), right);
    assert!(!rig.journal().contains("no such file"));
}

/// Records that are whole but do not follow from each other.
#[test]
fn records_that_cannot_be_replayed_are_refused() {
    let rig = worked();
    let log = String::from_utf8(rig.log()).unwrap();
    // The same answer a second time, under the next number.
    let last = log.lines().last().unwrap();
    let seq = log.lines().count();
    let number = |seq: usize| format!("\"seq\":{seq},");
    let again = last.replacen(&number(seq), &number(seq + 1), 1);
    fs::write(rig.dir.events(), format!("{log}{again}\n")).unwrap();
    let files = rig.files();
    let error = rig.try_open().unwrap_err();
    assert!(matches!(error, OpenError::Replay { .. }));
    assert_eq!(error.outcome(), Outcome::Error(Error::State));
    let opened = format!("engine {ENGINE} opened its tick");
    assert!(error.to_string().ends_with(&opened), "{error}");
    assert_eq!(rig.files(), files);
    assert!(matches!(
        read_state(&rig.dir),
        Err(crate::store::ReadError::Replay { .. })
    ));
}
