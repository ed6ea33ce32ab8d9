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
    file: &'a str,
    document: Document,
    /// For each entry, how many before it in the same place say the same.
    repeats: Vec<u32>,
    /// For each entry, the name that its task has unless another item has it.
    names: Vec<String>,
    /// The entries of each name, in the file's order.
    by_name: BTreeMap<String, Vec<usize>>,
    standings: Vec<Mine>,
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
    pub(super) fn new(file: &'a str, source: &'a str) -> Self {
        let document = markdown::parse(source);
        let names: Vec<String> = document.entries.iter().map(plain_name).collect();
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, name) in names.iter().enumerate() {
            by_name.entry(name.clone()).or_default().push(i);
        }
        Self {
            source,
            file,
            repeats: repeats(&document.entries),
            standings: standings(&document.entries),
            document,
            names,
            by_name,
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

    /// Returns the file's path in the project.
    pub(super) fn file(&self) -> &str {
        self.file
    }

    pub(super) fn entry(&self, i: usize) -> &Entry {
        &self.document.entries[i]
    }

    pub(super) fn title(&self, i: usize) -> &str {
        markdown::title(self.entry(i))
    }

    /// Returns what an item is known by: what it and the headings and items
    /// around it say, not its line. Items that say the same are told apart by
    /// their order.
    pub(super) fn id(&self, i: usize) -> String {
        let mut said = Vec::new();
        let mut next = Some(i);
        while let Some(at) = next {
            said.push((self.title(at), self.repeats[at].to_string()));
            next = self.entry(at).parent;
        }
        let section = &self.document.sections[self.entry(i).section];
        let depth = section.len().to_string();
        let place = [self.file, &depth].into_iter();
        let section = section.iter().map(String::as_str);
        let said = said.iter().flat_map(|(title, nth)| [*title, nth.as_str()]);
        hash::hex(place.chain(section).chain(said))
    }

    pub(super) fn name(&self, i: usize) -> &str {
        &self.names[i]
    }

    /// Returns the name for an item whose plain name another item has.
    pub(super) fn other_name(&self, i: usize) -> String {
        format!("{}-{}", cut(self.name(i), STEM), &self.id(i)[..8])
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

fn repeats(entries: &[Entry]) -> Vec<u32> {
    let mut seen: BTreeMap<(usize, Option<usize>, &str), u32> = BTreeMap::new();
    entries
        .iter()
        .map(|entry| {
            let place = (entry.section, entry.parent, markdown::title(entry));
            let before = seen.entry(place).or_default();
            *before += 1;
            *before - 1
        })
        .collect()
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
