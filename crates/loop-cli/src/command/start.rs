//! `loop start`: ticks in the foreground, until done or stopped.

mod live;
mod plain;
mod programs;
mod screen;
mod words;

use crate::args::Start;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use crate::terminal;
use live::Live;
use loop_runner::run;
use loop_runner::start::{self, Audience, Finished, Options};
use plain::Plain;
use programs::Programs;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Loops that can be driven without asking the system for more open files.
const FEW: usize = 200;

/// Drives one loop, or all.
pub(crate) fn run(context: &Context, args: &Start) -> Result<u8, Failure> {
    context.person_only("start a loop")?;
    let options = Options {
        names: names(context, args)?,
        max_ticks: args.max_ticks,
        jobs: args.jobs,
        keeps_waiting: args.all,
    };
    if options.names.is_empty() && !args.json {
        show::line("no loops; make one with: loop create NAME --from-template task --brief TEXT");
    }
    make_room(options.names.len());
    let driver = start::Start::new();
    let bell = driver.bell();
    let interrupt =
        signals::interrupt_and(move || bell.ring()).map_err(|error| Failure::of(&error))?;
    let drive = |audience: &mut dyn Audience| -> Finished {
        driver.run(&context.around, &options, &interrupt, audience)
    };
    if args.json {
        let mut programs = Programs::new(context);
        let finished = drive(&mut programs);
        programs.end(&finished)?;
        return Ok(finished.exit_code());
    }
    let finished = if terminal::can_redraw() && !context.quiet {
        drive(&mut Live::new(context))
    } else {
        drive(&mut Plain::new(context))
    };
    Ok(finished.exit_code())
}

/// Returns the loops to drive. The loop of the autonomous run is driven when it is
/// named: `loop run` starts it, and ends with it.
fn names(context: &Context, args: &Start) -> Result<Vec<String>, Failure> {
    if let Some(name) = &args.name {
        context.loop_exists(name)?;
        return Ok(vec![name.clone()]);
    }
    let names = context.around.project.loops();
    let names = names.map_err(|error| Failure::of(&error))?;
    Ok(names.into_iter().filter(|name| name != run::NAME).collect())
}

/// Every loop has a lock, which is an open file. A system that refuses more of
/// them says so when they are needed.
fn make_room(loops: usize) {
    if loops > FEW {
        let limit = getrlimit(Resource::Nofile);
        let more = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        let _refused = setrlimit(Resource::Nofile, more);
    }
}
