//! `loop tick --dry-run`: what the next tick would do.

use super::config::text_row;
use super::gate_words;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::config::{Supported, WorkSourceKind};
use loop_core::exit;
use loop_core::explain::what_to_do;
use loop_runner::dry_run::dry_run;
use loop_runner::lint::called_roles;
use loop_runner::setup::Setup;
use loop_worksource::Item;

/// Tells of the next tick, and spends nothing.
pub(crate) fn run(context: &Context, name: &str) -> Result<u8, Failure> {
    let setup = context.setup(name)?;
    let foretold = dry_run(&setup).map_err(|error| Failure::of(&error))?;
    if let Err(refused) = setup.check_runnable() {
        show::warning(&format!("a tick would refuse: {refused}"));
    }
    if let Some(ended) = &foretold.skipped {
        show::field("would", format!("do nothing: {}", ended.why));
        if let Some(what) = what_to_do(&ended.outcome, name) {
            show::field("do", what);
        }
    }
    for (_, note) in &foretold.notes {
        show::warning(note);
    }
    for owed in &foretold.state.to_finish {
        show::field(
            "first",
            format!("tell its source that {} is complete", owed.task),
        );
    }
    show::field("tick", (foretold.state.tick + 1).to_string());
    show::field("task", foretold.task.as_deref().unwrap_or("none"));
    if let Some(item) = &foretold.item {
        show::field("item", origin(item));
    }
    for (role, harness) in harnesses(&setup) {
        show::field(role, harness);
    }
    gate_words::tell(&setup, &foretold.state, foretold.task.as_deref());
    show::line("");
    for row in (setup.config).effective(&Supported::THIS_VERSION, &setup.harnesses) {
        if row.key.starts_with("brakes.") {
            show::line(text_row(&row));
        }
    }
    for words in setup.config.uncapped(&setup.harnesses) {
        show::line(words);
    }
    show::line("");
    let Some(prompt) = foretold.prompt else {
        show::line(match setup.config.work_source().kind() {
            WorkSourceKind::Single => {
                format!("no prompt: give the loop a task with: loop set-task {name} TASK")
            }
            _ => "no prompt: the loop has no task".to_owned(),
        });
        return Ok(exit::DONE);
    };
    for warning in &prompt.prepared.warnings {
        show::warning(&warning.to_string());
    }
    show::line("prompt of implement ({fence} is shown as zeros, each tick has its own):");
    show::line("");
    show::line(&prompt.prepared.content);
    Ok(exit::DONE)
}

/// Says what an item is about, and where it is from.
fn origin(item: &Item) -> String {
    let origin = &item.origin;
    let place = match (&origin.file, origin.line, &origin.url, &origin.id) {
        (Some(file), Some(line), ..) => format!("{file}:{line}"),
        (_, _, Some(url), _) => url.clone(),
        (_, _, None, Some(id)) => id.clone(),
        _ => return item.title.clone(),
    };
    format!("{} ({place})", item.title)
}

/// Says how each role would be called, as the command stands in the configuration
/// or the profile; the first of several.
fn harnesses(setup: &Setup) -> Vec<(&'static str, String)> {
    called_roles(setup)
        .into_iter()
        .map(|role| {
            let first = setup.harnesses.of_role(role).first();
            let words: Vec<_> = first
                .iter()
                .flat_map(|harness| &harness.command)
                .map(|word| show::quoted(word))
                .collect();
            let others: Vec<_> = (setup.harnesses.of_role(role).iter().skip(1))
                .map(|harness| harness.name.as_str())
                .collect();
            let or = match others.is_empty() {
                true => String::new(),
                false => format!("; while that is out of service: {}", others.join(", ")),
            };
            (role.as_str(), format!("{}{or}", words.join(" ")))
        })
        .collect()
}
