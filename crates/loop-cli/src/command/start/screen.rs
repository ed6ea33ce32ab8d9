//! A few lines at the foot of a terminal that are drawn over and over.

use crate::terminal::Size;
use crate::width::{fit, width};
use std::io::Write;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
/// Erases from the cursor to the end of its line.
const ERASE_LINE: &str = "\u{1b}[K";
/// Erases from the cursor to the end of the screen.
const ERASE_BELOW: &str = "\u{1b}[J";

/// The lines that are drawn. As it goes, they go, and the cursor is back.
pub(super) struct Screen<W: Write> {
    out: W,
    drawn: Vec<String>,
    is_used: bool,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            drawn: Vec::new(),
            is_used: false,
        }
    }

    /// Draws the lines in the place of those before, in one piece, so that nothing
    /// flickers. A line never gets to the last column, where a terminal would begin
    /// another.
    pub(super) fn draw(&mut self, lines: &[String], size: Size) {
        let limit = size.columns.saturating_sub(1);
        let lines: Vec<_> = lines.iter().map(|line| fit(line, limit)).collect();
        if lines == self.drawn {
            return;
        }
        let mut text = String::new();
        if !self.is_used {
            text.push_str(HIDE_CURSOR);
            self.is_used = true;
        }
        text.push_str(&self.back(size));
        for line in &lines {
            text.push_str(line);
            text.push_str(ERASE_LINE);
            text.push('\n');
        }
        text.push_str(ERASE_BELOW);
        self.drawn = lines;
        self.write(&text);
    }

    /// Takes the lines away, for others to be printed.
    pub(super) fn clear(&mut self, size: Size) {
        if !self.drawn.is_empty() {
            let text = format!("{}{ERASE_BELOW}", self.back(size));
            self.drawn.clear();
            self.write(&text);
        }
    }

    /// Returns what puts the cursor where the drawn lines begin. In a terminal that
    /// has become narrower meanwhile they take more rows.
    fn back(&self, size: Size) -> String {
        let columns = size.columns.max(1);
        let rows = self
            .drawn
            .iter()
            .map(|line| width(line).div_ceil(columns).max(1));
        match rows.sum::<usize>() {
            0 => "\r".to_owned(),
            rows => format!("\r\u{1b}[{rows}A"),
        }
    }

    fn write(&mut self, text: &str) {
        // A terminal that is gone shows nothing.
        let _gone = self.out.write_all(text.as_bytes());
        let _gone = self.out.flush();
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        if self.is_used {
            self.write(SHOW_CURSOR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        columns: 10,
        rows: 5,
    };

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn drawn(use_it: impl FnOnce(&mut Screen<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        use_it(&mut Screen::new(&mut out));
        String::from_utf8(out).unwrap()
    }

    // cases: 146
    #[test]
    fn lines_are_drawn_over_those_before_and_the_cursor_comes_back() {
        let out = drawn(|screen| {
            screen.draw(&lines(&["a", "b"]), SIZE);
            screen.draw(&lines(&["a", "b"]), SIZE);
            screen.draw(&lines(&["c"]), SIZE);
            screen.clear(SIZE);
            screen.clear(SIZE);
        });
        assert_eq!(
            out,
            "\u{1b}[?25l\ra\u{1b}[K\nb\u{1b}[K\n\u{1b}[J\
             \r\u{1b}[2Ac\u{1b}[K\n\u{1b}[J\
             \r\u{1b}[1A\u{1b}[J\
             \u{1b}[?25h"
        );
        assert_eq!(drawn(|_| {}), "", "what is not used leaves nothing");
    }

    #[test]
    fn no_line_is_as_wide_as_the_terminal() {
        let out = drawn(|screen| {
            screen.draw(
                &lines(&["0123456789ABC", "日本日本日本", "\u{1b}[2J"]),
                SIZE,
            );
        });
        assert!(out.contains("\r01234567~\u{1b}[K"), "{out:?}");
        assert!(out.contains("\n日本日本~\u{1b}[K"), "{out:?}");
        assert!(!out.contains("[2J"), "{out:?}");
    }

    #[test]
    fn a_terminal_that_becomes_narrower_is_cleared_as_a_whole() {
        let narrow = Size { columns: 4, ..SIZE };
        let out = drawn(|screen| {
            screen.draw(&lines(&["01234567", "b"]), SIZE);
            screen.clear(narrow);
        });
        assert!(out.contains("\r\u{1b}[3A\u{1b}[J"), "{out:?}");
    }
}
