//! Hunks of a patch as git writes them.

use std::io::{self, Write};

use gix::diff::blob::unified_diff::{ConsumeHunk, DiffLineKind, HunkHeader};

use super::patch::LineStat;

/// Writes hunks and counts their lines.
pub(super) struct HunkWriter<'a> {
    out: &'a mut dyn Write,
    stat: LineStat,
}

impl<'a> HunkWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            stat: LineStat::default(),
        }
    }
}

impl ConsumeHunk for HunkWriter<'_> {
    type Out = LineStat;

    fn consume_hunk(
        &mut self,
        header: HunkHeader,
        lines: &[(DiffLineKind, &[u8])],
    ) -> io::Result<()> {
        let before = range(header.before_hunk_start, header.before_hunk_len);
        let after = range(header.after_hunk_start, header.after_hunk_len);
        writeln!(self.out, "@@ -{before} +{after} @@")?;
        for (kind, line) in lines {
            match kind {
                DiffLineKind::Add => self.stat.added += 1,
                DiffLineKind::Remove => self.stat.removed += 1,
                DiffLineKind::Context => {}
            }
            write!(self.out, "{}", kind.to_prefix())?;
            self.out.write_all(line)?;
            if !line.ends_with(b"\n") {
                self.out.write_all(b"\n\\ No newline at end of file\n")?;
            }
        }
        Ok(())
    }

    fn finish(self) -> LineStat {
        self.stat
    }
}

/// Writes a range of lines; an empty one stands *after* the line that it names.
fn range(start: u32, len: u32) -> String {
    match len {
        0 => format!("{},0", start - 1),
        1 => start.to_string(),
        _ => format!("{start},{len}"),
    }
}
