//! Lines, from pieces of any size.

/// The longest line that is read, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;

/// Gathers pieces until a line is whole.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    too_long: bool,
    skipped: u64,
}

impl Lines {
    /// Takes a piece in and hands on each line that it completes, without its end.
    pub(super) fn push(&mut self, piece: &[u8], mut take: impl FnMut(&[u8])) {
        let mut parts = piece.split(|byte| *byte == b'\n');
        let Some(first) = parts.next() else { return };
        self.extend(first);
        for part in parts {
            self.end_line(&mut take);
            self.extend(part);
        }
    }

    /// Hands on the last line, and returns how many lines were too long.
    pub(super) fn finish(mut self, mut take: impl FnMut(&[u8])) -> u64 {
        self.end_line(&mut take);
        self.skipped
    }

    fn extend(&mut self, part: &[u8]) {
        self.too_long |= self.begun.len() + part.len() > LONGEST;
        if self.too_long {
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(part);
        }
    }

    fn end_line(&mut self, take: &mut impl FnMut(&[u8])) {
        if self.too_long {
            self.skipped += 1;
            self.too_long = false;
        } else if !self.begun.is_empty() {
            take(&self.begun);
        }
        self.begun.clear();
    }
}
