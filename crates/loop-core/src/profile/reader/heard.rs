//! What the events of an output come to.

use super::answer::Answer;
use super::count::{self, Count, Said};
use crate::Usd;
use crate::profile::event::Event;
use crate::profile::faults::FaultRule;
use crate::profile::file::File;
use crate::profile::path::Path;
use crate::profile::select::Selector;
use crate::profile::several::Several;
use crate::profile::used::{Tokens, Used};

/// The longest error that is kept, in bytes; what it is about stands at the front.
const LONGEST_ERROR: usize = 64 * 1024;
/// The longest name of a session, in characters; a longer one is none.
const LONGEST_SESSION: usize = 256;

/// One event of an output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    /// A line of text.
    Line(&'a str),
    /// A JSON object.
    Event(Event<'a>),
}

impl Item<'_> {
    /// Returns the text that a selector finds, empty if the event is one but holds no text.
    pub(super) fn text(self, selector: &Selector) -> Option<String> {
        match self {
            Self::Line(line) => {
                let found = selector.pattern.as_ref()?.find_in_line(line)?;
                Some(found.value().to_owned())
            }
            Self::Event(event) => event.fits(selector.place.as_ref()).then(|| {
                let path = selector.path.as_ref();
                path.and_then(|path| event.text(path)).unwrap_or_default()
            }),
        }
    }

    /// Reports whether what was said before is no part of the answer.
    fn begins_anew(self, answer: &Selector) -> bool {
        let places = answer.since.as_ref().map_or(&[][..], Several::as_slice);
        matches!(self, Self::Event(event) if places.iter().any(|place| event.fits(Some(place))))
    }

    fn is(self, sign: &crate::profile::select::Sign) -> bool {
        match self {
            Self::Line(line) => {
                let pattern = sign.pattern.as_ref();
                pattern.is_some_and(|pattern| pattern.find_in_line(line).is_some())
            }
            Self::Event(event) => event.fits(sign.place.as_ref()),
        }
    }
}

/// An error, with the events that name a fault.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// What the error says; empty when it only happened.
    pub(super) error: Option<String>,
    /// For each rule, whether an event fitted, and what that says of the end of the fault.
    pub(super) faults: Vec<Option<Option<String>>>,
}

/// What the events of an output come to.
#[derive(Debug)]
pub(super) struct Heard<'p> {
    file: &'p File,
    answer: Answer,
    /// What no answer has followed.
    pub(super) trouble: Trouble,
    /// What an answer has followed.
    pub(super) overcome: Trouble,
    /// How many errors came with nothing between them, up to now. Who goes on with other things
    /// after one is not stuck in it.
    pub(super) errors_in_a_row: u32,
    /// Whether there is a sign that a model did something.
    pub(super) worked: bool,
    session: Option<String>,
    usages: Vec<Count<Tokens>>,
    cost: Count<Usd>,
    /// Whether tokens were told of since the latest cost.
    unpaid: bool,
    done: bool,
}

impl<'p> Heard<'p> {
    pub(super) fn new(file: &'p File) -> Self {
        Self {
            file,
            answer: Answer::default(),
            trouble: Trouble::default(),
            overcome: Trouble::default(),
            errors_in_a_row: 0,
            worked: false,
            session: None,
            usages: vec![Count::new(); file.output.usages().len()],
            cost: Count::new(),
            unpaid: false,
            done: false,
        }
    }

    /// Takes the next event in.
    pub(super) fn take(&mut self, item: Item<'_>) {
        let output = &self.file.output;
        let answer = output.answer.as_ref();
        if answer.is_some_and(|answer| item.begins_anew(answer)) {
            self.answer.begin_anew();
            self.worked = true;
            // Who has called a tool since has put an earlier trouble behind itself.
            self.overcome = Trouble::default();
        }
        let answered = answer.is_some_and(|answer| self.answer.take(answer, item));
        if answered || output.recoveries().iter().any(|sign| item.is(sign)) {
            let trouble = std::mem::take(&mut self.trouble);
            if trouble.error.is_some() {
                self.overcome = trouble;
            }
            self.worked = true;
        }
        self.take_error(item);
        self.take_faults(item);
        self.take_counts(item);
        if let Some(session) = output
            .session
            .as_ref()
            .and_then(|session| item.text(session))
        {
            let is_name = !session.is_empty() && session.chars().count() <= LONGEST_SESSION;
            self.session = is_name.then_some(session).or_else(|| self.session.take());
        }
        self.done = output.ends().iter().any(|sign| item.is(sign));
    }

