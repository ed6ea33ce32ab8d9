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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_has_a_page_and_the_hidden_ones_have_none() {
        let folder = tempfile::tempdir().unwrap();
        run(Some(folder.path())).unwrap();
        let names = folder.path().read_dir().unwrap();
        let names: BTreeSet<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let start = fs::read_to_string(folder.path().join("loop-start.1")).unwrap();
        for page in ["loop.1", "loop-start.1", "loop-task-create.1"] {
            assert!(names.contains(page), "{page}: {names:?}");
        }
        assert!(!names.iter().any(|name| name.contains("__")), "{names:?}");
        assert!(start.contains("max\\-ticks"), "{start}");
    }
}
