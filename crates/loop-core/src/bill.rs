//! What calls of harnesses use: money and tokens, and how well each is known.
//!
//! Unknown is not zero (decision D-15). A call is charged as it begins, with its
//! estimate or as unknown, so that a crash does not make it free; what its harness
//! reports takes that charge's place.

use crate::Usd;
use crate::profile::Tokens;
use crate::text::counted;
use serde::{Deserialize, Serialize};

/// What one call used, as its harness tells it. It stands in the call's `answer`
/// record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bill {
    /// The harness: its profile's name, else its program.
    pub harness: String,
    /// The tokens; `None` is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The cost; `None` is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Whether the call came to its own end. The numbers of one that was ended
    /// are the least that it used.
    #[serde(default)]
    pub whole: bool,
    /// Whether `tokens` lack what a part of the call used, so that they are the least.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// Whether `cost` lacks what a part of the call cost, so that it is the least.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// The harness's own session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether `tokens` are those of the whole session, earlier calls included.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cumulative: bool,
}

/// How well a cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The harness reported it.
    Reported,
    /// At least a part of it is the configuration's estimate.
    Estimated,
    /// Nobody knows, at least of a part of it.
    Unknown,
}

impl CostSource {
    /// Returns the word as it stands in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Estimated => "estimated",
            Self::Unknown => "unknown",
        }
    }
}

/// What calls have used in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The calls.
    pub calls: u64,
    /// The known part of the cost; see `unpriced_calls`.
    pub usd: Usd,
    /// Calls whose part of `usd` is an estimate.
    pub estimated_calls: u64,
    /// Calls whose cost nobody knows.
    pub unpriced_calls: u64,
    /// The known part of the tokens; see `uncounted_calls`.
    pub tokens: Tokens,
    /// Calls whose tokens nobody knows.
    pub uncounted_calls: u64,
}

impl Usage {
    /// Returns the cost; `None` as soon as one call's is unknown.
    #[must_use]
    pub fn known_cost(&self) -> Option<Usd> {
        (self.unpriced_calls == 0).then_some(self.usd)
    }

    /// Returns the tokens; `None` as soon as one call's are unknown.
    #[must_use]
    pub fn known_tokens(&self) -> Option<Tokens> {
        (self.uncounted_calls == 0).then_some(self.tokens)
    }

    /// Returns how well the cost is known.
    #[must_use]
    pub fn source(&self) -> CostSource {
        match (self.unpriced_calls, self.estimated_calls) {
            (0, 0) => CostSource::Reported,
            (0, _) => CostSource::Estimated,
            _ => CostSource::Unknown,
        }
    }

    /// Says what was used, in words for people.
    #[must_use]
    pub fn in_words(&self) -> String {
        let cost = match (self.calls, self.source()) {
            (0, _) => return "nothing yet".to_owned(),
            (_, CostSource::Unknown) if self.usd.is_zero() => "cost unknown".to_owned(),
            (_, CostSource::Unknown) => format!("cost unknown, at least ${}", self.usd),
            (_, source) => format!("${} ({})", self.usd, source.as_str()),
        };
        let total = self.tokens.total();
        let tokens = match (self.uncounted_calls, total) {
            (0, _) => format!(", {}", counted(total, "token")),
            (_, 0) => String::new(),
            _ => format!(", at least {}", counted(total, "token")),
        };
        format!("{cost}{tokens}")
    }

    /// Returns what was used since `before`, an earlier state of the same sum.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            usd: self.usd.saturating_sub(before.usd),
            estimated_calls: self.estimated_calls.saturating_sub(before.estimated_calls),
            unpriced_calls: self.unpriced_calls.saturating_sub(before.unpriced_calls),
            tokens: self.tokens.saturating_sub(before.tokens),
            uncounted_calls: self.uncounted_calls.saturating_sub(before.uncounted_calls),
        }
    }

    /// Adds one call.
    pub(crate) fn add(&mut self, charge: &Charge) {
        self.calls += 1;
        self.usd = self.usd.saturating_add(charge.usd);
        self.estimated_calls += u64::from(charge.source == CostSource::Estimated);
        self.unpriced_calls += u64::from(charge.source == CostSource::Unknown);
        self.tokens = self.tokens.saturating_add(charge.tokens);
        self.uncounted_calls += u64::from(!charge.counted);
    }

    /// Takes one call away that was added before.
    pub(crate) fn remove(&mut self, charge: &Charge) {
        self.calls = self.calls.saturating_sub(1);
        self.usd = self.usd.saturating_sub(charge.usd);
        let estimated = u64::from(charge.source == CostSource::Estimated);
        self.estimated_calls = self.estimated_calls.saturating_sub(estimated);
        let unpriced = u64::from(charge.source == CostSource::Unknown);
        self.unpriced_calls = self.unpriced_calls.saturating_sub(unpriced);
        self.tokens = self.tokens.saturating_sub(charge.tokens);
        let uncounted = u64::from(!charge.counted);
        self.uncounted_calls = self.uncounted_calls.saturating_sub(uncounted);
    }
}

