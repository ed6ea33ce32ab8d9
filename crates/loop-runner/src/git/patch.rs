//! Changes as a unified patch, in the format of `git diff`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::PathBuf,
};

use gix::{
    ObjectId,
    bstr::BStr,
    diff::blob::{
        Algorithm, InternedInput, UnifiedDiff, diff_with_slider_heuristics,
        unified_diff::ContextSize,
    },
};

use super::{
    changes::{ChangeKind, Changes, Difference},
    committed::{ToGit, is_binary},
    hunk::HunkWriter,
    plain_file,
    quote::quoted,
    snapshot::{Entry, EntryKind},
    workspace::to_path,
};

/// The longest content that is compared line by line, in bytes.
const MAX_TEXT: u64 = 8 << 20;

/// The numbers of one path's change, as `git diff --stat` has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// The path below the workspace's top.
    pub path: PathBuf,
    /// How many lines came and went, or `None` for what has no lines to show.
    pub lines: Option<LineStat>,
}

impl FileStat {
    /// Returns the path on one line, quoted as git does where its name has a
    /// line break or another control character.
    pub fn quoted_path(&self) -> String {
        quoted(b"", self.path.as_os_str().as_encoded_bytes().into())
    }
}

/// How many lines of a file came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStat {
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
}

/// What there is to show of one side of a change.
enum Content {
    /// Lines.
    Text(Vec<u8>),
    /// Bytes, or too many of them.
    Opaque,
    /// Nothing is known any more.
    Unknown,
}

impl Changes {
    /// Writes the changes as a patch and returns the numbers of each path.
    ///
    /// New files are shown in full, whether or not they are tracked. Binary files, files of more
    /// than 8 MiB, and nested repositories are one line. A change of type is a deletion and an
    /// addition. Of a file whose earlier content is in no commit, only the fact of its change can
    /// be told. The files are read while writing, so the patch is of the moment of the call.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written to, or a file not be read.
    pub fn write_patch(&self, out: &mut dyn Write) -> io::Result<Vec<FileStat>> {
        let git = self.workspace.git.as_ref().map(|git| git.to_thread_local());
        let mut to_git = match (&git, self.base) {
            (Some(git), Some(base)) => Some(ToGit::new(git, base).map_err(io::Error::other)?),
            _ => None,
        };
        let mut stats = Vec::new();
        for (path, difference) in &self.list {
            if difference.kind == ChangeKind::Committed {
                continue;
            }
            let path: &BStr = path.as_ref();
            let mut lines = Some(LineStat::default());
            for (before, after) in steps(difference) {
                let old = content_before(git.as_ref(), before, &self.kept)?;
                let new = self.content_after(path, after, to_git.as_mut())?;
                write_header(out, path, before, after)?;
                let written = write_body(out, path, (before, &old), (after, &new))?;
                lines = lines.zip(written).map(|(all, one)| all + one);
            }
            stats.push(FileStat {
                path: to_path(path).to_owned(),
                lines,
            });
        }
        Ok(stats)
    }

    fn content_after(
        &self,
        path: &BStr,
        entry: Option<Entry>,
        to_git: Option<&mut ToGit<'_>>,
    ) -> io::Result<Content> {
        let full = self.workspace.root.join(to_path(path));
        match entry.map(|entry| entry.kind) {
            None => Ok(Content::Text(Vec::new())),
            Some(EntryKind::Link) => {
                let target = fs::read_link(full)?;
                Ok(Content::Text(super::workspace::to_bytes(&target).into()))
            }
            Some(EntryKind::Repository | EntryKind::Unreadable) => Ok(Content::Opaque),
            Some(EntryKind::File | EntryKind::Executable) => {
                let content = match plain_file::read(&full, MAX_TEXT) {
                    Ok(Some(content)) => content,
                    Ok(None) => return Ok(Content::Opaque),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                    Err(error) => return Err(error),
                };
                let converted = match to_git {
                    Some(to_git) => to_git.convert(path, &content).unwrap_or(content),
                    None => content,
                };
                Ok(text_or_opaque(converted))
            }
        }
    }
}

impl std::ops::Add for LineStat {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            added: self.added + other.added,
            removed: self.removed + other.removed,
        }
    }
}

