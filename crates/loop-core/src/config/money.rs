//! Money that counts: caps and estimates.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::name::Malformed;
use crate::Usd;

/// An amount of money above zero: a cap or an estimate of nothing would be one that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Usd")]
pub(super) struct PositiveUsd(Usd);

impl PositiveUsd {
    /// Returns the amount.
    #[must_use]
    pub(super) const fn get(self) -> Usd {
        self.0
    }
}

impl TryFrom<Usd> for PositiveUsd {
    type Error = Malformed;

    fn try_from(amount: Usd) -> Result<Self, Malformed> {
        if amount.is_zero() {
            return Err(Malformed(
                "0 is no amount to count with; write more, or leave the key out".to_owned(),
            ));
        }
        Ok(Self(amount))
    }
}

impl JsonSchema for PositiveUsd {
    fn schema_name() -> Cow<'static, str> {
        "PositiveUsd".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "US dollars above zero, with at most 6 decimals.",
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 999_999_999.999_999,
        })
    }
}
