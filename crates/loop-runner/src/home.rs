//! The framework home, which holds what all projects share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder of the framework home below a user's home.
const FOLDER: &str = ".automaton";

/// The framework home: prompts, templates, worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// There is no place for the framework home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither AUTOMATON_HOME nor HOME is set")]
pub struct NoHome;

impl Home {
    /// Uses `root` as the framework home.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Finds the framework home (decision D-2): the value of `AUTOMATON_HOME`,
    /// else `.automaton` in the value of `HOME`. Empty values count as absent, a
    /// relative one is taken from `here`.
    ///
    /// # Errors
    ///
    /// [`NoHome`] when both are absent.
    pub fn find(
        automaton_home: Option<&OsStr>,
        user_home: Option<&OsStr>,
        here: &Path,
    ) -> Result<Self, NoHome> {
        let given = |value: Option<&OsStr>| value.filter(|v| !v.is_empty()).map(PathBuf::from);
        let root = given(automaton_home)
            .or_else(|| Some(given(user_home)?.join(FOLDER)))
            .ok_or(NoHome)?;
        Ok(Self::new(here.join(root)))
    }

    /// Returns the folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the shared prompts.
    #[must_use]
    pub fn prompts(&self) -> PathBuf {
        self.root.join("prompts")
    }

    /// Returns the folder of the user's own loop templates.
    #[must_use]
    pub fn loop_templates(&self) -> PathBuf {
        self.root.join("templates").join("loops")
    }

    /// Returns the folder of the user's own harness profiles.
    #[must_use]
    pub fn harness_profiles(&self) -> PathBuf {
        self.root.join("templates").join("harnesses")
    }

    /// Returns the folder of all worktrees.
    #[must_use]
    pub fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }
}

/// Replaces a leading `~` by the user's home; everything else stays.
#[must_use]
pub fn expand_tilde(path: &Path, user_home: Option<&OsStr>) -> PathBuf {
    match (path.strip_prefix("~"), user_home) {
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rows: U-02
    #[test]
    fn the_variable_wins_over_the_users_home() {
        let here = Path::new("/here");
        let find = |a: Option<&str>, h: Option<&str>| {
            Home::find(a.map(OsStr::new), h.map(OsStr::new), here).map(|home| home.root)
        };
        assert_eq!(find(Some("/fw"), Some("/u")), Ok("/fw".into()));
        assert_eq!(find(Some("fw"), None), Ok("/here/fw".into()));
        assert_eq!(find(Some(""), Some("/u")), Ok("/u/.automaton".into()));
        assert_eq!(find(None, None), Err(NoHome));
    }

    // rows: C-19
    #[test]
    fn only_a_leading_tilde_is_expanded() {
        let home = Some(OsStr::new("/u"));
        let expand = |path: &str| expand_tilde(Path::new(path), home);
        assert_eq!(expand("~/x"), Path::new("/u/x"));
        assert_eq!(expand("~"), Path::new("/u"));
        assert_eq!(expand("a/~/x"), Path::new("a/~/x"));
        assert_eq!(expand("~ada/x"), Path::new("~ada/x"));
    }
}
