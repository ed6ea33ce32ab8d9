//! Numbers in JSON as people write them.

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Writes the text of a number as that number, digit by digit.
///
/// A double would be written as `1e-6` where it is small, which the strict readers of files that
/// people write refuse.
pub(crate) fn serialize<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text)
        .map_err(S::Error::custom)?
        .serialize(serializer)
}
