//! What a program printed, read strictly (shapes §9).

use serde::Deserialize;
use std::collections::BTreeSet;

/// The longest id, in bytes; it stands in names, records and arguments.
const ID: usize = 256;

/// One item as it was printed; other keys are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Printed {
    /// Its name in the tracker.
    pub(super) id: String,
    /// What it is about.
    pub(super) title: String,
    /// What else is known.
    #[serde(default)]
    pub(super) body: Option<String>,
    /// The same under the name that many trackers have for it; `body` wins.
    #[serde(default)]
    pub(super) description: Option<String>,
    /// Where people read it.
    #[serde(default)]
    pub(super) url: Option<String>,
    /// The lower, the sooner.
    #[serde(default)]
    pub(super) priority: Option<f64>,
    /// Words that people put on it.
    #[serde(default)]
    pub(super) labels: Option<Vec<String>>,
}

impl Printed {
    /// Returns the number to sort by.
    pub(super) fn rank(&self) -> f64 {
        self.priority.unwrap_or(f64::INFINITY)
    }

    /// Returns what is known beside the title, labels last.
    pub(super) fn text(&self) -> String {
        let body = self.body.as_ref().or(self.description.as_ref());
        let mut text = body.cloned().unwrap_or_default();
        if let Some(labels) = self.labels.as_ref().filter(|labels| !labels.is_empty()) {
            text.push_str("\n\nLabels: ");
            text.push_str(&labels.join(", "));
        }
        text
    }
}

/// Reads a JSON array of items, or items one after the other. No output is no
/// items; anything that cannot be read is a failure, never fewer items.
pub(super) fn items(stdout: &[u8]) -> Result<Vec<Printed>, String> {
    let stdout = stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdout);
    let array = stdout.trim_ascii_start().starts_with(b"[");
    let items: Result<Vec<Printed>, _> = if array {
        serde_json::from_slice(stdout)
    } else {
        serde_json::Deserializer::from_slice(stdout)
            .into_iter()
            .collect()
    };
    let items = items.map_err(|error| format!("the output is no list of items: {error}"))?;
    let mut seen = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let wrong = |what: &str| Err(format!("item {}: {what}", at + 1));
        if item.id.is_empty() || item.id.len() > ID || item.id.contains(char::is_control) {
            return wrong("`id` is empty, longer than 256 bytes, or holds control characters");
        }
        // It becomes an argument of `done_command`, and must not be an option.
        if item.id.starts_with('-') {
            return wrong("`id` starts with a hyphen");
        }
        if item.title.trim().is_empty() {
            return wrong("`title` is empty");
        }
        if !seen.insert(&item.id) {
            return wrong(&format!("`id` {} stands twice", item.id));
        }
    }
    Ok(items)
}
