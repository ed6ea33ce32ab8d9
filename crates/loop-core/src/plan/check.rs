//! Whether a planner's block keeps its contract.

use super::{MAX_ITEMS, MAX_TEXT, Plan};
use crate::text::{cut, without_lone_surrogates};
use serde::Deserialize;

/// The most characters of a parser's error that are repeated; it can hold a
/// whole value.
const MAX_WHY: usize = 400;

/// Files that the engine writes in every pass: frozen, they would end the run
/// at once.
const ENGINES: [&str; 3] = [".automaton", "STATE.md", "STATE.prev.md"];

/// The version of a block's shape, which is read before anything else of it.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

/// Reads a block strictly; keys that it does not know are passed over.
pub(super) fn plan(json: &str) -> Result<Plan, String> {
    let wrong = |error: serde_json::Error| {
        let what = cut(&error.to_string(), MAX_WHY);
        format!("the planner's `json` block is wrong: {what}")
    };
    let json = without_lone_surrogates(json);
    let Version { v } = serde_json::from_str(&json).map_err(wrong)?;
    if v != 1 {
        return Err(format!(
            "the planner's `json` block has version {v}; this version reads 1"
        ));
    }
    let plan = serde_json::from_str(&json).map_err(wrong)?;
    contract(&plan).map_err(|why| format!("the planner's `json` block: {why}"))?;
    Ok(plan)
}

/// Returns the first thing in a plan that breaks the contract.
fn contract(plan: &Plan) -> Result<(), String> {
    let boxes = &plan.boxes;
    for (name, answer) in [
        ("bounded", &boxes.bounded),
        ("rejectable", &boxes.rejectable),
        ("end_to_end", &boxes.end_to_end),
        ("objective", &boxes.objective),
    ] {
        text(answer, || format!("boxes.{name}"))?;
    }
    if plan.plan.is_empty() {
        return Err("`plan` is empty; a plan has an item, and each item a check".to_owned());
    }
    few(plan.plan.len(), "plan")?;
    few(plan.covers.len(), "covers")?;
    few(plan.frozen.len(), "frozen")?;
    for (index, item) in plan.plan.iter().enumerate() {
        text(&item.item, || format!("plan[{index}].item"))?;
        text(&item.check, || format!("plan[{index}].check"))?;
    }
    for (index, cover) in plan.covers.iter().enumerate() {
        text(&cover.line, || format!("covers[{index}].line"))?;
        if cover.check >= plan.plan.len() {
            return Err(format!(
                "`covers[{index}].check` is {}, and there is no such item; the last one is {}",
                cover.check,
                plan.plan.len() - 1
            ));
        }
    }
    let mut frozen = plan.frozen.iter().enumerate();
    frozen.try_for_each(|(index, path)| freezable(path.as_str(), index))
}

fn text(text: &str, name: impl Fn() -> String) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("`{}` says nothing", name()));
    }
    // Counting stops where it is decided: a text may be long.
    if text.chars().nth(MAX_TEXT).is_some() {
        return Err(format!("`{}` is longer than {MAX_TEXT} characters", name()));
    }
    Ok(())
}

fn few(count: usize, name: &str) -> Result<(), String> {
    if count > MAX_ITEMS {
        return Err(format!(
            "`{name}` has {count} entries; {MAX_ITEMS} are allowed"
        ));
    }
    Ok(())
}

fn freezable(path: &str, index: usize) -> Result<(), String> {
    let name = format!("frozen[{index}]");
    text(path, || name.clone())?;
    match first_part(path) {
        None => Err(format!("`{name}` is {path:?}; name a file in the project")),
        Some(_) if is_written_by_the_loop(path) => Err(format!(
            "`{name}` is {path:?}, which the loop itself writes"
        )),
        Some(_) => Ok(()),
    }
}

/// Whether the engine writes what is at `path` of a project, so that it cannot be
/// frozen.
#[must_use]
pub fn is_written_by_the_loop(path: &str) -> bool {
    first_part(path).is_some_and(|first| ENGINES.contains(&first))
}

fn first_part(path: &str) -> Option<&str> {
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.next()
}
