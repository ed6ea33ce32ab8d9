//! The JSON Schema that editors use.

use loop_core::config::schema;
use serde_json::Value;

// The file as it is checked in.
const CHECKED_IN: &str = include_str!("../../../schemas/loop.schema.json");

#[test]
fn the_schema_that_is_checked_in_is_that_of_the_types() {
    assert!(
        CHECKED_IN == format!("{:#}\n", schema()),
        "run `cargo run -p loop-core --example loop_schema > schemas/loop.schema.json`"
    );
}

// rows: B-20
#[test]
fn no_object_takes_unknown_keys_and_only_the_top_level_takes_free_ones() {
    let schema = schema();
    assert_eq!(
        schema["patternProperties"],
        serde_json::json!({"^x-": true})
    );
    let mut objects = vec![&schema];
    objects.extend(schema["$defs"].as_object().unwrap().values());
    let with_properties = objects
        .into_iter()
        .filter(|object| object["properties"].is_object());
    let mut count = 0;
    for object in with_properties {
        assert_eq!(
            object["additionalProperties"],
            Value::Bool(false),
            "{object:#}"
        );
        count += 1;
    }
    // The document, work source, roles, role, harness, env, gate, brakes, blast radius, schedule
    // and notify.
    assert_eq!(count, 11);
}

#[test]
fn every_key_is_described() {
    let schema = schema();
    let mut objects = vec![&schema];
    objects.extend(schema["$defs"].as_object().unwrap().values());
    for (name, property) in objects
        .iter()
        .filter_map(|object| object["properties"].as_object())
        .flatten()
    {
        assert!(property["description"].is_string(), "{name}");
    }
}

// rows: X-13, T-09
#[test]
fn the_old_spelling_is_not_offered() {
    assert!(!CHECKED_IN.contains("\"worktree\":"));
}
