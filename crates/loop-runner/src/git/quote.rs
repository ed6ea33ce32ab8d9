//! Names of files in a patch.

use gix::bstr::{BStr, ByteSlice};

/// Renders a path so that git reads it back, in quotes only where that is needed.
///
/// As with git's `core.quotePath=false`: text stays readable, while control characters, quotes,
/// backslashes and bytes that are no UTF-8 are escaped.
pub(super) fn quoted(prefix: &[u8], path: &BStr) -> String {
    let whole = [prefix, path.as_bytes()].concat();
    let mut text = String::new();
    let mut is_escaped = false;
    for chunk in whole.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        text.push_str(&format!("\\{byte:03o}"));
                    }
                }
                c => {
                    text.push(c);
                    continue;
                }
            }
            is_escaped = true;
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\{byte:03o}"));
            is_escaped = true;
        }
    }
    if is_escaped {
        format!("\"{text}\"")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: X-15
    #[test]
    fn names_are_quoted_only_where_needed() {
        for (path, expected) in [
            (&b"src/a.rs"[..], "a/src/a.rs"),
            ("scripts/\u{e4} b".as_bytes(), "a/scripts/\u{e4} b"),
            (b"say \"x\"", r#""a/say \"x\"""#),
            (b"a\\b", r#""a/a\\b""#),
            (b"a\nb\tc", r#""a/a\nb\tc""#),
            (b"\x1b[31m", r#""a/\033[31m""#),
            (b"\xff\xe4", r#""a/\377\344""#),
        ] {
            assert_eq!(quoted(b"a/", path.as_bstr()), expected);
        }
    }
}
