//! Reading back from the end of large files.

use super::rig::{Rig, whole_tick};
use crate::store::read_state;
use crate::store::scan::find_back;
use loop_core::outcome::Outcome;
use loop_core::record::Body;
use proptest::prelude::*;
use std::io::{Seek, Write};

/// Lines up to the size of the first look and beyond; some are wanted.
fn lines() -> impl Strategy<Value = Vec<(bool, usize)>> {
    let length = prop_oneof![4 => 0usize..200, 2 => 0usize..40_000, 1 => 60_000usize..140_000];
    prop::collection::vec((prop::bool::weighted(0.1), length), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_last_wanted_line_is_found_wherever_it_is(
        lines in lines(),
        rest in prop_oneof![Just(String::new()), "w[a-z]{0,20}"],
    ) {
        let mut text = String::new();
        let mut found = 0;
        for (wanted, length) in &lines {
            if *wanted {
                found = text.len();
            }
            text.push(if *wanted { 'w' } else { '-' });
            text.push_str(&"x".repeat(*length));
            text.push('\n');
        }
        // A last line without its end does not count.
        text.push_str(&rest);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        let (start, bytes) = find_back(&file, |line| line.starts_with(b"w")).unwrap();
        prop_assert_eq!(start, found as u64);
        prop_assert_eq!(bytes, &text.as_bytes()[found..]);
    }
}

#[test]
fn a_tick_with_many_records_behind_it_is_found() {
    let rig = Rig::new();
    let mut held = rig.open();
    whole_tick(&mut held);
    let closed = rig.records().len();
    for n in 0..60 {
        let mut ended = held.machine().ended().unwrap().clone();
        ended.outcome = Outcome::Blocked(n.to_string());
        ended.why = "x".repeat(10_000);
        held.idle(&ended).unwrap();
    }
    let state = held.machine().state().clone();
    drop(held);
    std::fs::remove_file(rig.dir.cache()).unwrap();
    assert!(matches!(rig.records()[closed - 1].body, Body::Closed(_)));
    let snapshot = read_state(&rig.dir).unwrap();
    assert_eq!(
        (snapshot.seq, &snapshot.state),
        (closed as u64 + 60, &state)
    );
    assert_eq!(rig.open().machine().state(), &state);
}
