//! Where a loop's changes may land.
//!
//! The configuration names paths and [patterns](Pattern); whoever compares a workspace with its
//! beginning names what changed in it. [`Scope`] says which of these changes are not allowed.

mod matching;
mod pattern;

use crate::config::ProjectPath;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use pattern::{InvalidPattern, Pattern};

/// The part of a worktree that no agent may change, whatever the configuration says: the engine
/// reads its own from the project, and a change here would come home with the work.
const ENGINES: &str = ".automaton";

/// The limits of `blast_radius.file_scope` and `blast_radius.protect`.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Where changes may land; anywhere when empty.
    allowed: Vec<Pattern>,
    /// What must not change, even inside of `allowed`.
    protected: Vec<Pattern>,
}

impl Scope {
    /// Takes the two lists of the configuration, for work in the project itself.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`] for the first entry that means nothing.
    pub fn new(
        file_scope: &[ProjectPath],
        protect: &[ProjectPath],
    ) -> Result<Self, InvalidPattern> {
        let read = |list: &[ProjectPath]| -> Result<Vec<Pattern>, InvalidPattern> {
            list.iter()
                .map(|entry| Pattern::new(entry.as_str()))
                .collect()
        };
        Ok(Self {
            allowed: read(file_scope)?,
            protected: read(protect)?,
        })
    }

    /// Takes the two lists for work in a worktree, where `.automaton` is protected as well.
    ///
    /// # Errors
    ///
    /// Those of [`Scope::new`].
    pub fn of_worktree(
        file_scope: &[ProjectPath],
        protect: &[ProjectPath],
    ) -> Result<Self, InvalidPattern> {
        let mut scope = Self::new(file_scope, protect)?;
        scope.protected.push(Pattern::new(ENGINES)?);
        Ok(scope)
    }

    /// Returns the patterns of what must not change.
    #[must_use]
    pub fn protected(&self) -> &[Pattern] {
        &self.protected
    }

    /// Tells which rule a change at `path` breaks, if it does.
    ///
    /// The path is relative to the project, with `/` between its parts; one that leads out of the
    /// project with `..` is outside of any `file_scope`. What is protected stays so in scope.
    #[must_use]
    pub fn broken_by(&self, path: &[u8]) -> Option<Rule> {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(path));
        if any(&self.protected) {
            Some(Rule::Protected)
        } else if self.allowed.is_empty() || any(&self.allowed) {
            None
        } else {
            Some(Rule::FileScope)
        }
    }

    /// Returns the changes that are not allowed, in the order in which they come.
    pub fn violations<P: AsRef<[u8]>>(
        &self,
        changes: impl IntoIterator<Item = (P, Kind)>,
    ) -> Vec<Violation> {
        let broken = |(path, kind): (P, Kind)| {
            let rule = self.broken_by(path.as_ref())?;
            Some(Violation {
                path: path_text(path.as_ref()),
                kind,
                rule,
            })
        };
        changes.into_iter().filter_map(broken).collect()
    }
}

/// A change that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The path relative to the project; a byte that is not text is written as `\xff`.
    pub path: String,
    /// What happened to it.
    pub kind: Kind,
    /// Which limit that breaks.
    pub rule: Rule,
}

/// What happened to a path. A renamed file is two: a deleted and an added one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is new, committed or not.
    Added,
    /// Its content is another.
    Modified,
    /// It is gone.
    Deleted,
    /// Only its executable bit is another.
    Mode,
    /// It was a file, link or repository, and is another of these.
    Type,
    /// It differs in the last commit, though not on disk.
    Committed,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Mode => "mode",
            Self::Type => "type",
            Self::Committed => "committed",
        })
    }
}

/// A limit of the blast radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The path is outside of `blast_radius.file_scope`.
    FileScope,
    /// The path is in `blast_radius.protect`, or the engine's own in a worktree.
    Protected,
}

/// Writes a path as text from which it can be told apart from any other.
fn path_text(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(list: &[&str]) -> Vec<ProjectPath> {
        list.iter().map(|path| path.parse().unwrap()).collect()
    }

    // rows
    // cases: 89, 102, 121
    #[test]
    fn a_change_is_outside_or_protected_or_allowed() {
        use Rule::{FileScope, Protected};
        for (file_scope, protect, path, rule) in [
            (&[][..], &[][..], "anything", None),
            (&[], &[], "../beside", None),
            (&["scripts/"], &[], "scripts/a", None),
            (&["scripts/"], &[], "scripts-old/a", Some(FileScope)),
            (&["scripts/"], &[], "../scripts/a", Some(FileScope)),
            (&["."], &[], "a/b", None),
            (&["."], &[], "../a", Some(FileScope)),
            (&["**"], &[], "../a", Some(FileScope)),
            (&["src"], &["src/gen"], "src/gen/a", Some(Protected)),
            (&["src"], &["src/gen"], "src/general", None),
            (&[], &["**/conftest.py"], "a/b/conftest.py", Some(Protected)),
            (&[], &["**/conftest.py"], "conftest.py", Some(Protected)),
            (&["src"], &["Makefile"], "Makefile", Some(Protected)),
            (&["README.md"], &[], "readme.md", Some(FileScope)),
        ] {
            let scope = Scope::new(&paths(file_scope), &paths(protect)).unwrap();
            let found = scope.broken_by(path.as_bytes());
            assert_eq!(found, rule, "{file_scope:?} {protect:?} {path}");
        }
    }

    // rows: X-11
    // cases: 89, 96
    #[test]
    fn the_engines_folder_is_protected_in_a_worktree_alone() {
        let path = b".automaton/loops/l/loop.json";
        let scope = paths(&["**", ".automaton"]);
        let in_place = Scope::new(&scope, &[]).unwrap();
        assert_eq!(in_place.broken_by(path), None);
        let worktree = Scope::of_worktree(&scope, &[]).unwrap();
        assert_eq!(worktree.broken_by(path), Some(Rule::Protected));
        assert_eq!(worktree.broken_by(b"a/.automaton/x"), None);
    }

    // rows
    #[test]
    fn a_violation_names_path_and_change_and_rule() {
        let scope = Scope::new(&paths(&["src"]), &paths(&["src/b"])).unwrap();
        let changes = [
            (&b"src/a"[..], Kind::Added),
            (b"src/b", Kind::Mode),
            (b"x \xff", Kind::Deleted),
            ("sch\u{f6}n/\u{e4} b".as_bytes(), Kind::Committed),
        ];
        let json = serde_json::to_string(&scope.violations(changes)).unwrap();
        assert_eq!(
            json,
            "[{\"path\":\"src/b\",\"kind\":\"mode\",\"rule\":\"protected\"},\
             {\"path\":\"x \\\\xff\",\"kind\":\"deleted\",\"rule\":\"file_scope\"},\
             {\"path\":\"sch\u{f6}n/\u{e4} b\",\"kind\":\"committed\",\"rule\":\"file_scope\"}]"
        );
    }

    // rows: X-10
    #[test]
    fn an_entry_that_means_nothing_is_an_error() {
        let error = Scope::new(&paths(&["src", "a[b"]), &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the pattern \"a[b\" has a \"[\" without its \"]\"; write \"[[]\" for the character"
        );
    }
}
