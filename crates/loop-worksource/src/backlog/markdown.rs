//! Boxes of a Markdown file, with the place of the one character that ticks them.
//!
//! A real parser finds them, so that what merely looks like a box (in code, in a
//! comment, in a link) is none. Boxes in block quotes are quotations and count
//! as none either.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;
use std::ops::Range;

/// Marks that put an item aside; CommonMark's task lists do not know them.
const PARKED: [char; 3] = ['~', '!', '-'];
const BOM: &str = "\u{feff}";

/// What a box holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A blank.
    Open,
    /// `x` or `X`.
    Done,
    /// One of `~`, `!`, `-`: a person put the item aside.
    Parked(char),
}

/// An item of a list that has a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// What its box holds.
    pub(super) mark: Mark,
    /// Byte offset of the character in its box.
    pub(super) at: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    /// The item with a box around it.
    pub(super) parent: Option<usize>,
    /// Whether there are items with boxes in it.
    pub(super) has_children: bool,
    /// Index of its section's path in [`Document::sections`].
    pub(super) section: usize,
    /// The text of its first line.
    pub(super) title: String,
    /// The first bold text in that line.
    pub(super) bold: Option<String>,
    /// Byte range of what follows its first line.
    pub(super) rest: Range<usize>,
}

/// A parsed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// Items with boxes, in the file's order; a parent stands before its children.
    pub(super) entries: Vec<Entry>,
    /// Different paths of headings, outermost first; the first path is empty.
    pub(super) sections: Vec<Vec<String>>,
}

/// Finds the boxes in `source`.
pub(super) fn parse(source: &str) -> Document {
    let text = source.strip_prefix(BOM).unwrap_or(source);
    let mut reader = Reader::new(text, source.len() - text.len());
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter() {
        reader.take(event, &range);
    }
    Document {
        entries: reader.entries,
        sections: reader.sections,
    }
}

/// An item of a list that the reader is in.
struct OpenItem {
    entry: Option<usize>,
    /// Whether the first line goes on.
    in_title: bool,
    end: usize,
}

