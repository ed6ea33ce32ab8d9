//! `loop schema`: the JSON Schema of `loop.json`.

use crate::failure::Failure;
use crate::show;
use loop_core::{config, exit};

/// Prints the schema.
pub(crate) fn run() -> Result<u8, Failure> {
    show::json(&config::schema())?;
    Ok(exit::DONE)
}
