//! The configuration of a run: the shipped one, what a person wrote, the options.

use super::NAME;
use super::begin::RunOptions;
use super::not_begun::NotBegun;
use super::scribe::LONGEST;
use crate::git::plain_file;
use loop_core::config::{Config, HarnessRef};
use loop_core::plan::is_written_by_the_loop;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The shipped loop, which nobody has to write.
const TEMPLATE: &str = include_str!("../../templates/loops/run-loop/loop.json");

/// Returns the loop's `loop.json`: the shipped one when there is none at `path`,
/// with what this run asks for in it, as text and read. What else a person wrote
/// there stays.
///
/// # Errors
///
/// [`NotBegun`] when the file cannot be read, and when it would not be a right
/// configuration: a wrong one is never written.
pub(super) fn text(
    path: &Path,
    options: &RunOptions,
    task_file: &Path,
    done_when: &[String],
) -> Result<(String, Config), NotBegun> {
    let wrong = |what: String| NotBegun::Config {
        path: path.to_owned(),
        what,
    };
    let text = match plain_file::read(path, LONGEST) {
        Ok(Some(text)) => String::from_utf8(text).map_err(|error| wrong(error.to_string()))?,
        Ok(None) => return Err(wrong("it is no plain file of at most 1 MiB".to_owned())),
        Err(error) if plain_file::is_absent(&error) => TEMPLATE.to_owned(),
        Err(source) => {
            return Err(NotBegun::Read {
                path: path.to_owned(),
                source,
            });
        }
    };
    if let Some(path) = options
        .freeze
        .iter()
        .find(|path| is_written_by_the_loop(path))
    {
        return Err(NotBegun::Freeze { path: path.clone() });
    }
    // The strict reader first: what it refuses must not be mended in passing.
    Config::parse(&text).map_err(|error| wrong(error.to_string()))?;
    let mut config: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    config.insert("name".to_owned(), NAME.into());
    config.insert("acceptance_criteria".to_owned(), json!(done_when));
    let mut frozen = vec![task_file.to_string_lossy().into_owned()];
    frozen.extend(options.freeze.iter().cloned());
    let gate = object(&mut config, "gate").ok_or_else(|| wrong("gate is no object".to_owned()))?;
    for known in gate
        .get("frozen")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(known) = known
            .as_str()
            .filter(|known| !frozen.iter().any(|f| f == known))
        {
            frozen.push(known.to_owned());
        }
    }
    gate.insert("frozen".to_owned(), json!(frozen));
    // Red before green is what a run is about (row G-11).
    gate.insert("must_start_red".to_owned(), true.into());
    let brakes =
        object(&mut config, "brakes").ok_or_else(|| wrong("brakes is no object".to_owned()))?;
    if let Some(cap) = options.cap {
        brakes.insert("max_iterations".to_owned(), cap.into());
    }
    if let Some(stuck) = options.stuck {
        brakes.insert("no_progress_window".to_owned(), stuck.into());
    }
    if let Some(asked) = &options.harness {
        let harness = config.entry("harness").or_insert(Value::Null);
        set_harness(harness, asked).map_err(|error| wrong(error.to_string()))?;
    }
    let mut text =
        serde_json::to_string_pretty(&config).map_err(|error| wrong(error.to_string()))?;
    text.push('\n');
    let parsed = Config::parse(&text).map_err(|error| wrong(error.to_string()))?;
    Ok((text, parsed.config))
}

/// Puts a harness into a configuration; what else a person wrote of theirs stays.
fn set_harness(harness: &mut Value, asked: &HarnessRef) -> serde_json::Result<()> {
    let described = match asked {
        HarnessRef::Profile(name) => json!({"profile": name}),
        HarnessRef::Described(described) => serde_json::to_value(described)?,
    };
    match (harness.as_object_mut(), described) {
        (Some(own), Value::Object(described)) => {
            own.retain(|key, _| key != "profile" && key != "command");
            own.extend(described);
        }
        (_, described) => *harness = described,
    }
    Ok(())
}

/// Returns the task that the run at `path` is about: the first path that it
/// freezes. None when there is no run yet, or nobody can tell.
pub(super) fn task_of(path: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(plain_file::read(path, LONGEST).ok()??).ok()?;
    let config = Config::parse(&text).ok()?.config;
    let first = config.gate()?.frozen().first()?.as_str().into();
    Some(first)
}

fn object<'a>(config: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    config
        .entry(key)
        .or_insert_with(|| json!({}))
        .as_object_mut()
}
