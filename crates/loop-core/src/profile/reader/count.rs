//! Counting tokens and money.

use super::heard::Item;
use crate::Usd;
use crate::profile::amount::{units, written_tokens};
use crate::profile::path::Path;
use crate::profile::select::{Cost, TakeNumber, Usage};
use crate::profile::several::Several;
use crate::profile::used::Tokens;

/// What an event says of an amount.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said<T> {
    /// Nothing.
    Nothing,
    /// Something that cannot be counted.
    Nonsense,
    /// So much.
    Amount(T),
}

/// An amount that grows while events come in.
#[derive(Clone, Debug)]
pub(super) struct Count<T> {
    /// What is known of it.
    total: Option<T>,
    /// Whether a part of it is not known.
    lacks: bool,
    /// The latest amount and what it was counted for; not in the total yet.
    latest: Option<(String, T)>,
}

impl<T: Copy> Count<T> {
    /// Nothing was said so far.
    pub(super) const fn new() -> Self {
        Self {
            total: None,
            lacks: false,
            latest: None,
        }
    }

    /// Counts what an event says. An amount for the same thing as the one before replaces it.
    pub(super) fn add(
        &mut self,
        said: Said<T>,
        take: TakeNumber,
        per: Option<String>,
        plus: fn(T, T) -> T,
    ) {
        match (said, take, per) {
            (Said::Nothing, _, _) => {}
            // What is missing once stays missing from a sum.
            (Said::Nonsense, _, _) => self.lacks = true,
            (Said::Amount(amount), TakeNumber::Last, _) => {
                (self.total, self.lacks) = (Some(amount), false);
            }
            (Said::Amount(amount), TakeNumber::Sum, None) => self.grow(amount, plus),
            (Said::Amount(amount), TakeNumber::Sum, Some(per)) => {
                let before = self.latest.take();
                if let Some((_, before)) = before.filter(|(earlier, _)| *earlier != per) {
                    self.grow(before, plus);
                }
                self.latest = Some((per, amount));
            }
        }
    }

    /// Returns the known part of the amount so far.
    pub(super) fn known(&self, plus: fn(T, T) -> T) -> Option<T> {
        let mut all = self.clone();
        if let Some((_, latest)) = all.latest.take() {
            all.grow(latest, plus);
        }
        all.total
    }

    /// Reports whether a part of the amount is not known.
    pub(super) fn lacks(&self) -> bool {
        self.lacks
    }

    fn grow(&mut self, amount: T, plus: fn(T, T) -> T) {
        self.total = Some(self.total.map_or(amount, |total| plus(total, amount)));
    }
}

/// Reads the tokens that an event reports.
pub(super) fn tokens(usage: &Usage, item: Item<'_>) -> Said<Tokens> {
    let (input, cached, output) = match (item, &usage.pattern) {
        (Item::Line(line), Some(pattern)) => {
            let Some(found) = pattern.find_in_line(line) else {
                return Said::Nothing;
            };
            let read = |group| match found.group(group) {
                Some(text) => written_tokens(text).map_or(Said::Nonsense, Said::Amount),
                None => Said::Nothing,
            };
            (read("input"), read("cached"), read("output"))
        }
        (Item::Event(event), _) if event.fits(usage.place.as_ref()) => {
            let read = |paths: &Option<Several<Path>>| sum(paths.as_ref(), item, 0);
            (read(&usage.input), read(&usage.cached), read(&usage.output))
        }
        _ => return Said::Nothing,
    };
    let is_named = usage.place.is_some();
    match (input, cached, output) {
        (Said::Nonsense, _, _) | (_, Said::Nonsense, _) | (_, _, Said::Nonsense) => Said::Nonsense,
        (Said::Amount(input), cached, Said::Amount(output)) => Said::Amount(Tokens {
            input,
            cached: if let Said::Amount(cached) = cached {
                cached
            } else {
                0
            },
            output,
        }),
        _ if is_named => Said::Nonsense,
        _ => Said::Nothing,
    }
}

/// Reads the money that an event reports.
pub(super) fn dollars(cost: &Cost, item: Item<'_>) -> Said<Usd> {
    const DECIMALS: i32 = 6;
    let micros = match (item, &cost.pattern) {
        (Item::Line(line), Some(pattern)) => match pattern.find_in_line(line) {
            Some(found) => units(found.value(), DECIMALS).map_or(Said::Nonsense, Said::Amount),
            None => Said::Nothing,
        },
        (Item::Event(event), _) if event.fits(cost.place.as_ref()) => {
            match sum(cost.path.as_ref(), item, DECIMALS) {
                // An event that is there to tell the cost, and does not, leaves a hole.
                Said::Nothing if cost.place.is_some() => Said::Nonsense,
                said => said,
            }
        }
        _ => Said::Nothing,
    };
    match micros {
        Said::Nothing => Said::Nothing,
        Said::Nonsense => Said::Nonsense,
        Said::Amount(micros) => i64::try_from(micros)
            .ok()
            .and_then(Usd::from_micros)
            .map_or(Said::Nonsense, Said::Amount),
    }
}

/// Adds the numbers at some paths up.
fn sum(paths: Option<&Several<Path>>, item: Item<'_>, decimals: i32) -> Said<u64> {
    let Item::Event(event) = item else {
        return Said::Nothing;
    };
    let paths = paths.map_or(&[][..], Several::as_slice);
    let mut total = None;
    for text in paths.iter().flat_map(|path| event.numbers(path)) {
        let Some(number) = units(text, decimals) else {
            return Said::Nonsense;
        };
        let before: u64 = total.unwrap_or_default();
        total = Some(before.saturating_add(number));
    }
    total.map_or(Said::Nothing, Said::Amount)
}
