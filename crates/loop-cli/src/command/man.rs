//! `loop man`: the manual pages.

use crate::args::{Cli, shown};
use crate::failure::Failure;
use crate::show;
use clap::CommandFactory;
use clap_mangen::{Man, generate_to};
use loop_core::exit;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Prints the page of `loop` itself, or writes the pages of all commands to a
/// folder.
pub(crate) fn run(folder: Option<&Path>) -> Result<u8, Failure> {
    let command = shown(Cli::command());
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(command)
            .render(&mut page)
            .map_err(|error| Failure::of(&error))?;
        // A reader that is gone needs no page.
        let _gone = io::stdout().write_all(&page);
        return Ok(exit::DONE);
    };
    let written = fs::create_dir_all(folder).and_then(|()| generate_to(command, folder));
    written.map_err(|error| {
        Failure::failed(format!(
            "cannot write the pages to {}: {error}",
            folder.display()
        ))
    })?;
    show::line(format!(
        "the pages are in {0}; read one with: man {0}/loop.1",
        folder.display()
    ));
    Ok(exit::DONE)
}
