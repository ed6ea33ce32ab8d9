//! The end of a text.

/// The longest answer, in bytes.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;
/// What is kept beyond it: the first bytes may be the rest of a character.
const SPARE: usize = 8;

/// Keeps the end of an output.
#[derive(Debug, Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    /// Takes a piece in.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let kept = &piece[piece.len().saturating_sub(LONGEST + SPARE)..];
        self.0.extend_from_slice(kept);
        // Not at every piece, for each time all of it is moved.
        if self.0.len() > 2 * (LONGEST + SPARE) {
            self.0.drain(..self.0.len() - LONGEST - SPARE);
        }
    }

    /// Returns the end of the text; what is no UTF-8 is replaced.
    pub(super) fn text(self) -> String {
        cut(String::from_utf8_lossy(&self.0).into_owned())
    }
}

/// Cuts a text to its end, at a character boundary.
pub(super) fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        let start = text.ceil_char_boundary(text.len() - LONGEST);
        text.drain(..start);
    }
    text
}
