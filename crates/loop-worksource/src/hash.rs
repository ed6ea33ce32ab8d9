//! Short fingerprints of text.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns the SHA-256, in hex, of the parts with a NUL between each two.
pub(crate) fn hex<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for (i, part) in parts.into_iter().enumerate() {
        if i > 0 {
            hash.update([0]);
        }
        hash.update(part);
    }
    hash.finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
}

/// Returns the first 8 hex digits of [`hex`].
pub(crate) fn hex8<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = hex(parts);
    text.truncate(8);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_is_the_plain_sha256_of_its_text() {
        assert_eq!(hex8(["abc"]), "ba7816bf");
        assert_ne!(hex(["a", "b"]), hex(["ab"]));
    }
}
