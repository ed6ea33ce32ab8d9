//! `loop init`: the project's data folder.

use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::create::prepare_project;

/// Makes the project ready for loops.
pub(crate) fn run(context: &Context) -> Result<u8, Failure> {
    context.person_only("make a project ready")?;
    let made = prepare_project(&context.around)?;
    if made.is_empty() {
        show::line(format!(
            "{} is ready already",
            context.around.project.data().display()
        ));
    }
    for path in made {
        show::line(format!("made {}", path.display()));
    }
    Ok(exit::DONE)
}
