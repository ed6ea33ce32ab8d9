//! The JSON Schema of harness profiles, made from the types that read them.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::file::File;

/// Returns the JSON Schema of a harness profile, for editors and other tools.
///
/// It is as strict about keys and types as [`Profile::parse`](super::Profile::parse); the rules
/// that tie keys together are not in it.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<File>();
    schema.insert("title".to_owned(), json!("A harness profile"));
    schema.to_value()
}
