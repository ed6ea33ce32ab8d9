//! The items of a loop's source: which are open, which are not, and why.

use crate::show;
use loop_core::config::WorkSourceKind;
use loop_core::state::State;
use loop_runner::interrupt::Interrupt;
use loop_runner::setup::Setup;
use loop_runner::sources::survey;
use loop_worksource::{Standing, Surveyed};
use serde_json::{Value, json};

/// Open items that are listed; the rest is counted.
const LISTED: usize = 10;

/// Tells of the items, and of what was put aside.
pub(super) fn tell(setup: &Setup, state: &State) {
    match look(setup, state) {
        Some(Ok(items)) => tell_items(&items),
        Some(Err(why)) => show::field("items", format!("unknown: {why}")),
        None => {}
    }
    for (task, reason) in &state.parked {
        let why = state.progress_of(task).parked_why;
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        show::field("put aside", format!("{task} ({reason}){why}"));
    }
    if !state.parked.is_empty() {
        show::field(
            "do",
            format!("take one back with: loop approve {} TASK", setup.name),
        );
    }
}

/// Returns the items for programs; null where they are not looked at.
pub(super) fn json(setup: &Setup, state: &State) -> Value {
    match look(setup, state) {
        Some(Ok(items)) => items.iter().map(json_item).collect(),
        Some(Err(why)) => json!({"error": why}),
        None => Value::Null,
    }
}

/// Asks the source, if that runs no program: to look at a loop starts nothing.
fn look(setup: &Setup, state: &State) -> Option<Result<Vec<Surveyed>, String>> {
    let asked = match setup.config.work_source().kind() {
        WorkSourceKind::Single | WorkSourceKind::Command => return None,
        WorkSourceKind::Audit | WorkSourceKind::Backlog => {
            survey(setup, state, &Interrupt::default())
        }
    };
    Some(asked.map_err(|error| error.to_string()))
}

fn tell_items(items: &[Surveyed]) {
    let open: Vec<_> = items
        .iter()
        .filter(|item| item.standing == Standing::Open)
        .collect();
    let done = items
        .iter()
        .filter(|item| item.standing == Standing::Done)
        .count();
    show::field(
        "items",
        format!("{} open, {done} done, {} in all", open.len(), items.len()),
    );
    for item in open.iter().take(LISTED) {
        show::field("open", format!("{}: {}", item.task, item.item.title));
    }
    if open.len() > LISTED {
        show::field("", format!("and {} more", open.len() - LISTED));
    }
    for item in items {
        if let Some(why) = held_back(&item.standing) {
            show::field("not open", format!("{}: {why}", item.task));
        }
    }
}

/// Says why an item cannot be taken, where its loop's state does not say so.
fn held_back(standing: &Standing) -> Option<String> {
    match standing {
        Standing::Claimed { by } => Some(format!("loop {by} works on it")),
        Standing::Parked { why } if why.starts_with("marked") => Some(why.clone()),
        Standing::WithPerson => Some("it is with a person; loop task approve".to_owned()),
        Standing::Waiting { on } => Some(format!("waits for \"{on}\"")),
        Standing::Open | Standing::Done | Standing::Parked { .. } => None,
    }
}

fn json_item(item: &Surveyed) -> Value {
    let (standing, why) = match &item.standing {
        Standing::Open => ("open", None),
        Standing::Claimed { by } => ("claimed", Some(by.clone())),
        Standing::Parked { why } => ("parked", Some(why.clone())),
        Standing::WithPerson => ("with_person", None),
        Standing::Waiting { on } => ("waiting", Some(on.clone())),
        Standing::Done => ("done", None),
    };
    json!({
        "task": item.task,
        "title": item.item.title,
        "standing": standing,
        "why": why,
    })
}
