//! A list of settings that grows row by row.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;

use super::{Effective, Enforced, Origin};

/// The rows so far, and the paths of the keys that are not enforced.
#[derive(Debug)]
pub(super) struct Table {
    not_enforced: Vec<String>,
    rows: Vec<Effective>,
}

impl Table {
    pub(super) fn new(not_enforced: Vec<String>) -> Self {
        Self {
            not_enforced,
            rows: Vec::new(),
        }
    }

    /// Opens the object at a path; the rows that are added there have keys below it.
    pub(super) fn section(&mut self, path: &str) -> Section<'_> {
        Section {
            table: self,
            path: path.to_owned(),
        }
    }

    pub(super) fn into_rows(self) -> Vec<Effective> {
        self.rows
    }
}

/// One object of the file. A row with an empty name is about the object itself.
#[derive(Debug)]
pub(super) struct Section<'a> {
    table: &'a mut Table,
    path: String,
}

impl Section<'_> {
    /// Adds a row for a setting that holds, unless this version does not have it.
    pub(super) fn put(&mut self, name: &str, given: bool, value: impl Display) {
        let key = self.key(name);
        let enforced = match self
            .table
            .not_enforced
            .iter()
            .any(|path| is_at_or_below(&key, path))
        {
            true => Enforced::No("this version does not have it".to_owned()),
            false => Enforced::Yes,
        };
        self.push(name, given, value, enforced);
    }

    /// Adds a row for a key that has no default, if the file gives it.
    pub(super) fn given(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.put(name, true, value);
        }
    }

    /// Adds a row for a setting with which there is nothing to hold.
    pub(super) fn off(&mut self, name: &str, given: bool, value: impl Display) {
        self.push(name, given, value, Enforced::Off);
    }

    /// Adds a row for a limit, or for the words that say that there is none.
    pub(super) fn or_off(
        &mut self,
        name: &str,
        given: bool,
        value: Option<impl Display>,
        off: &str,
    ) {
        match value {
            Some(value) => self.put(name, given, value),
            None => self.off(name, given, off),
        }
    }

    /// Adds a row for a list, or for the words that stand for an empty one.
    pub(super) fn list(&mut self, name: &str, items: Option<&[impl Display]>, none: &str) {
        let shown = items.filter(|items| !items.is_empty()).map(list);
        self.or_off(name, items.is_some(), shown, none);
    }

    pub(super) fn push(
        &mut self,
        name: &str,
        given: bool,
        value: impl Display,
        enforced: Enforced,
    ) {
        let from = if given { Origin::File } else { Origin::Default };
        let row = Effective {
            key: self.key(name),
            value: value.to_string(),
            from,
            enforced,
        };
        self.table.rows.push(row);
    }

    fn key(&self, name: &str) -> String {
        let joint = if name.is_empty() { "" } else { "." };
        format!("{}{joint}{name}", self.path)
    }
}

fn is_at_or_below(key: &str, path: &str) -> bool {
    key.strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Shows a command as the array that it is, so that every argument's ends are seen.
pub(super) fn argv(command: impl AsRef<[String]>) -> String {
    format!("{:?}", command.as_ref())
}

pub(super) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items
        .into_iter()
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

/// Shows a choice as the word that stands for it in the file.
pub(super) fn word(choice: impl Serialize) -> String {
    serde_json::to_string(&choice)
        .unwrap_or_default()
        .trim_matches('"')
        .to_owned()
}
