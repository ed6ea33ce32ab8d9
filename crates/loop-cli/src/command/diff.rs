//! `loop diff`: what a loop has changed, new files included.

use crate::args::Diff;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::answer::WorktreeRecord;
use loop_core::exit;
use loop_core::text::without_controls;
use loop_runner::changes::{DiffError, worktree_of, write_patch};
use loop_runner::git::FileStat;
use loop_runner::setup::Setup;
use loop_runner::store::read_state;
use std::io::{self, IsTerminal, Write};

/// Prints the patch, or its numbers.
pub(crate) fn run(context: &Context, args: &Diff) -> Result<u8, Failure> {
    let setup = context.setup(&args.name)?;
    let state = read_state(&setup.dir)?.state;
    let worktree =
        worktree_of(&setup, &state, args.task.as_deref()).map_err(|error| Failure::of(&error))?;
    let patch = if args.stat {
        write_patch(&setup, &worktree, &mut io::sink())
    } else {
        print(&setup, &worktree)
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
            show::line(format!("{lines:>12}  {}", file.quoted_path()));
        }
    }
    Ok(exit::DONE)
}

/// Prints the patch as it is, but to a terminal without what that would act on.
fn print(setup: &Setup, worktree: &WorktreeRecord) -> Result<Vec<FileStat>, DiffError> {
    let mut stdout = io::stdout().lock();
    if !stdout.is_terminal() {
        return write_patch(setup, worktree, &mut stdout);
    }
    let mut shown = Shown::new(stdout);
    let files = write_patch(setup, worktree, &mut shown)?;
    shown.finish()?;
    Ok(files)
}

/// Writes a patch for a person's eyes: what files hold may be an agent's, and
/// nothing in it reaches the terminal that a terminal would act on.
///
/// A file or a pipe gets the bytes themselves, as they may be applied.
struct Shown<W> {
    out: W,
    /// The line that is not complete yet. No escape sequence crosses its end.
    line: Vec<u8>,
}

impl<W: Write> Shown<W> {
    const fn new(out: W) -> Self {
        Self {
            out,
            line: Vec::new(),
        }
    }

    /// Writes the last line, if it has no end.
    fn finish(mut self) -> io::Result<()> {
        self.write_line()?;
        self.out.flush()
    }

    fn write_line(&mut self) -> io::Result<()> {
        let text = without_controls(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        self.out.write_all(text.as_bytes())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    /// Does not write the line that is not complete, as it may be cut inside of
    /// an escape sequence.
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-20; cases: 58
    #[test]
    fn a_terminal_gets_text_only_however_it_is_cut() {
        let patch =
            b"+\x1b]0;title\x07a\tb\x1b[31mred\r\n+\xff\xc3\xa4\x9b2J\n\x1b]52;c;\n no end\x1b[";
        for size in 1..=patch.len() {
            let mut out = Vec::new();
            let mut shown = Shown::new(&mut out);
            for part in patch.chunks(size) {
                shown.write_all(part).unwrap();
            }
            shown.finish().unwrap();
            let shown = String::from_utf8(out).unwrap();
            assert_eq!(
                shown, "+a\tbred\n+\u{fffd}\u{e4}\u{fffd}2J\n\n no end",
                "{size}"
            );
        }
    }
}
