//! `loop prompt`: see and check prompts before anything is spent.

use crate::args::PromptCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::text::without_controls;
use loop_core::{Role, exit};
use loop_prompts::Severity;
use loop_runner::lint::called_roles;
use loop_runner::preview::{check, preview};
use loop_runner::setup::Setup;
use std::io::{IsTerminal, Write};

/// Runs one of the commands about prompts.
pub(crate) fn run(context: &Context, command: &PromptCommand) -> Result<u8, Failure> {
    match command {
        PromptCommand::Render { name, role, tick } => {
            render(&context.setup(name)?, read_role(role)?, *tick)
        }
        PromptCommand::Check { name } => check_all(&context.setup(name)?),
    }
}

fn read_role(word: &str) -> Result<Role, Failure> {
    [Role::Plan, Role::Implement, Role::Verify, Role::Orchestrate]
        .into_iter()
        .find(|role| role.as_str() == word)
        .ok_or_else(|| {
            Failure::usage(format!(
                "`{word}` is no role; there are plan, implement, verify, orchestrate"
            ))
        })
}

/// Prints the prompt: byte for byte, so that it can be kept and compared, but on
/// a terminal without what that acts on.
fn render(setup: &Setup, role: Role, tick: Option<u64>) -> Result<u8, Failure> {
    let shown = preview(setup, role, tick).map_err(|error| Failure::of(&error))?;
    for warning in &shown.prepared.warnings {
        show::warning(&warning.to_string());
    }
    show::note(format!(
        "tick {} would send this to {}; {{fence}} is shown as zeros, each tick has its own",
        shown.tick,
        role.as_str()
    ));
    let mut out = std::io::stdout();
    let content = &shown.prepared.content;
    let _gone = if out.is_terminal() {
        out.write_all(without_controls(content).as_bytes())
    } else {
        out.write_all(content.as_bytes())
    };
    Ok(exit::DONE)
}

fn check_all(setup: &Setup) -> Result<u8, Failure> {
    let mut code = exit::DONE;
    for role in called_roles(setup) {
        let checked = check(setup, role).map_err(|error| Failure::of(&error))?;
        let place = match &checked.file {
            Some(file) => file.display().to_string(),
            None => role.as_str().to_owned(),
        };
        for warning in &checked.warnings {
            show::line(format!("{place}: {warning}"));
        }
        for finding in &checked.findings {
            show::line(format!("{place}:{finding}"));
            if finding.kind.severity() >= Severity::Error {
                code = exit::FAILED;
            }
        }
        if checked.warnings.is_empty() && checked.findings.is_empty() {
            show::line(format!("{place}: nothing found"));
        }
    }
    Ok(code)
}
