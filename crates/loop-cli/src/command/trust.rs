//! `loop trust`: lets this user start what a project's loops name.

use crate::args::Trust;
use crate::context::{self, Context};
use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use loop_runner::setup::Setup;
use loop_runner::trust::{self, Standing};
use serde_json::{Value, json};

/// Shows what the loops start, and keeps that the user agrees to it.
pub(crate) fn run(context: &Context, args: &Trust) -> Result<u8, Failure> {
    if !args.show {
        context.person_only("trust a loop")?;
    }
    let names = match &args.name {
        Some(name) => vec![name.clone()],
        None => {
            let names = context.around.project.loops();
            names.map_err(|error| Failure::of(&error))?
        }
    };
    if names.is_empty() && !args.json {
        show::line("no loops");
    }
    let mut code = exit::DONE;
    let mut shown = Vec::new();
    for name in names {
        match one(context, args, &name) {
            Ok(value) => shown.push(value),
            Err(failure) => {
                // The others can be trusted all the same.
                show::error(&failure);
                code = failure.code;
            }
        }
    }
    if args.json {
        let project = context.around.project.root();
        show::json(&json!({"v": 1, "project": project, "loops": shown, "exit": code}))?;
    }
    Ok(code)
}

fn one(context: &Context, args: &Trust, name: &str) -> Result<Value, Failure> {
    // What is shown and what is kept is one reading of the file.
    let setup = Setup::read(&context.around, name)?;
    let before = trust::standing(&setup).map_err(|error| Failure::of(&error))?;
    let starts = trust::starts(&setup);
    if !args.show {
        trust::trust(&setup, &context::user()).map_err(|error| Failure::of(&error))?;
    }
    if !args.json {
        tell(name, args.show, &before, &starts);
    }
    let (added, gone) = match &before {
        Standing::Changed { added, gone } => (added.clone(), gone.clone()),
        _ => Default::default(),
    };
    Ok(json!({
        "name": name,
        "before": word(&before),
        "trusted": !args.show || before == Standing::Trusted,
        "starts": starts,
        "added": added,
        "gone": gone,
    }))
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Trusted => "trusted",
        Standing::New => "new",
        Standing::Changed { .. } => "changed",
    }
}

fn tell(name: &str, only_show: bool, before: &Standing, starts: &[String]) {
    show::line(match (before, only_show) {
        (Standing::Trusted, _) => format!("{name}: trusted; it starts"),
        (Standing::New, true) => format!("{name}: not trusted yet; it would start"),
        (Standing::New, false) => format!("{name}: trusted from now on; it starts"),
        (Standing::Changed { .. }, true) => {
            format!("{name}: changed since it was trusted; it would start")
        }
        (Standing::Changed { .. }, false) => {
            format!("{name}: trusted again as it is now; it starts")
        }
    });
    let (added, gone) = match before {
        Standing::Changed { added, gone } => (&added[..], &gone[..]),
        _ => (&[][..], &[][..]),
    };
    for line in starts {
        let mark = if added.contains(line) { "+" } else { " " };
        show::line(format!("{mark} {}", show::one_line(line)));
    }
    for line in gone {
        show::line(format!("- {}", show::one_line(line)));
    }
    if matches!(before, Standing::Changed { .. }) && added.is_empty() && gone.is_empty() {
        show::line("  a value that is not shown was changed");
    }
}
