//! Places in a text, as an editor shows them.

use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Bytes before it.
    pub offset: usize,
    /// Line, from 1. A line ends with `\n`.
    pub line: usize,
    /// Column, from 1, in characters (Unicode scalar values).
    pub column: usize,
}

impl fmt::Display for Position {
    /// Writes `line:column`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Walks a text forward and counts; many places cost one pass.
pub(crate) struct Cursor<'s> {
    text: &'s str,
    at: Position,
}

impl<'s> Cursor<'s> {
    /// Starts at the beginning of a text.
    pub(crate) fn new(text: &'s str) -> Self {
        Self {
            text,
            at: Position {
                offset: 0,
                line: 1,
                column: 1,
            },
        }
    }

    /// Goes on to a byte offset that is not behind and lies between characters.
    pub(crate) fn advance(&mut self, offset: usize) -> Position {
        let passed = &self.text[self.at.offset..offset];
        match passed.rfind('\n') {
            Some(newline) => {
                self.at.line += passed.matches('\n').count();
                self.at.column = 1 + passed[newline + 1..].chars().count();
            }
            None => self.at.column += passed.chars().count(),
        }
        self.at.offset = offset;
        self.at
    }
}
