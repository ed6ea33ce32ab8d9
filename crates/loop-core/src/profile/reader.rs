//! The reader of a call's output.

mod answer;
mod blame;
mod count;
mod heard;
mod lines;
mod tail;
mod whole;

use std::borrow::Cow;

use super::file::Format;
use super::said::Said;
use super::used::Used;
use super::{Profile, event::Event};
use crate::answer::CallEnd;
use crate::text::without_controls;
use heard::{Heard, Item};
use lines::Lines;
use tail::Tail;
use whole::Whole;

/// Reads a call's standard output as it comes.
///
/// How the output is cut into pieces makes no difference, and neither memory nor time grow with
/// more than its length: a line of more than 16 MiB, and a document of more than 50 MiB, is passed
/// over and counted.
#[derive(Debug)]
pub struct Reader<'p> {
    profile: &'p Profile,
    input: Input,
    heard: Heard<'p>,
}

/// What is kept of the output until it can be read.
#[derive(Debug)]
enum Input {
    Text(Lines, Tail),
    Json(Whole),
    Ndjson(Lines),
}

impl<'p> Reader<'p> {
    /// Makes the reader of one call's output.
    #[must_use]
    pub fn new(profile: &'p Profile) -> Self {
        let input = match profile.file.output.format {
            Format::Text => Input::Text(Lines::default(), Tail::default()),
            Format::Json => Input::Json(Whole::default()),
            Format::Ndjson => Input::Ndjson(Lines::default()),
        };
        Self {
            profile,
            input,
            heard: Heard::new(&profile.file),
        }
    }

    /// Takes the next piece of standard output in.
    pub fn push(&mut self, stdout: &[u8]) {
        let heard = &mut self.heard;
        match &mut self.input {
            Input::Text(lines, tail) => {
                tail.push(stdout);
                lines.push(stdout, |line| take_text(heard, line));
            }
            Input::Json(whole) => whole.push(stdout),
            Input::Ndjson(lines) => lines.push(stdout, |line| take_events(heard, line)),
        }
    }

    /// Returns what the call has used so far, as far as its harness has said it.
    #[must_use]
    pub fn used(&self) -> Used {
        self.heard.used()
    }

    /// Reports whether the harness has said nothing but errors of late, and more than one: it tries
    /// again.
    #[must_use]
    pub fn in_trouble(&self) -> bool {
        self.heard.errors_in_a_row > 1
    }

    /// Reports whether the latest that the harness said is that it has nothing more to say.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.heard.is_done()
    }

    /// Says what the call said, given how it ended and the end of its standard error, of which the
    /// last 64 KiB are looked at.
    #[must_use]
    pub fn finish(mut self, end: &CallEnd, stderr_tail: &[u8]) -> Said {
        let heard = &mut self.heard;
        let (unreadable, output) = match self.input {
            Input::Text(lines, tail) => {
                let skipped = lines.finish(|line| take_text(heard, line));
                (skipped, Some(tail.text()))
            }
            Input::Json(whole) => (whole.finish(|event| heard.take(Item::Event(event))), None),
            Input::Ndjson(lines) => (lines.finish(|line| take_events(heard, line)), None),
        };
        let used = self.heard.used();
        let blame = blame::blame(&self.profile.file, &mut self.heard, end, stderr_tail);
        let session = self.heard.session();
        let worked = self.heard.worked;
        let text = match blame.error {
            Some(_) => None,
            None => self.heard.answer(output),
        };
        Said {
            text,
            error: blame.error,
            session,
            used,
            fault: blame.fault,
            worked,
            unreadable,
        }
    }
}

fn take_text(heard: &mut Heard<'_>, line: &[u8]) {
    let line = without_controls(&String::from_utf8_lossy(line));
    heard.take(Item::Line(&line));
}

fn take_events(heard: &mut Heard<'_>, line: &[u8]) {
    // Most noise is told from an event by its first character.
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    if !matches!(first, Some(b'{' | b'[')) {
        return;
    }
    let line: Cow<'_, str> = String::from_utf8_lossy(line);
    for event in Event::all(&line) {
        heard.take(Item::Event(event));
    }
}