/// One call's part of a [`Usage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) usd: Usd,
    pub(crate) source: CostSource,
    pub(crate) tokens: Tokens,
    pub(crate) counted: bool,
}

impl Charge {
    /// What a call is charged with as it begins.
    pub(crate) fn expected(estimate: Option<Usd>) -> Self {
        Self {
            usd: estimate.unwrap_or_default(),
            source: match estimate {
                Some(_) => CostSource::Estimated,
                None => CostSource::Unknown,
            },
            tokens: Tokens::default(),
            counted: false,
        }
    }

    /// What a call is charged with once its bill is there. What was used up to
    /// the end of a call that was ended is the least that it can have cost.
    pub(crate) fn billed(estimate: Option<Usd>, bill: &Bill) -> Self {
        let (usd, source) = match (bill.cost, estimate) {
            (Some(cost), _) if bill.whole && !bill.unpriced => (cost, CostSource::Reported),
            (Some(part), Some(estimate)) => (part.max(estimate), CostSource::Estimated),
            (Some(part), None) => (part, CostSource::Unknown),
            (None, _) => {
                let expected = Self::expected(estimate);
                (expected.usd, expected.source)
            }
        };
        Self {
            usd,
            source,
            tokens: bill.tokens.unwrap_or_default(),
            counted: bill.whole && !bill.uncounted && bill.tokens.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usd(micros: i64) -> Usd {
        Usd::from_micros(micros).unwrap()
    }

    fn bill(cost: Option<i64>, tokens: Option<u64>, whole: bool) -> Bill {
        Bill {
            cost: cost.map(usd),
            tokens: tokens.map(|input| Tokens {
                input,
                ..Tokens::default()
            }),
            whole,
            ..Bill::default()
        }
    }

    // cases: 133
    #[test]
    fn what_is_not_known_is_unknown_and_never_zero() {
        use CostSource::{Estimated, Reported, Unknown};
        for (estimate, cost, whole, charged, source) in [
            (None, None, true, 0, Unknown),
            (None, Some(7), true, 7, Reported),
            (None, Some(0), true, 0, Reported),
            (None, Some(7), false, 7, Unknown),
            (Some(5), None, true, 5, Estimated),
            (Some(5), Some(7), true, 7, Reported),
            (Some(5), Some(7), false, 7, Estimated),
            (Some(5), Some(2), false, 5, Estimated),
        ] {
            let charge = Charge::billed(estimate.map(usd), &bill(cost, None, whole));
            let told = (charge.usd, charge.source);
            assert_eq!(
                told,
                (usd(charged), source),
                "{estimate:?} {cost:?} {whole}"
            );
        }
    }

    // cases: 133
    #[test]
    fn one_unknown_call_makes_the_sum_unknown() {
        let mut usage = Usage::default();
        usage.add(&Charge::billed(None, &bill(Some(3), Some(10), true)));
        assert_eq!(usage.known_cost(), Some(usd(3)));
        assert_eq!(usage.known_tokens().map(Tokens::total), Some(10));
        assert_eq!(usage.source(), CostSource::Reported);
        usage.add(&Charge::expected(Some(usd(4))));
        assert_eq!(usage.known_cost(), Some(usd(7)));
        assert_eq!(usage.known_tokens(), None);
        assert_eq!(usage.source(), CostSource::Estimated);
        usage.add(&Charge::expected(None));
        assert_eq!((usage.known_cost(), usage.usd), (None, usd(7)));
        assert_eq!(usage.source(), CostSource::Unknown);
    }

    proptest! {
        // cases: 137
        #[test]
        fn a_charge_that_is_taken_away_leaves_no_trace(
            bills in prop::collection::vec((any::<Option<u32>>(), any::<Option<u32>>(), any::<bool>()), 1..50),
            estimate in any::<Option<u32>>(),
        ) {
            let estimate = estimate.map(|micros| usd(micros.into()));
            let mut usage = Usage::default();
            let mut before = usage;
            for (cost, tokens, whole) in bills {
                let bill = bill(cost.map(Into::into), tokens.map(Into::into), whole);
                before = usage;
                let expected = Charge::expected(estimate);
                usage.add(&expected);
                usage.remove(&expected);
                prop_assert_eq!(usage, before);
                usage.add(&Charge::billed(estimate, &bill));
            }
            prop_assert_eq!(usage.calls, before.calls + 1);
        }
    }
}
