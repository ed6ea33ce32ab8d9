//! A backlog file: its items, what they are called, and how they stand.

use super::markdown::{self, Document, Entry, Mark};
use crate::hash;
use crate::name::check_name;
use crate::slug::{cut, slugify};
use std::collections::BTreeMap;

/// Bytes of a name before a hash that tells it from another's.
const STEM: usize = 48;

/// The items of a backlog file, read once.
#[derive(Debug)]
pub(super) struct List<'a> {
    source: &'a str,
    document: Document,
    /// For each entry: its id, and the name that its task has unless another
    /// item has it.
    keys: Vec<Key>,
    /// The entries of each name, in the file's order.
    by_name: BTreeMap<String, Vec<usize>>,
    standings: Vec<Mine>,
}

#[derive(Debug)]
struct Key {
    id: String,
    name: String,
}

/// How an entry stands by the file alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mine {
    /// Open, and without children.
    Open,
    /// Ticked, or a parent whose children all are.
    Done,
    /// Put aside by the mark, on the item or on one around it.
    Parked(char),
    /// A parent whose child is not done: this one.
    Waiting(usize),
}

impl<'a> List<'a> {
    /// Reads the file `file` from its text.
    pub(super) fn new(file: &str, source: &'a str) -> Self {
        let document = markdown::parse(source);
        let keys = keys(file, &document);
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, key) in keys.iter().enumerate() {
            by_name.entry(key.name.clone()).or_default().push(i);
        }
        let standings = standings(&document.entries);
        Self {
            source,
            document,
            keys,
            by_name,
            standings,
        }
    }

    /// Returns the entries that count: with a title, and below the heading
    /// `section` if there is one. `None` when no heading has that text.
    pub(super) fn in_section(&self, section: Option<&str>) -> Option<Vec<usize>> {
        let wanted = section.map(|text| text.trim().to_lowercase());
        let inside: Vec<bool> = self
            .document
            .sections
            .iter()
            .map(|path| match &wanted {
                Some(wanted) => path.iter().any(|heading| heading.to_lowercase() == *wanted),
                None => true,
            })
            .collect();
        if !inside.contains(&true) {
            return None;
        }
        let counts = |(i, entry): (usize, &Entry)| {
            (inside[entry.section] && !self.title(i).is_empty()).then_some(i)
        };
        let entries = self.document.entries.iter().enumerate();
        Some(entries.filter_map(counts).collect())
    }

    pub(super) fn entry(&self, i: usize) -> &Entry {
        &self.document.entries[i]
    }

    pub(super) fn title(&self, i: usize) -> &str {
        markdown::title(self.entry(i))
    }

    pub(super) fn id(&self, i: usize) -> &str {
        &self.keys[i].id
    }

    pub(super) fn name(&self, i: usize) -> &str {
        &self.keys[i].name
    }

    /// Returns the name for an item whose plain name another item has.
    pub(super) fn other_name(&self, i: usize) -> String {
        let key = &self.keys[i];
        format!("{}-{}", cut(&key.name, STEM), &key.id[..8])
    }

    /// Returns all entries of the same plain name, in the file's order.
    pub(super) fn namesakes(&self, i: usize) -> &[usize] {
        self.by_name.get(self.name(i)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn standing(&self, i: usize) -> Mine {
        self.standings[i]
    }

    /// Returns what an item says behind its first line, without indentation
    /// that all of it has.
    pub(super) fn body(&self, i: usize) -> String {
        dedent(&self.source[self.entry(i).rest.clone()])
    }

    /// Returns a fingerprint of what an item says.
    pub(super) fn content(&self, i: usize) -> String {
        hash::hex([self.title(i), &self.body(i)])
    }

    /// Returns every entry's index.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.document.entries.len()
    }
}

/// Returns the name that an item's task has: its bold text if that is a name,
/// else a slug (row S-23).
fn plain_name(entry: &Entry) -> String {
    match entry.bold.as_deref().map(str::trim) {
        Some(bold) if check_name(bold).is_ok() => bold.to_owned(),
        Some(bold) if !bold.is_empty() => slugify(bold),
        _ => slugify(markdown::title(entry)),
    }
}

/// An item is known by what it and the headings and items around it say, not by
/// its line; among items that say the same, by their order.
fn keys(file: &str, document: &Document) -> Vec<Key> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let entries = &document.entries;
    let key = |entry: &Entry| {
        let mut parts = vec![file];
        parts.extend(document.sections[entry.section].iter().map(String::as_str));
        let mut around = entry.parent;
        while let Some(parent) = around {
            parts.push(markdown::title(&entries[parent]));
            around = entries[parent].parent;
        }
        parts.push(markdown::title(entry));
        let id = hash::hex(parts);
        let before = seen.entry(id.clone()).or_default();
        let id = match *before {
            0 => id,
            nth => hash::hex([id.as_str(), &nth.to_string()]),
        };
        *before += 1;
        Key {
            id,
            name: plain_name(entry),
        }
    };
    entries.iter().map(key).collect()
}

fn standings(entries: &[Entry]) -> Vec<Mine> {
    let own = |entry: &Entry| match entry.mark {
        Mark::Open => Mine::Open,
        Mark::Done => Mine::Done,
        Mark::Parked(mark) => Mine::Parked(mark),
    };
    let mut all: Vec<Mine> = entries.iter().map(own).collect();
    // A parent stands before its children: what puts it aside puts them aside.
    for (i, entry) in entries.iter().enumerate() {
        if let (Some(parent), Mine::Open) = (entry.parent, all[i])
            && let Mine::Parked(mark) = all[parent]
        {
            all[i] = Mine::Parked(mark);
        }
    }
    // From the last to the first: a parent is done when its children are.
    let mut waits: Vec<Option<usize>> = vec![None; entries.len()];
    for (i, entry) in entries.iter().enumerate().rev() {
        if entry.has_children && all[i] == Mine::Open {
            all[i] = waits[i].map_or(Mine::Done, Mine::Waiting);
        }
        if let (Some(parent), false) = (entry.parent, all[i] == Mine::Done) {
            waits[parent] = Some(i);
        }
    }
    all
}

fn dedent(text: &str) -> String {
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let full = lines.iter().filter(|line| !line.is_empty());
    let margin = full.map(|line| blanks(line)).min().unwrap_or(0);
    let cut = lines
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default());
    cut.collect::<Vec<_>>().join("\n").trim().to_owned()
}
