//! `loop diff`: what a loop has changed, new files included.

use crate::args::Diff;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::changes::{DiffError, worktree_of, write_patch};
use loop_runner::store::read_state;
use std::io;

/// Prints the patch, or its numbers.
pub(crate) fn run(context: &Context, args: &Diff) -> Result<u8, Failure> {
    let setup = context.setup(&args.name)?;
    let state = read_state(&setup.dir)?.state;
    let worktree =
        worktree_of(&setup, &state, args.task.as_deref()).map_err(|error| Failure::of(&error))?;
    let patch = if args.stat {
        write_patch(&setup, &worktree, &mut io::sink())
    } else {
        write_patch(&setup, &worktree, &mut io::stdout().lock())
    };
    let files = match patch {
        Ok(files) => files,
        Err(DiffError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(exit::DONE);
        }
        Err(error) => return Err(Failure::of(&error)),
    };
    if args.stat {
        for file in &files {
            let lines = match &file.lines {
                Some(lines) => format!("+{} -{}", lines.added, lines.removed),
                None => "binary".to_owned(),
            };
            show::line(format!("{lines:>12}  {}", file.path.display()));
        }
    }
    Ok(exit::DONE)
}
