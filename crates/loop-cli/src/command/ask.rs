//! A person's hand on a loop: approve, pause, resume, stop, set-task.

use crate::args::{Approve, Ask, SetTask};
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::show;
use loop_core::config::WorkSourceKind;
use loop_core::control::Request;
use loop_core::exit;
use loop_core::phase::COMPLETE;
use loop_runner::create::give_task;
use loop_runner::driver;
use loop_runner::store::{Answered, LoopDir, RequestError, read_state};
use loop_runner::tasks::ReadError;

/// The longest note, in characters.
const NOTE_LIMIT: usize = 2_000;

/// `loop approve`.
pub(crate) fn approve(context: &Context, args: &Approve) -> Result<u8, Failure> {
    let task = args.task.clone();
    let request = Request::Approve { task };
    let code = ask(context, &args.ask, "approve a loop", request)?;
    still_waits(context, &args.ask.name)?;
    Ok(code)
}

/// What was approved can end in another wait at once: a box that is not there any
/// more. Who approved should not have to find out in the morning.
fn still_waits(context: &Context, name: &str) -> Result<(), Failure> {
    let dir = LoopDir::new(context.around.project.loop_dir(name));
    let state = read_state(&dir)?.state;
    if state.in_progress.is_none()
        && let (Some(_), Some(why)) = (state.reason, &state.why)
    {
        show::warning(&format!("{name} still waits for a person: {why}"));
    }
    Ok(())
}

/// `loop pause`.
pub(crate) fn pause(context: &Context, args: &Ask) -> Result<u8, Failure> {
    ask(context, args, "pause a loop", Request::Pause)
}

/// `loop resume`.
pub(crate) fn resume(context: &Context, args: &Ask) -> Result<u8, Failure> {
    ask(context, args, "resume a loop", Request::Resume)
}

/// `loop stop`.
pub(crate) fn stop(context: &Context, args: &Ask) -> Result<u8, Failure> {
    ask(context, args, "stop a loop", Request::Stop)
}

/// `loop set-task`.
pub(crate) fn set_task(context: &Context, args: &SetTask) -> Result<u8, Failure> {
    context.person_only("give a loop its task")?;
    let setup = context.setup(&args.name)?;
    let kind = setup.config.work_source().kind();
    if kind != WorkSourceKind::Single {
        return Err(Failure::failed(format!(
            "{} takes its work from its source ({}); loop tick {0} --dry-run shows what is next",
            args.name,
            kind.name()
        )));
    }
    match setup.tasks.read(&args.task) {
        Ok(Some(task)) if task.phase == COMPLETE => {
            return Err(Failure::failed(format!(
                "{} is complete; make another task with: loop task create NAME --brief TEXT",
                args.task
            )));
        }
        Ok(_) => {}
        Err(error) => {
            let hint = match error {
                ReadError::Missing { .. } => "; loop task list shows those that there are",
                _ => "",
            };
            return Err(Failure::failed(format!("{}{hint}", Failure::of(&error))));
        }
    }
    let answered = give_task(&context.around, &setup, &args.task, &context::user());
    tell(&args.name, answered)
}

fn ask(context: &Context, args: &Ask, what: &str, request: Request) -> Result<u8, Failure> {
    context.person_only(what)?;
    context.loop_exists(&args.name)?;
    let note = args.note.clone().map(short_note).transpose()?;
    let answered = driver::request(&context.around, &args.name, request, &context::user(), note);
    tell(&args.name, answered)
}

/// A note is kept in the record, so it has to be short.
pub(crate) fn short_note(note: String) -> Result<String, Failure> {
    match note.chars().count() {
        0..=NOTE_LIMIT => Ok(note),
        count => Err(Failure::usage(format!(
            "--note: {count} characters; at most {NOTE_LIMIT} are kept"
        ))),
    }
}

/// Says what became of a request.
pub(crate) fn tell(name: &str, answered: Result<Answered, RequestError>) -> Result<u8, Failure> {
    match answered? {
        Answered::Done(requested) if requested.accepted => {
            show::line(format!("{name}: {}", requested.said));
            Ok(exit::DONE)
        }
        Answered::Done(requested) => Err(Failure::failed(format!("{name}: {}", requested.said))),
        Answered::Recorded { tick, step, since } => {
            let tick = tick.map_or_else(String::new, |tick| format!("tick {tick}"));
            let step = step.map_or_else(String::new, |step| format!(", {step}"));
            let since = since.map_or_else(String::new, |since| format!(", since {since}"));
            show::line(format!(
                "{name}: recorded; it takes effect when the running tick looks ({tick}{step}{since})"
            ));
            Ok(exit::DONE)
        }
    }
}