    fn take_error(&mut self, item: Item<'_>) {
        let mut selectors = self.file.output.errors().iter();
        let Some(first) = selectors.by_ref().find_map(|selector| item.text(selector)) else {
            self.errors_in_a_row = 0;
            return;
        };
        self.errors_in_a_row = self.errors_in_a_row.saturating_add(1);
        let others = selectors.filter_map(|selector| item.text(selector));
        let said = std::iter::once(first)
            .chain(others)
            .find(|text| !text.is_empty());
        let before = self.trouble.error.take().unwrap_or_default();
        let mut error = said.unwrap_or(before);
        error.truncate(error.floor_char_boundary(LONGEST_ERROR));
        self.trouble.error = Some(error);
    }

    fn take_faults(&mut self, item: Item<'_>) {
        let Item::Event(event) = item else { return };
        let rules = self.file.faults.as_deref().unwrap_or_default();
        self.trouble.faults.resize(rules.len(), None);
        for (rule, found) in rules.iter().zip(&mut self.trouble.faults) {
            if rule.place.is_some() && event.fits(rule.place.as_ref()) {
                *found = Some(reset_in(rule, event));
            }
        }
    }

    fn take_counts(&mut self, item: Item<'_>) {
        let output = &self.file.output;
        for (usage, count) in output.usages().iter().zip(&mut self.usages) {
            let per = match item {
                Item::Event(event) => usage.per.as_ref().and_then(|path| event.text(path)),
                Item::Line(_) => None,
            };
            let said = count::tokens(usage, item);
            let some = matches!(said, Said::Amount(tokens) if tokens.total() > 0);
            self.unpaid |= some;
            self.worked |= some;
            let take = usage.take.unwrap_or_default();
            count.add(said, take, per, Tokens::saturating_add);
        }
        if let Some(cost) = &output.cost {
            let said = match count::dollars(cost, item) {
                Said::Nothing => return,
                // The harness knows no price of its model, and unknown is not zero.
                Said::Amount(usd) if usd.is_zero() && self.unpaid => Said::Nonsense,
                said => said,
            };
            self.unpaid = false;
            self.worked |= matches!(said, Said::Amount(usd) if !usd.is_zero());
            let take = cost.take.unwrap_or_default();
            self.cost.add(said, take, None, Usd::saturating_add);
        }
    }

    /// Returns what was used so far.
    pub(super) fn used(&self) -> Used {
        let plus = Tokens::saturating_add;
        let told = self.usages.iter().find(|count| count.known(plus).is_some());
        let told = told.or_else(|| self.usages.iter().find(|count| count.lacks()));
        Used {
            tokens: told.and_then(|count| count.known(plus)),
            uncounted: told.is_some_and(Count::lacks),
            cost: self.cost.known(Usd::saturating_add),
            unpriced: self.cost.lacks(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn session(&self) -> Option<String> {
        self.session.clone()
    }

    /// Returns the answer; `output` is all of the output, where it is text.
    pub(super) fn answer(self, output: Option<String>) -> Option<String> {
        let has_selector = self.file.output.answer.is_some();
        self.answer.finish(has_selector, output)
    }
}

/// Reads what an event says of the end of a fault.
fn reset_in(rule: &FaultRule, event: Event<'_>) -> Option<String> {
    if rule.pattern.is_some() {
        return None;
    }
    let path: Path = rule.reset.clone()?.try_into().ok()?;
    event.text(&path)
}
