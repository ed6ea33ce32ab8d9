//! Names of branches, valid for any loop and task.

use std::fmt;

use gix::bstr::ByteSlice;
use sha2::{Digest, Sha256};

use crate::hash::hex;

use super::{fault::GitFault, repository::Repository};

/// The longest part of a name that comes from a loop or a task, in bytes.
const MAX_PART: usize = 60;
/// Hexadecimal digits of the suffix of a part that had to be changed.
const SUFFIX: usize = 8;
/// The part that stands for all tasks of a loop.
const ALL: &str = "all";

/// The name of a branch without `refs/heads/`, valid as git has it.
///
/// Different loops and tasks get different names: a part that is not plain already
/// (`[A-Za-z0-9._-]`, no special form) is cleaned and gets a suffix made of the SHA-256 of the
/// original. Names that differ in case alone are those of folders that a file system which ignores
/// case cannot hold beside each other either.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

/// The branch to use, and a warning when it is not the usual one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// The name.
    pub name: BranchName,
    /// Why the name is not of the form `loop/<loop>/<task>`, in words for the log.
    pub warning: Option<String>,
}

impl BranchName {
    /// Returns `loop/<loop>/<task>`, or `loop/<loop>/all` for a worktree that all tasks share.
    #[must_use]
    pub fn new(loop_name: &str, task: Option<&str>) -> Self {
        Self(format!("loop/{}/{}", part(loop_name), task_part(task)))
    }

    /// Returns `loop-<loop>-<task>-<hash>`, which is no path and so needs no folder.
    #[must_use]
    pub fn flat(loop_name: &str, task: Option<&str>) -> Self {
        let (loop_part, task_part) = (part(loop_name), task_part(task));
        // Without the hash, `a-b` and `c` would be the same as `a` and `b-c`.
        let hash = short_hash(&format!("{loop_part}/{task_part}"));
        Self(format!("loop-{loop_part}-{task_part}-{hash}"))
    }

    /// Returns the name without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name with `refs/heads/`.
    #[must_use]
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Chooses the branch for a task of a loop, or for all of them.
///
/// A branch named `loop` or `loop/<loop>`, or one below the wanted name, makes that name impossible,
/// as a file makes a folder of the same name impossible. Then the flat form is chosen, with a
/// warning.
///
/// # Errors
///
/// When the repository's branches cannot be read.
pub fn pick_branch(
    repository: &Repository,
    loop_name: &str,
    task: Option<&str>,
) -> Result<Picked, GitFault> {
    let name = BranchName::new(loop_name, task);
    let Some(blocker) = blocker_of(&repository.local(), &name)? else {
        return Ok(Picked {
            name,
            warning: None,
        });
    };
    let flat = BranchName::flat(loop_name, task);
    let warning = format!(
        "the branch '{name}' is impossible beside the branch '{blocker}'; using '{flat}' instead"
    );
    Ok(Picked {
        name: flat,
        warning: Some(warning),
    })
}

/// Finds a branch that cannot exist together with `name`.
fn blocker_of(repository: &gix::Repository, name: &BranchName) -> Result<Option<String>, GitFault> {
    for (at, _) in name.0.match_indices('/') {
        let above = &name.0[..at];
        let full = format!("refs/heads/{above}");
        if repository.try_find_reference(full.as_str())?.is_some() {
            return Ok(Some(above.to_owned()));
        }
    }
    let below = format!("{}/", name.full());
    let references = repository.references()?;
    let first = references.prefixed(below.as_bytes().as_bstr())?.next();
    match first {
        None => Ok(None),
        Some(reference) => {
            let reference = reference.map_err(|error| GitFault::new(error.to_string()))?;
            Ok(Some(reference.name().shorten().to_string()))
        }
    }
}

fn task_part(task: Option<&str>) -> String {
    match task {
        None => ALL.to_owned(),
        // A task of that name must not share the branch of the whole loop.
        Some(ALL) => with_suffix(ALL, ALL),
        Some(task) => part(task),
    }
}

/// Makes one part of a name out of any text.
fn part(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut clean = String::new();
    for c in text.chars() {
        let c = match c.to_ascii_lowercase() {
            c if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' => c,
            _ => '-',
        };
        if c != '-' || !clean.ends_with('-') {
            clean.push(c);
        }
    }
    clean.truncate(MAX_PART - SUFFIX - 1);
    with_suffix(clean.trim_matches('-'), text)
}

fn with_suffix(clean: &str, original: &str) -> String {
    let clean = if clean.is_empty() { "x" } else { clean };
    format!("{clean}-{}", short_hash(original))
}

fn short_hash(text: &str) -> String {
    let mut hash = hex(&Sha256::digest(text));
    hash.truncate(SUFFIX);
    hash
}

/// Tells whether a text can stand in a name as it is.
///
/// A text that looks like one with our suffix cannot, or it could be the name of another.
fn is_plain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    text.len() <= MAX_PART
        && text.bytes().all(plain)
        && !text.starts_with(['-', '.'])
        && !text.ends_with(['-', '.'])
        && !has_suffix(text)
        && is_valid(&format!("refs/heads/{text}"))
}

