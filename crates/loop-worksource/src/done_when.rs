//! What "done" means, as a person wrote it into `TASK.md`.

use loop_core::plan::MAX_TEXT;
use loop_core::text::{TRUNCATED, cut};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The heading whose lists are the acceptance criteria.
const HEADING: &str = "done when";
/// The most lines that are read. A plan covers far fewer.
const MAX_LINES: usize = 1_000;
/// The most bytes of an item that are kept: a line has no more characters.
const MAX_ITEM: usize = 4 * MAX_TEXT;

/// Returns the list items under the heading "Done when" of a `TASK.md`, in
/// their order, each in one line of at most [`MAX_TEXT`] characters, so that a
/// plan can repeat it. At most 1,000 are read.
///
/// The heading may have any level, any case, and a colon; it ends at the next
/// one of its level or above. An item with items in it is none itself: it says
/// what they are about, and stands before each of them.
#[must_use]
pub fn done_when(task: &str) -> Vec<String> {
    let text = task.trim_start_matches('\u{feff}');
    let mut reader = Reader::default();
    for event in Parser::new_ext(text, Options::ENABLE_TASKLISTS) {
        reader.take(event);
        if reader.lines.len() == MAX_LINES {
            break;
        }
    }
    reader.lines
}

/// A list item that the reader is in.
#[derive(Default)]
struct OpenItem {
    /// The line of the item around it.
    before: String,
    text: String,
    has_items: bool,
}

impl OpenItem {
    /// Returns the item's line, with what the items around it say before it.
    fn line(&self) -> String {
        let words: Vec<_> = self.text.split_whitespace().collect();
        let text = words.join(" ");
        let before = self.before.trim_end_matches(':').trim_end();
        let line = match (before, text.as_str()) {
            ("", text) => text.to_owned(),
            (before, "") => before.to_owned(),
            (before, text) => format!("{before}: {text}"),
        };
        cut(&line, MAX_TEXT - TRUNCATED.len())
    }
}

#[derive(Default)]
struct Reader {
    /// The level of the heading that the lines stand under.
    under: Option<HeadingLevel>,
    /// A heading that the reader is in.
    heading: Option<(HeadingLevel, String)>,
    open: Vec<OpenItem>,
    quotes: usize,
    lines: Vec<String>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            // What is quoted is somebody else's list.
            _ if self.quotes > 0 => {}
            Event::Start(Tag::Heading { level, .. }) if self.open.is_empty() => {
                self.heading = Some((level, String::new()));
            }
            Event::End(TagEnd::Heading(_)) if self.open.is_empty() => self.enter_section(),
            Event::Start(Tag::Item) => self.enter_item(),
            Event::End(TagEnd::Item) => self.leave_item(),
            Event::Text(text) => self.push(&text),
            Event::Code(code) => {
                self.push("`");
                self.push(&code);
                self.push("`");
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::Heading(_)) => {
                self.push(" ");
            }
            _ => {}
        }
    }

    fn enter_section(&mut self) {
        let Some((level, title)) = self.heading.take() else {
            return;
        };
        let title = title.trim().trim_end_matches(':').trim_end();
        if title.to_lowercase() == HEADING {
            self.under = Some(level);
        } else if self.under.is_some_and(|under| level <= under) {
            self.under = None;
        }
    }

    fn enter_item(&mut self) {
        let before = self.open.last_mut().map(|outer| {
            outer.has_items = true;
            outer.line()
        });
        self.open.push(OpenItem {
            before: before.unwrap_or_default(),
            ..OpenItem::default()
        });
    }

    fn leave_item(&mut self) {
        let Some(item) = self.open.pop() else { return };
        if self.under.is_some() && !item.has_items && !item.text.trim().is_empty() {
            self.lines.push(item.line());
        }
    }

    fn push(&mut self, text: &str) {
        if let Some((_, title)) = &mut self.heading {
            title.push_str(text);
        } else if let Some(item) = self.open.last_mut() {
            let room = MAX_ITEM.saturating_sub(item.text.len());
            item.text.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(task: &str, lines: &[&str]) {
        for text in [
            task.to_owned(),
            task.replace('\n', "\r\n"),
            format!("\u{feff}{task}"),
        ] {
            assert_eq!(done_when(&text), lines, "{text}");
        }
    }

    // rows: G-01, U-39
    // cases: 131, 73, 76
    #[test]
    fn the_lists_under_done_when_are_the_criteria() {
        says("# Done when\n- a\n- b", &["a", "b"]);
        says(
            "# T\n- no\n\n### DONE  When:\n\n* a\n\n* b\n\n# Next\n- no\n",
            &[],
        );
        says(
            "# T\n- no\n\n### DONE When :\n\n* a\n\n* b\n\n# Next\n- no\n",
            &["a", "b"],
        );
        says("Done when\n=========\n1. a\n2) b\n", &["a", "b"]);
        says(
            "## Done when\n- [ ] a\n- [x] b `x  y`\n- *c* **d** [e](f)\n",
            &["a", "b `x y`", "c d e"],
        );
        says(
            "## Done when\ntext\n- a\nb\n  c\n\n  d\n- x\n\n      code\n",
            &["a b c d", "x code"],
        );
        says("## Done when\n### Fast\n- a\n## Else\n- b\n", &["a"]);
        says(
            "## Done when\n- a\n## Notes\n- b\n## Done when\n- c\n",
            &["a", "c"],
        );
        says("## Done when\n- ### a\n  b\n- c\n", &["a b", "c"]);
        says("## Готово\n- a\n## Done when ✓\n- b\n", &[]);
    }

    // cases: 131
    #[test]
    fn an_item_of_an_item_stands_behind_what_it_is_about() {
        says(
            "## Done when\n- Reads:\n  - dates\n  - times\n    1. UTC\n- Is fast\n  - [ ] 1 s\n- \n",
            &["Reads: dates", "Reads: times: UTC", "Is fast: 1 s"],
        );
        says("## Done when\n- - a\n  - b\n", &["a", "b"]);
    }

    // cases: 69
    #[test]
    fn what_only_looks_like_a_criterion_is_none() {
        says("```\n## Done when\n- a\n```\n", &[]);
        says("<!--\n## Done when\n- a\n-->\n", &[]);
        says("> ## Done when\n> - a\n\n- b\n", &[]);
        says("- ## Done when\n- a\n", &[]);
        says("## Done when\n\n> - a\n\n    - b\n\n<!-- x -->\n\nc\n", &[]);
        says("", &[]);
    }

    #[test]
    fn no_task_is_too_long() {
        let item = format!("- {}\n", "é".repeat(3 * MAX_TEXT));
        let lines = done_when(&format!("# Done when\n{}", item.repeat(2_000)));
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(lines[0].chars().count(), MAX_TEXT);
        // Each level repeats what stands above it, and still no line grows.
        let nested: String = (0..200)
            .map(|depth| format!("{}- level {depth:0>90}\n", "  ".repeat(depth)))
            .collect();
        let lines = done_when(&format!("# Done when\n{nested}"));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].chars().count() <= MAX_TEXT);
    }
}
