//! The times of a cron expression.

use super::zone::{Zone, instant, of_instant};
use crate::config::{CRON_FIELDS, Cron, cron_item};
use crate::time::Timestamp;

/// The times of a cron expression, field by field.
///
/// A day fires when both its fields are met; when both name days, one of them is
/// enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronTimes {
    fields: Box<[CronField; 5]>,
}

/// The numbers of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronField {
    text: String,
    /// In order; empty stands for all of them.
    values: Vec<u8>,
}

impl CronTimes {
    /// Reads an expression.
    #[must_use]
    pub fn of(cron: &Cron) -> Self {
        let mut texts = cron.as_str().split(' ');
        let fields = [0, 1, 2, 3, 4].map(|at| CronField::read(texts.next().unwrap_or("*"), at));
        Self {
            fields: Box::new(fields),
        }
    }

    /// Returns the minutes of the hour.
    #[must_use]
    pub fn minutes(&self) -> &CronField {
        &self.fields[0]
    }

    /// Returns the hours of the day.
    #[must_use]
    pub fn hours(&self) -> &CronField {
        &self.fields[1]
    }

    /// Returns the days of the month.
    #[must_use]
    pub fn days(&self) -> &CronField {
        &self.fields[2]
    }

    /// Returns the months.
    #[must_use]
    pub fn months(&self) -> &CronField {
        &self.fields[3]
    }

    /// Returns the days of the week; 0 is Sunday.
    #[must_use]
    pub fn weekdays(&self) -> &CronField {
        &self.fields[4]
    }

    /// Whether a day of the month and a weekday are named, so that one of them is
    /// enough.
    #[must_use]
    pub fn either_day(&self) -> bool {
        self.days().values().is_some() && self.weekdays().values().is_some()
    }

    /// Writes the expression so that every cron reads it in this way. Some read no
    /// step after a single number, and some want both days where one begins with `*`.
    #[must_use]
    pub fn portable(&self) -> String {
        let fields = self.fields.iter().enumerate();
        let texts = fields.map(|(at, field)| match field.values() {
            None => "*".to_owned(),
            Some(_) if field.is_portable(at) => field.text.clone(),
            Some(_) => field.listed(),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Returns the first of the times after `now`. `None` when there is none, as for
    /// the 30th of February.
    ///
    /// Where clocks go forward, a single time of day that is skipped fires right
    /// after; where they go back, it fires once. Repeated times follow the clock.
    pub(super) fn after(&self, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let listed: Vec<_> = self.fields.iter().map(CronField::listed).collect();
        let times: croner::Cron = listed.join(" ").parse().ok()?;
        let now = instant(now).to_zoned(zone.rules().clone());
        let next = times.find_next_occurrence(&now, false).ok()?;
        Some(of_instant(next.timestamp()))
    }
}

impl CronField {
    fn read(text: &str, at: usize) -> Self {
        let weekday = at == 4;
        let (_, range) = &CRON_FIELDS[at];
        let items = text.split(',').filter_map(|item| cron_item(item, range));
        let numbers = items.flat_map(|item| (item.first..=item.last).step_by(item.step.into()));
        // Sunday is 0 and 7.
        let mut values: Vec<_> = numbers
            .map(|number| if weekday { number % 7 } else { number })
            .collect();
        values.sort_unstable();
        values.dedup();
        if text == "*" || text == "*/1" {
            values.clear();
        }
        Self {
            text: text.to_owned(),
            values,
        }
    }

    /// Returns the numbers in order; `None` when every number is meant.
    #[must_use]
    pub fn values(&self) -> Option<&[u8]> {
        (!self.values.is_empty()).then_some(&self.values)
    }

    /// Returns the numbers as runs without gaps, each with its first and last.
    #[must_use]
    pub fn runs(&self) -> Vec<(u8, u8)> {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for value in &self.values {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *value => *last = *value,
                _ => runs.push((*value, *value)),
            }
        }
        runs
    }

    fn is_portable(&self, at: usize) -> bool {
        let step_alone = |item: &str| {
            let base = item.split_once('/').map(|(base, _)| base);
            base.is_some_and(|base| base != "*" && !base.contains('-'))
        };
        let day = at == 2 || at == 4;
        let starred_day = day && self.text.contains('*');
        !starred_day && !self.text.split(',').any(step_alone)
    }

    /// Writes the numbers out, as `*` or a list of numbers and ranges.
    fn listed(&self) -> String {
        if self.values.is_empty() {
            return "*".to_owned();
        }
        let runs = self.runs().into_iter().map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        });
        runs.collect::<Vec<_>>().join(",")
    }
}
