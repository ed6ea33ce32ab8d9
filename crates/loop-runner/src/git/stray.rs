//! Whether a worktree still stands on the branch that was made for it.
//!
//! An agent may check out something else. That is no violation, and its HEAD is left as it is, but
//! whoever merges the loop's branch then would get nothing of the work.

use std::fmt;

use gix::refs::FullName;

use super::{
    administration::{Administration, Recorded, Replaced},
    repository::Repository,
};

/// What a worktree stands on instead of its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stray {
    /// A branch, without `refs/heads/` unless an option could be read from it.
    Branch(String),
    /// No branch; the commit in hexadecimal, or the reference that is not a branch.
    Detached(String),
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "the branch {name}"),
            Self::Detached(at) => write!(f, "{at}, which is no branch"),
        }
    }
}

impl Stray {
    /// Looks at what a recorded worktree stands on; `None` when it is its branch.
    ///
    /// # Errors
    ///
    /// When the worktree is not the one that was recorded, or its HEAD cannot be read.
    pub fn of(repository: &Repository, recorded: &Recorded) -> Result<Option<Self>, Replaced> {
        Self::of_entry(&Administration::verified(repository, recorded)?, recorded)
    }

    /// Looks at the HEAD in an administration that was compared with what was recorded.
    pub(super) fn of_entry(
        entry: &Administration,
        recorded: &Recorded,
    ) -> Result<Option<Self>, Replaced> {
        let head = str::from_utf8(&entry.head).unwrap_or_default().trim_end();
        if head.strip_prefix("ref: refs/heads/") == Some(&recorded.branch) {
            return Ok(None);
        }
        match read(head) {
            Some(stray) => Ok(Some(stray)),
            None => Err(Replaced {
                path: recorded.path.clone(),
                what: "HEAD: it names nothing".to_owned(),
            }),
        }
    }

    /// Tells a person, who would otherwise look for the work on the branch.
    #[must_use]
    pub fn warning(&self, recorded: &Recorded) -> String {
        format!(
            "the worktree at {} stands on {self} instead of {}; new commits go there",
            recorded.path.display(),
            recorded.branch
        )
    }
}

/// Reads what stands in HEAD, if it is a valid reference or an id.
fn read(head: &str) -> Option<Stray> {
    let Some(name) = head.strip_prefix("ref: ") else {
        let id = gix::ObjectId::from_hex(head.as_bytes()).ok()?;
        return Some(Stray::Detached(id.to_string()));
    };
    FullName::try_from(name).ok()?;
    Some(match name.strip_prefix("refs/heads/") {
        Some(short) if short.starts_with('-') => Stray::Branch(name.to_owned()),
        Some(short) => Stray::Branch(short.to_owned()),
        None => Stray::Detached(name.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: D-20; cases: 87
    #[test]
    fn a_head_names_a_branch_or_none_or_nothing_at_all() {
        let id = "5e1c309dae7f45e0f39b1bf3ac3cd9db12e7d689";
        let branch = |name: &str| Some(Stray::Branch(name.to_owned()));
        let detached = |at: &str| Some(Stray::Detached(at.to_owned()));
        for (head, stray) in [
            ("ref: refs/heads/other", branch("other")),
            ("ref: refs/heads/a/b", branch("a/b")),
            ("ref: refs/heads/-rf", branch("refs/heads/-rf")),
            (
                "ref: refs/remotes/origin/x",
                detached("refs/remotes/origin/x"),
            ),
            (id, detached(id)),
            ("ref: refs/heads/../x", None),
            ("ref: refs/heads/a b", None),
            ("ref: refs/heads/", None),
            ("5e1c309", None),
            ("", None),
        ] {
            assert_eq!(read(head), stray, "{head}");
        }
    }
}