/// A change of type is shown in two steps, as git does.
fn steps(difference: &Difference) -> Vec<(Option<Entry>, Option<Entry>)> {
    let Difference {
        kind,
        before,
        after,
    } = *difference;
    match kind {
        ChangeKind::Type => vec![(before, None), (None, after)],
        _ => vec![(before, after)],
    }
}

fn text_or_opaque(content: Vec<u8>) -> Content {
    if content.len() as u64 > MAX_TEXT || is_binary(&content) {
        Content::Opaque
    } else {
        Content::Text(content)
    }
}

/// The earlier content, from what was kept of it or from the repository's objects.
fn content_before(
    git: Option<&gix::Repository>,
    entry: Option<Entry>,
    kept: &BTreeMap<ObjectId, Vec<u8>>,
) -> io::Result<Content> {
    let Some(entry) = entry else {
        return Ok(Content::Text(Vec::new()));
    };
    if matches!(entry.kind, EntryKind::Repository | EntryKind::Unreadable) {
        return Ok(Content::Opaque);
    }
    if let Some(content) = kept.get(&entry.id) {
        return Ok(text_or_opaque(content.clone()));
    }
    let Some(git) = git else {
        return Ok(Content::Unknown);
    };
    let header = git.try_find_header(entry.id).map_err(io::Error::other)?;
    if header.is_some_and(|header| header.size() > MAX_TEXT) {
        return Ok(Content::Opaque);
    }
    let object = git.try_find_object(entry.id).map_err(io::Error::other)?;
    Ok(match object {
        Some(object) => text_or_opaque(object.detach().data),
        None => Content::Unknown,
    })
}

/// The mode by which git knows a kind.
fn mode(entry: Entry) -> &'static str {
    match entry.kind {
        EntryKind::File | EntryKind::Unreadable => "100644",
        EntryKind::Executable => "100755",
        EntryKind::Link => "120000",
        EntryKind::Repository => "160000",
    }
}

fn write_header(
    out: &mut dyn Write,
    path: &BStr,
    before: Option<Entry>,
    after: Option<Entry>,
) -> io::Result<()> {
    let (old, new) = (quoted(b"a/", path), quoted(b"b/", path));
    writeln!(out, "diff --git {old} {new}")?;
    match (before, after) {
        (None, Some(after)) => writeln!(out, "new file mode {}", mode(after)),
        (Some(before), None) => writeln!(out, "deleted file mode {}", mode(before)),
        (Some(before), Some(after)) if mode(before) != mode(after) => {
            writeln!(out, "old mode {}\nnew mode {}", mode(before), mode(after))
        }
        _ => Ok(()),
    }
}

/// Writes what follows the header, and counts lines.
fn write_body(
    out: &mut dyn Write,
    path: &BStr,
    (before, old): (Option<Entry>, &Content),
    (after, new): (Option<Entry>, &Content),
) -> io::Result<Option<LineStat>> {
    let name = |entry: Option<Entry>, prefix| match entry {
        Some(_) => quoted(prefix, path),
        None => "/dev/null".to_owned(),
    };
    let (old_name, new_name) = (name(before, b"a/"), name(after, b"b/"));
    let (old, new) = match (old, new) {
        (Content::Text(old), Content::Text(new)) => (old, new),
        (Content::Unknown, _) => {
            writeln!(
                out,
                "Files {old_name} and {new_name} differ (the earlier content is in no commit)"
            )?;
            return Ok(None);
        }
        _ => {
            writeln!(out, "Binary files {old_name} and {new_name} differ")?;
            return Ok(None);
        }
    };
    if old == new {
        return Ok(Some(LineStat::default()));
    }
    // After a name with a space, git puts a tab, which ends the name.
    let tab = if path.contains(&b' ') { "\t" } else { "" };
    let tab_of = |entry: Option<Entry>| if entry.is_some() { tab } else { "" };
    writeln!(out, "--- {old_name}{}", tab_of(before))?;
    writeln!(out, "+++ {new_name}{}", tab_of(after))?;

    let input = InternedInput::new(old.as_slice(), new.as_slice());
    let diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    let writer = HunkWriter::new(out);
    let stat = UnifiedDiff::new(&diff, &input, writer, ContextSize::symmetrical(3)).consume()?;
    Ok(Some(stat))
}
