//! A patch of a bounded length, as a file.

use crate::git::Changes;
use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes changes as a patch of at most `limit` bytes, with a line at its end when that is not all.
///
/// What is at `path` is replaced, not written through. A cut-off patch is cut between two lines,
/// and of what is beyond it nothing is read.
pub(crate) fn write(changes: &Changes, path: &Path, limit: u64) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let file = tempfile::Builder::new()
        .prefix(".draft-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    let mut out = Bounded::new(BufWriter::new(file), limit);
    match changes.write_patch(&mut out) {
        Err(error) if !out.is_full => return Err(error),
        _ => {}
    }
    let file = out
        .finish()?
        .into_inner()
        .map_err(|error| error.into_error())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Passes on whole lines up to a limit, and fails at the first that is beyond it.
struct Bounded<W> {
    out: W,
    left: u64,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    is_full: bool,
}

impl<W: Write> Bounded<W> {
    fn new(out: W, limit: u64) -> Self {
        Self {
            out,
            left: limit,
            line: Vec::new(),
            is_full: false,
        }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.left -= self.line.len() as u64;
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        if self.is_full {
            writeln!(self.out, "[the rest of the patch is left out]")?;
        } else {
            self.pass_on()?;
        }
        Ok(self.out)
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.is_full |= (self.line.len() + part.len()) as u64 > self.left;
            if self.is_full {
                return Err(io::Error::other("the patch is too long"));
            }
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.pass_on()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOTE: &str = "[the rest of the patch is left out]\n";

    fn cut(parts: &[&[u8]], limit: u64) -> String {
        let mut out = Bounded::new(Vec::new(), limit);
        for part in parts {
            if out.write_all(part).is_err() {
                assert!(out.is_full);
                break;
            }
        }
        String::from_utf8(out.finish().unwrap()).unwrap()
    }

    #[test]
    fn only_whole_lines_are_kept() {
        for (parts, limit, lines, is_cut) in [
            (&[&b"ab\ncd\n"[..]][..], 6, "ab\ncd\n", false),
            (&[b"ab\nc", b"d\n"], 6, "ab\ncd\n", false),
            (&[b"ab\nc", b"d\n"], 5, "ab\n", true),
            (&[b"ab\nc", b"d\ne\n"], 5, "ab\n", true),
            (&[b"ab"], 2, "ab", false),
            (&[b"ab"], 1, "", true),
            (&[], 0, "", false),
        ] {
            let expected = format!("{lines}{}", if is_cut { NOTE } else { "" });
            assert_eq!(cut(parts, limit), expected, "{parts:?} {limit}");
        }
    }

    proptest! {
        #[test]
        fn what_is_missing_is_said(text in "[ab\n]{0,40}", at in 0..40_usize, limit in 0..50_u64) {
            let at = at.min(text.len());
            let kept = cut(&[&text.as_bytes()[..at], &text.as_bytes()[at..]], limit);
            let start = kept.strip_suffix(NOTE).unwrap_or(&kept);
            prop_assert!(text.starts_with(start) && start.len() as u64 <= limit);
            prop_assert_eq!(start == kept, start == text);
        }
    }
}
