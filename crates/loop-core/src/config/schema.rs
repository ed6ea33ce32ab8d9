//! The JSON Schema of `loop.json`, made from the types that read it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::settings::Settings;

/// Returns the JSON Schema of `loop.json`, for editors and other tools.
///
/// It is as strict about keys and types as [`Config::parse`](super::Config::parse); the rules that
/// tie keys together are not in it.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Settings>();
    schema.insert("title".to_owned(), json!("loop.json"));
    schema.insert("patternProperties".to_owned(), json!({"^x-": true}));
    schema.to_value()
}

/// Finds where a key that is unknown in one place is known, such as `brakes.max_iterations`.
pub(super) fn place_of<T: JsonSchema>(key: &str) -> Option<String> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    let mut places = Vec::new();
    collect(&schema, key, "", &mut places);
    places.into_iter().min_by_key(String::len)
}

/// Collects the paths of all properties of a name in a schema without references.
fn collect(schema: &Value, key: &str, path: &str, places: &mut Vec<String>) {
    for choice in ["anyOf", "oneOf"]
        .iter()
        .filter_map(|word| schema[word].as_array())
        .flatten()
    {
        collect(choice, key, path, places);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let joint = if path.is_empty() { "" } else { "." };
        let inner = format!("{path}{joint}{name}");
        collect(property, key, &inner, places);
        if name == key {
            places.push(inner);
        }
    }
}
