//! `loop log`: what a loop has done.

use crate::args::Log;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::exit;
use loop_runner::interrupt::Interrupt;
use loop_runner::setup::Setup;
use loop_runner::store::{LoopDir, journal_lines, records};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io;

/// Between two looks at a log that is followed.
const BETWEEN_LOOKS: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 250_000_000,
};

/// Shows the readable log, or the records as they are.
pub(crate) fn run(context: &Context, args: &Log) -> Result<u8, Failure> {
    context.loop_exists(&args.name)?;
    // What a loop has done is shown whatever its configuration is like.
    if let Ok(setup) = Setup::read(&context.around, &args.name) {
        context.tell_trust(&setup);
    }
    let dir = LoopDir::new(context.around.project.loop_dir(&args.name));
    if args.json {
        let records = records(&dir)?.map(|record| show::json_text(&record?));
        return tell(args, records).map(|_| exit::DONE);
    }
    let lines = journal_lines(&dir).map(|line| line.map_err(|error| Failure::of(&error)));
    if tell(args, lines)? == 0 && !args.follow && args.lines != Some(0) {
        show::line(format!("{} has not done anything yet", args.name));
    }
    Ok(exit::DONE)
}

/// Prints the lines, and returns how many there were. A log that is followed is
/// asked again after its last line, until its reader is gone or a signal comes.
fn tell(
    args: &Log,
    mut lines: impl Iterator<Item = Result<String, Failure>>,
) -> Result<usize, Failure> {
    let interrupt = match args.follow {
        true => signals::interrupt().map_err(|error| Failure::of(&error))?,
        false => Interrupt::new(),
    };
    let mut told = match args.lines {
        Some(count) => last(&mut lines, count as usize)?,
        None => 0,
    };
    loop {
        for line in &mut lines {
            told += 1;
            if show::try_line(line?).is_err() || interrupt.asked() > 0 {
                return Ok(told);
            }
        }
        if !args.follow || interrupt.asked() > 0 || reader_leaves() {
            return Ok(told);
        }
    }
}

/// Prints the last of the lines that are there now, and returns how many.
fn last(
    lines: &mut impl Iterator<Item = Result<String, Failure>>,
    count: usize,
) -> Result<usize, Failure> {
    let mut kept = VecDeque::new();
    for line in lines {
        kept.push_back(line?);
        if kept.len() > count {
            kept.pop_front();
        }
    }
    for line in &kept {
        show::line(line);
    }
    Ok(kept.len())
}

/// Waits a little, and returns whether whoever reads has left meanwhile.
fn reader_leaves() -> bool {
    let stdout = io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    // Cut short by a signal, it is as if nothing had happened.
    let _cut_short = poll(&mut watched, Some(&BETWEEN_LOOKS));
    watched[0]
        .revents()
        .intersects(PollFlags::ERR | PollFlags::HUP)
}
