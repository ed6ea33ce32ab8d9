//! `loop log`: what a loop has done.

use crate::args::NamedJson;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::store::records;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// Shows the readable log, or the records as they are.
pub(crate) fn run(context: &Context, args: &NamedJson) -> Result<u8, Failure> {
    let setup = context.setup(&args.name)?;
    if args.json {
        for record in records(&setup.dir)? {
            show::json(&record?)?;
        }
        return Ok(exit::DONE);
    }
    let path = setup.dir.journal();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            show::line(format!("{} has not done anything yet", args.name));
            return Ok(exit::DONE);
        }
        Err(error) => {
            return Err(Failure::failed(format!(
                "cannot read {}: {error}",
                path.display()
            )));
        }
    };
    for line in BufReader::new(file).lines() {
        show::line(line.map_err(|error| Failure::of(&error))?);
    }
    Ok(exit::DONE)
}
