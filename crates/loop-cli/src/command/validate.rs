//! `loop validate`: the strict check of configurations, which starts nothing.

use crate::args::Validate;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::lint::suspicions;

/// Checks one loop, or all.
pub(crate) fn run(context: &Context, args: &Validate) -> Result<u8, Failure> {
    let names = match &args.name {
        Some(name) => vec![name.clone()],
        None => context
            .around
            .project
            .loops()
            .map_err(|error| Failure::of(&error))?,
    };
    if names.is_empty() {
        show::line("no loops");
    }
    let mut code = exit::DONE;
    for name in names {
        match check(context, &name) {
            Ok(()) => show::line(format!("{name}: right")),
            Err(failure) => {
                show::error(&failure);
                code = failure.code;
            }
        }
    }
    Ok(code)
}

fn check(context: &Context, name: &str) -> Result<(), Failure> {
    let setup = context.setup(name)?;
    for warning in &setup.warnings {
        show::warning(
            &warning
                .with_file(setup.config_path().display().to_string())
                .to_string(),
        );
    }
    for suspicion in suspicions(&setup) {
        show::warning(&format!("{name}: {suspicion}"));
    }
    Ok(setup.check_runnable()?)
}
