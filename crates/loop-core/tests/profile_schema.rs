//! The JSON Schema of harness profiles.

use loop_core::profile::schema;
use serde_json::Value;

// The file as it is checked in.
const CHECKED_IN: &str = include_str!("../../../schemas/harness.schema.json");

// rows: D-8
#[test]
fn the_schema_that_is_checked_in_is_that_of_the_types() {
    assert!(
        CHECKED_IN == format!("{:#}\n", schema()),
        "run `cargo run -p loop-core --example harness_schema > schemas/harness.schema.json`"
    );
}

fn objects(schema: &Value) -> Vec<(String, &Value)> {
    let inner = schema["$defs"].as_object().into_iter().flatten();
    let inner = inner.map(|(name, object)| (name.clone(), object));
    std::iter::once(("Profile".to_owned(), schema))
        .chain(inner)
        .filter(|(_, object)| object["properties"].is_object())
        .collect()
}

// rows: D-8
#[test]
fn no_object_takes_unknown_keys_and_every_key_is_described() {
    let schema = schema();
    let objects = objects(&schema);
    for (name, object) in &objects {
        assert_eq!(object["additionalProperties"], Value::Bool(false), "{name}");
        for (key, property) in object["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}.{key}");
        }
    }
    let mut names: Vec<&str> = objects.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "Cost",
        "Env",
        "FaultRule",
        "Limits",
        "Offline",
        "Output",
        "Profile",
        "Selector",
        "Sign",
        "Usage",
    ];
    assert_eq!(names, expected);
}
