//! The answer, as it comes in.

use super::heard::Item;
use super::tail::{LONGEST, cut};
use crate::profile::select::{Selector, TakeText};

/// Gathers the answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: Option<String>,
    /// A line said that the answer is all of the output so far.
    is_all: bool,
}

impl Answer {
    /// Drops what was said before a tool call. It is no answer, even if nothing is said after it: a
    /// judge that announces its verdict and then looks has not given one.
    pub(super) fn begin_anew(&mut self) {
        self.text = None;
    }

    /// Takes an event in, and reports whether it belongs to the answer.
    pub(super) fn take(&mut self, selector: &Selector, item: Item<'_>) -> bool {
        let Some(text) = item.text(selector).filter(|text| !text.is_empty()) else {
            return false;
        };
        if selector
            .pattern
            .as_ref()
            .is_some_and(|pattern| !pattern.has_group())
        {
            self.is_all = true;
        } else {
            self.add(text, selector.take.unwrap_or_default());
        }
        true
    }

    fn add(&mut self, text: String, take: TakeText) {
        let begun = match take {
            TakeText::Join => self.text.take(),
            TakeText::Last => None,
        };
        let joined = begun.unwrap_or_default() + &text;
        // Not at every piece, for each time all of it is moved.
        let is_long = joined.len() > 2 * LONGEST;
        self.text = Some(if is_long { cut(joined) } else { joined });
    }

    /// Returns the answer; `output` is all of it, in the cases in which that is the answer.
    pub(super) fn finish(self, has_selector: bool, output: Option<String>) -> Option<String> {
        let text = match has_selector && !self.is_all {
            true => self.text.map(cut),
            false => output,
        };
        text.filter(|text| !text.trim().is_empty())
    }
}
