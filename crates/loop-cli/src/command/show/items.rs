//! The items of a loop's source: which are open, which are not, and why.

use crate::show;
use loop_core::config::WorkSourceKind;
use loop_core::outcome::Halt;
use loop_core::state::State;
use loop_runner::interrupt::Interrupt;
use loop_runner::setup::Setup;
use loop_runner::sources::survey;
use loop_worksource::{SourceError, Standing, Surveyed};
use serde_json::{Value, json};

/// Items of one kind that are listed; the rest is counted.
const LISTED: usize = 10;

/// Tells of the items, and of what was put aside.
pub(super) fn tell(setup: &Setup, state: &State) {
    let name = &setup.name;
    match look(setup, state) {
        Look::Asked(Ok(items)) => tell_items(state, &items),
        Look::Asked(Err(error)) => show::field("items", format!("unknown: {error}")),
        Look::Program => show::field(
            "items",
            format!("its command knows them; ask it with: loop tick {name} --dry-run"),
        ),
        Look::One => {}
    }
    let aside = state.parked.iter().map(|(task, reason)| {
        let why = state.progress_of(task).parked_why;
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("{task} ({reason}){why}")
    });
    tell_some("put aside", aside);
    let mut aside = state.parked.iter();
    match (aside.next(), aside.next()) {
        (None, _) => {}
        (Some((one, Halt::ApprovalRequired)), None) => {
            let what = format!("look at it, and let it go on: loop approve {name} {one}");
            show::field("do", what);
        }
        (Some((one, _)), None) => {
            show::field(
                "do",
                format!("take it back with: loop approve {name} {one}"),
            );
        }
        (Some(_), Some(_)) => {
            let what = format!("take one of them back with: loop approve {name} TASK");
            show::field("do", what);
        }
    }
    for owed in &state.to_finish {
        let what = format!(
            "its source has yet to be told that {} is complete",
            owed.task
        );
        show::field("owed", what);
    }
}

/// Returns the items for programs; null where they are not looked at.
pub(super) fn json(setup: &Setup, state: &State) -> Value {
    match look(setup, state) {
        Look::Asked(Ok(items)) => items.iter().map(|item| json_item(state, item)).collect(),
        Look::Asked(Err(error)) => json!({"error": error.to_string()}),
        Look::Program | Look::One => Value::Null,
    }
}

/// What a look at a source gives.
enum Look {
    Asked(Result<Vec<Surveyed>, SourceError>),
    /// It would run a program, and to look at a loop starts nothing.
    Program,
    /// There is the loop's one task only.
    One,
}

fn look(setup: &Setup, state: &State) -> Look {
    match setup.config.work_source().kind() {
        WorkSourceKind::Single => Look::One,
        WorkSourceKind::Command => Look::Program,
        WorkSourceKind::Audit | WorkSourceKind::Backlog => {
            let surveyed = survey(setup, state, &Interrupt::default());
            Look::Asked(surveyed.map(|(items, notes)| {
                for (_, note) in notes {
                    show::warning(&note);
                }
                items
            }))
        }
    }
}

fn tell_items(state: &State, items: &[Surveyed]) {
    let count = |standing: &Standing| {
        let same = items.iter().filter(|item| item.standing == *standing);
        same.count()
    };
    let (open, done) = (count(&Standing::Open), count(&Standing::Done));
    show::field(
        "items",
        format!("{open} open, {done} done, {} in all", items.len()),
    );
    let open = items.iter().filter(|item| item.standing == Standing::Open);
    tell_some(
        "open",
        open.map(|item| {
            if item.item.title.starts_with(&item.task) {
                item.item.title.clone()
            } else {
                format!("{}: {}", item.task, item.item.title)
            }
        }),
    );
    let held = items.iter().filter_map(|item| {
        // The loop's own are told of with their reasons.
        let others = !state.parked.contains_key(&item.task);
        let why = held_back(&item.standing).filter(|_| others)?;
        Some(format!("{}: {why}", item.task))
    });
    tell_some("not open", held);
}

/// Lists the first lines, and says how many more there are.
fn tell_some(heading: &str, lines: impl Iterator<Item = String>) {
    let mut more = 0_usize;
    for (n, line) in lines.enumerate() {
        if n < LISTED {
            show::field(heading, line);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        show::field("", format!("and {more} more"));
    }
}

/// Says why an item cannot be taken.
fn held_back(standing: &Standing) -> Option<String> {
    match standing {
        Standing::Claimed { by } => Some(format!("loop {by} works on it")),
        Standing::Parked { why } => Some(why.clone()),
        Standing::WithPerson => {
            Some("it is with a person; give it back with: loop task approve".to_owned())
        }
        Standing::Waiting { on } => Some(format!("waits for \"{on}\"")),
        Standing::Open | Standing::Done => None,
    }
}

fn json_item(state: &State, item: &Surveyed) -> Value {
    let standing = match &item.standing {
        Standing::Open => "open",
        Standing::Claimed { .. } => "claimed",
        Standing::Parked { .. } => "parked",
        Standing::WithPerson => "with_person",
        Standing::Waiting { .. } => "waiting",
        Standing::Done => "done",
    };
    let reason = state.parked.get(&item.task);
    let why = reason.and_then(|_| state.progress_of(&item.task).parked_why);
    json!({
        "task": item.task,
        "title": item.item.title,
        "standing": standing,
        "reason": reason,
        "why": why.or_else(|| held_back(&item.standing)),
        "file": item.item.origin.file,
        "line": item.item.origin.line,
        "severity": item.item.severity,
    })
}
