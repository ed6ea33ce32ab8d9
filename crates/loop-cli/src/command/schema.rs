//! `loop schema`: the JSON Schema of a file that people write.

use crate::args::SchemaOf;
use crate::failure::Failure;
use crate::show;
use loop_core::{config, exit, profile};

/// Prints the schema.
pub(crate) fn run(of: SchemaOf) -> Result<u8, Failure> {
    show::json(&match of {
        SchemaOf::Loop => config::schema(),
        SchemaOf::Harness => profile::schema(),
    })?;
    Ok(exit::DONE)
}