fn has_suffix(text: &str) -> bool {
    text.rsplit_once('-')
        .is_some_and(|(_, end)| end.len() == SUFFIX && end.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Asks git's own rules for names of branches.
fn is_valid(full: &str) -> bool {
    gix::validate::reference::branch_name(full.into()).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // cases: 90
    #[test]
    fn plain_names_stay() {
        assert_eq!(
            BranchName::new("nightly", Some("fix-login")).as_str(),
            "loop/nightly/fix-login"
        );
        assert_eq!(
            BranchName::new("nightly", None).as_str(),
            "loop/nightly/all"
        );
        assert_eq!(
            BranchName::new("v1.2_X", Some("a.B")).as_str(),
            "loop/v1.2_X/a.B"
        );
    }

    // cases: 90
    #[test]
    fn hostile_names_become_clean_and_distinct() {
        let long = "x".repeat(300);
        let titles = [
            "..", "a.lock", "-rf", "@{", "a//b", &long, "a.", "A", "a", "", "all", "ä b", "a\nb",
            "a b", "a/b", "a~b", "HEAD", "head", "@", "a-", ".a",
        ];
        let mut seen = std::collections::BTreeSet::new();
        for title in titles {
            for name in [
                BranchName::new("l", Some(title)),
                BranchName::flat("l", Some(title)),
            ] {
                assert!(is_valid(&name.full()), "{name}");
                assert!(name.as_str().len() < 200, "{name}");
                assert!(seen.insert(name.as_str().to_owned()), "{name} twice");
            }
        }
        assert!(!seen.contains(BranchName::new("l", None).as_str()));
    }

    proptest! {
        // cases: 90
        #[test]
        fn any_name_is_valid(l in ".*", t in ".*") {
            for name in [BranchName::new(&l, Some(&t)), BranchName::flat(&l, Some(&t))] {
                prop_assert!(is_valid(&name.full()), "{}", name);
                prop_assert!(!name.as_str().contains("//"));
            }
            prop_assert_eq!(BranchName::new(&l, Some(&t)).as_str().matches('/').count(), 2);
        }

        // cases: 90
        #[test]
        fn different_tasks_have_different_names(a in "[a-cA-C./@ -]{0,12}", b in "[a-cA-C./@ -]{0,12}") {
            prop_assume!(a != b);
            prop_assert_ne!(BranchName::new("l", Some(&a)), BranchName::new("l", Some(&b)));
            prop_assert_ne!(BranchName::new(&a, None), BranchName::new(&b, None));
        }

        // The pair counts, not the joined text.
        #[test]
        fn flat_names_keep_the_parts_apart(a in "[ab-]{1,4}", b in "[ab-]{1,4}", c in "[ab-]{1,4}", d in "[ab-]{1,4}") {
            prop_assume!((&a, &b) != (&c, &d));
            prop_assert_ne!(BranchName::flat(&a, Some(&b)), BranchName::flat(&c, Some(&d)));
        }

        // A cleaned name is not the name of a task that is called so.
        #[test]
        fn a_suffix_is_not_taken_from_another(a in "[aA./ ]{1,6}") {
            let cleaned = BranchName::new("l", Some(&a));
            let task = cleaned.as_str().rsplit('/').next().unwrap();
            if task != a {
                prop_assert_ne!(BranchName::new("l", Some(task)), cleaned);
            }
        }
    }
}
