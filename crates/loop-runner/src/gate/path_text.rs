//! Paths as keys of a record: text that names exactly one path.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Writes a path as text. Backslashes, control characters and bytes that are no
/// UTF-8 are escaped as `\xNN`; everything else stands as it is.
pub(super) fn to_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '\\' {
                let mut buffer = [0; 4];
                escape(c.encode_utf8(&mut buffer).as_bytes(), &mut text);
            } else {
                text.push(c);
            }
        }
        escape(chunk.invalid(), &mut text);
    }
    text
}

fn escape(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        text.push_str(&format!("\\x{byte:02x}"));
    }
}

/// Reads such a text back.
pub(super) fn to_path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.get(..2).and_then(|d| u8::from_str_radix(d, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.extend_from_slice(b"\\x");
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_stand_as_they_are() {
        for (bytes, text) in [
            (&b"src/a b/\xc3\xa4.rs"[..], "src/a b/ä.rs"),
            (b"a\\b", "a\\x5cb"),
            (b"a\nb\xff", "a\\x0ab\\xff"),
        ] {
            assert_eq!(to_text(Path::new(std::ffi::OsStr::from_bytes(bytes))), text);
        }
    }

    proptest! {
        // cases: 155
        #[test]
        fn every_path_has_one_text(bytes in prop::collection::vec(1_u8.., 0..20)) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            let text = to_text(&path);
            prop_assert!(!text.contains(char::is_control));
            prop_assert_eq!(to_path(&text), path);
        }
    }
}
