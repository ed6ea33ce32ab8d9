//! `loop init`: the project's data folder, and with `--run` the files of an
//! autonomous run.

use crate::args::Init;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::create::prepare_project;
use loop_runner::scaffold::{self, Placed};

/// Makes the project ready for loops. Starts nothing.
pub(crate) fn run(context: &Context, args: &Init) -> Result<u8, Failure> {
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
    if args.run {
        write_scaffold(context)?;
    }
    Ok(exit::DONE)
}

/// Writes what an autonomous run needs, and says what there was already.
fn write_scaffold(context: &Context) -> Result<(), Failure> {
    let root = context.around.project.root();
    let placed = scaffold::write(root).map_err(|error| Failure::of(&error))?;
    for (path, became) in placed {
        let path = root.join(path);
        let path = path.display();
        match became {
            Placed::Written => show::line(format!("made {path}")),
            Placed::Kept => show::line(format!("kept {path}")),
            Placed::LeftOut => show::warning(&format!(
                "{path} is left out: a link or a file is in the place of its folder"
            )),
        }
    }
    show::line("next: write your task into TASK.md, then: loop run");
    Ok(())
}
