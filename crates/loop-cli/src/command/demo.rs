//! `loop demo`: a whole loop on a throw-away repository, with real processes
//! and a scripted agent. No account, no network.

pub(crate) mod agent;
mod stage;

use crate::args::Diff;
use crate::command;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::exit;
use loop_core::outcome::Outcome;
use loop_runner::driver;
use stage::Stage;

/// The name of the demo's loop.
const LOOP: &str = "fix";
/// More ticks than the script needs.
const MAX_TICKS: u32 = 5;

/// Plays the demo.
pub(crate) fn run(quiet: bool) -> Result<u8, Failure> {
    let stage = Stage::set()?;
    show::line(format!(
        "A throw-away repository in {}: slug.sh is wrong, and test.sh says so.",
        stage.project().display()
    ));
    show::line("A loop works on it: an agent implements, a judge runs the test, a hint goes back.");
    show::line("");
    let interrupt = signals::interrupt().map_err(|error| Failure::of(&error))?;
    let context = Context {
        around: stage.surroundings()?,
        quiet,
    };
    let created = stage.create_loop(&context.around)?;
    let mut last = None;
    for _ in 0..MAX_TICKS {
        let mut view = command::tick::View::new(!quiet);
        let ticked = driver::tick(&created.setup, &interrupt, &mut view);
        command::tick::tell(&created.setup, &ticked, true);
        let goes_on = matches!(ticked.ended.outcome, Outcome::Fail(_));
        last = Some(ticked.ended);
        if !goes_on {
            break;
        }
    }
    show::line("");
    let diff = Diff {
        name: LOOP.to_owned(),
        task: None,
        stat: false,
    };
    command::diff::run(&context, &diff)?;
    show::line("");
    stage.say_where_to_look();
    let passed = last.is_some_and(|ended| ended.outcome == Outcome::Pass);
    Ok(if passed { exit::DONE } else { exit::FAILED })
}
