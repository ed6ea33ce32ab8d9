//! `loop gate freeze`: a person says that a task's gate is as it should be.

use super::ask::{short_note, tell};
use crate::context::{self, Context};
use crate::failure::Failure;
use loop_core::control::Request;
use loop_runner::driver;
use loop_runner::gate::{Subject, freeze_again};
use loop_runner::store::read_state;
use std::sync::atomic::AtomicBool;

/// Freezes the gate of `task` as it is; without a name, of the task that the
/// loop waits about or works on.
pub(crate) fn run(
    context: &Context,
    name: &str,
    task: Option<&str>,
    note: Option<String>,
) -> Result<u8, Failure> {
    context.person_only("freeze a gate")?;
    let setup = context.setup(name)?;
    let note = note.map(short_note).transpose()?;
    let state = read_state(&setup.dir)?.state;
    let subject = Subject::of(&setup, &state, task).map_err(|error| Failure::of(&error))?;
    let task = subject
        .task
        .as_deref()
        .ok_or_else(|| Failure::usage(format!("{name} works on no task; name one")))?;
    let armed = state.progress.get(task).and_then(|p| p.gate.as_ref());
    let (Some(gate), Some(armed)) = (setup.config.gate(), armed) else {
        return Err(Failure::failed(format!(
            "{name}: no gate is armed for {task}; its next tick does it"
        )));
    };
    let stop = AtomicBool::new(false);
    let frozen = freeze_again(&subject.context(&setup, gate, &stop), task, &armed.frozen)
        .map_err(|error| Failure::of(&error))?;
    let request = Request::Freeze {
        task: task.to_owned(),
        frozen,
    };
    let answered = driver::request(&context.around, name, request, &context::user(), note);
    tell(name, answered)
}