struct Reader<'a> {
    text: &'a str,
    /// Bytes before `text` in the file.
    before: usize,
    entries: Vec<Entry>,
    sections: Vec<Vec<String>>,
    /// Where a path of headings stands in `sections`.
    known: BTreeMap<Vec<String>, usize>,
    /// The section that the reader is in.
    section: usize,
    open: Vec<OpenItem>,
    quotes: usize,
    headings: Vec<(HeadingLevel, String)>,
    in_heading: bool,
    in_bold: bool,
    /// The last offset whose line is known, and that line.
    counted: (usize, usize),
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, before: usize) -> Self {
        Self {
            text,
            before,
            entries: Vec::new(),
            sections: vec![Vec::new()],
            known: BTreeMap::new(),
            section: 0,
            open: Vec::new(),
            quotes: 0,
            headings: Vec::new(),
            in_heading: false,
            in_bold: false,
            counted: (0, 1),
        }
    }

    fn take(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            Event::Start(Tag::Item) => self.enter_item(range),
            Event::End(TagEnd::Item) => {
                self.open.pop();
            }
            Event::TaskListMarker(done) => {
                let mark = if done { Mark::Done } else { Mark::Open };
                self.add(mark, range.start + 1);
            }
            Event::Start(Tag::Heading { level, .. })
                if self.open.is_empty() && self.quotes == 0 =>
            {
                self.headings.retain(|(outer, _)| *outer < level);
                self.headings.push((level, String::new()));
                self.in_heading = true;
            }
            Event::End(TagEnd::Heading(_)) if self.in_heading => self.enter_section(),
            Event::Text(text) | Event::Code(text) => self.push(&text),
            Event::Start(Tag::Strong) => self.enter_bold(),
            Event::End(TagEnd::Strong) => self.in_bold = false,
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => self.end_title(),
            Event::Start(Tag::List(_) | Tag::CodeBlock(_) | Tag::HtmlBlock) => self.end_title(),
            _ => {}
        }
    }

    /// Begins the section of the heading that was just read. Headings of the same
    /// path begin the same section.
    fn enter_section(&mut self) {
        self.in_heading = false;
        let path = self.headings.iter().map(|(_, text)| text.trim().to_owned());
        let path: Vec<String> = path.collect();
        self.section = *self.known.entry(path).or_insert_with_key(|path| {
            self.sections.push(path.clone());
            self.sections.len() - 1
        });
    }

    fn enter_item(&mut self, range: &Range<usize>) {
        self.open.push(OpenItem {
            entry: None,
            in_title: false,
            end: range.end,
        });
        if let Some((mark, at)) = parked(&self.text[range.clone()]) {
            self.add(Mark::Parked(mark), range.start + at);
        }
    }

    /// Adds the innermost item, whose box's character is at `at`.
    fn add(&mut self, mark: Mark, at: usize) {
        let parent = self.open.iter().rev().skip(1).find_map(|item| item.entry);
        let line = self.line(at);
        let Some(item) = self.open.last_mut().filter(|_| self.quotes == 0) else {
            return;
        };
        item.entry = Some(self.entries.len());
        item.in_title = true;
        let first_line = self.text[at..item.end].find('\n');
        let rest = first_line.map_or(item.end, |length| at + length + 1)..item.end;
        if let Some(parent) = parent {
            self.entries[parent].has_children = true;
        }
        self.entries.push(Entry {
            mark,
            at: self.before + at,
            line,
            parent,
            has_children: false,
            section: self.section,
            title: String::new(),
            bold: None,
            rest: self.before + rest.start..self.before + rest.end,
        });
    }

    fn push(&mut self, text: &str) {
        if self.in_heading {
            if let Some((_, heading)) = self.headings.last_mut() {
                heading.push_str(text);
            }
            return;
        }
        let in_bold = self.in_bold;
        if let Some(entry) = self.titled() {
            entry.title.push_str(text);
            if let (true, Some(bold)) = (in_bold, &mut entry.bold) {
                bold.push_str(text);
            }
        }
    }

    /// Begins the bold text that names an item: the first in its first line.
    fn enter_bold(&mut self) {
        let first = self.titled().is_some_and(|entry| {
            let first = entry.bold.is_none();
            entry.bold.get_or_insert_default();
            first
        });
        self.in_bold = first;
    }

    /// Returns the innermost item while its first line goes on.
    fn titled(&mut self) -> Option<&mut Entry> {
        let item = self.open.last().filter(|item| item.in_title)?;
        self.entries.get_mut(item.entry?)
    }

    fn end_title(&mut self) {
        if let Some(item) = self.open.last_mut() {
            item.in_title = false;
        }
    }

    fn line(&mut self, at: usize) -> usize {
        let (from, line) = self.counted;
        let line = line + self.text[from..at].matches('\n').count();
        self.counted = (at, line);
        line
    }
}

/// Returns the mark of a list item's source, and its offset, if the item starts
/// with a box that puts it aside.
fn parked(item: &str) -> Option<(char, usize)> {
    let marker = item.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = marker.strip_prefix(['-', '*', '+', '.', ')'])?;
    let inner = marker.trim_start_matches([' ', '\t']);
    // Five blanks and more begin a block of code.
    if !(1..=4).contains(&(marker.len() - inner.len())) {
        return None;
    }
    let mark = inner.strip_prefix('[')?.chars().next()?;
    let after = inner.get(2..)?.strip_prefix(']')?;
    let blank = after.is_empty() || after.starts_with(char::is_whitespace);
    (PARKED.contains(&mark) && blank).then(|| (mark, item.len() - inner.len() + 1))
}

/// Strips the box from a title that the parser took for text.
pub(super) fn title(entry: &Entry) -> &str {
    let text = match entry.mark {
        Mark::Parked(_) => entry.title.get(3..).unwrap_or_default(),
        Mark::Open | Mark::Done => &entry.title,
    };
    text.trim()
}
