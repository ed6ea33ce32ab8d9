//! An output that is one document.

use serde_json::value::RawValue;

use crate::profile::event::Event;

/// The largest document that is read, in bytes.
const LARGEST: usize = 50 * 1024 * 1024;
/// How many lines that look like the start of a document are tried.
const MOST_TRIES: usize = 32;

/// Gathers a document.
#[derive(Debug, Default)]
pub(super) struct Whole {
    text: Vec<u8>,
    too_large: bool,
}

impl Whole {
    /// Takes a piece in.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.too_large |= self.text.len() + piece.len() > LARGEST;
        if self.too_large {
            self.text = Vec::new();
        } else {
            self.text.extend_from_slice(piece);
        }
    }

    /// Hands on the events of the document, or of the documents if there are several, and returns
    /// how many were too large.
    pub(super) fn finish(self, mut take: impl FnMut(Event<'_>)) -> u64 {
        let text = String::from_utf8_lossy(&self.text);
        let mut rest: &str = &text;
        let mut tries = 0;
        while !rest.is_empty() && tries < MOST_TRIES {
            let line = rest.trim_start();
            match first_value(line) {
                Some((value, behind)) => {
                    Event::all(value).into_iter().for_each(&mut take);
                    rest = behind;
                }
                None => {
                    tries += usize::from(line.starts_with(['{', '[']));
                    rest = line.split_once('\n').map_or("", |(_, behind)| behind);
                }
            }
        }
        u64::from(self.too_large)
    }
}

/// Reads the value that a text starts with; returns it and what is behind it.
fn first_value(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value.get(), &text[values.byte_offset()..]))
}
