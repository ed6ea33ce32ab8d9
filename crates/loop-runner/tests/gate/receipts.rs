//! Receipts of verified results.

use crate::world::World;
use loop_core::time::Timestamp;
use loop_runner::gate::{Receipt, ReceiptGate, check_receipts, write_receipt};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

fn receipt(task: &str, tick: u64) -> Receipt {
    Receipt {
        v: 1,
        loop_name: "L".to_owned(),
        task: task.to_owned(),
        tick,
        base_commit: Some("b".repeat(40)),
        tree_before: Some("0".repeat(64)),
        tree: Some("1".repeat(64)),
        delivered_tree: None,
        gate: Some(ReceiptGate {
            exit: 0,
            fingerprint: "f".repeat(64),
            tests: Some(3),
        }),
        verdict: None,
        prompts: BTreeMap::new(),
        harness: BTreeMap::new(),
        config: "c".repeat(64),
        previous: None,
        at: Timestamp::from_unix_millis(0),
    }
}

/// A world with three receipts, and what the record says of them.
fn written() -> (World, BTreeMap<String, String>) {
    let world = World::new(json!({"command": ["true"]}));
    let tasks = [("a", 9), ("b-2", 10), ("a", 11)];
    let record =
        tasks.map(|(task, tick)| write_receipt(&world.setup, &receipt(task, tick)).unwrap());
    (world, record.into_iter().collect())
}

fn faults(world: &World, recorded: &BTreeMap<String, String>, tree: Option<String>) -> Vec<String> {
    let found = check_receipts(&world.setup, recorded, &mut |_| tree.clone()).unwrap();
    found
        .iter()
        .map(|fault| format!("{} {}", fault.receipt, fault.what))
        .collect()
}

// rows: D-13
// cases: 124
#[test]
fn receipts_are_a_chain_and_a_later_tree_is_told() {
    let (world, record) = written();
    let names: Vec<_> = record.keys().collect();
    assert_eq!(names, ["a-11.json", "a-9.json", "b-2-10.json"]);
    assert_eq!(faults(&world, &record, None), [""; 0]);
    assert_eq!(faults(&world, &record, Some("1".repeat(64))), [""; 0]);
    let other = faults(&world, &record, Some("2".repeat(64)));
    let tree = "the tree is not the one that was verified any more";
    assert_eq!(
        other,
        [format!("a-11.json {tree}"), format!("b-2-10.json {tree}")]
    );
    assert!(
        write_receipt(&world.setup, &receipt("a", 11)).is_err(),
        "none is replaced"
    );
}

// rows: D-13
// cases: 124
#[test]
fn a_receipt_that_is_changed_or_taken_out_is_told() {
    let path = |world: &World, name: &str| world.setup.dir.outputs().join("receipts").join(name);
    let none = BTreeMap::new();

    let (world, record) = written();
    let edit = |name: &str| {
        let text = fs::read_to_string(path(&world, name)).unwrap();
        fs::write(
            path(&world, name),
            text.replace("\"tests\":3", "\"tests\":9"),
        )
        .unwrap();
    };
    edit("a-9.json");
    assert_eq!(
        faults(&world, &none, None),
        ["b-2-10.json does not follow the receipt before it"]
    );
    let known = faults(&world, &record, None);
    assert_eq!(
        known,
        [
            "a-9.json was changed",
            "b-2-10.json does not follow the receipt before it"
        ]
    );

    let (world, record) = written();
    fs::remove_file(path(&world, "b-2-10.json")).unwrap();
    assert_eq!(
        faults(&world, &record, None),
        [
            "b-2-10.json is gone",
            "a-11.json does not follow the receipt before it"
        ]
    );

    // The last one has no successor: only the record knows.
    let (world, record) = written();
    fs::remove_file(path(&world, "a-11.json")).unwrap();
    std::os::unix::fs::symlink("a-9.json", path(&world, "a-11.json")).unwrap();
    assert_eq!(
        faults(&world, &record, None),
        ["a-11.json was changed", "a-11.json cannot be read"]
    );
}
