//! Which files `gate.frozen` names.

use super::GateError;
use super::walk::Walk;
use loop_core::scope::Pattern;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Folders that a pattern without a fixed start passes by, because they hold
/// what tools have made. A pattern that starts in one of them looks into it.
pub(super) const MADE: [&str; 8] = [
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
];

/// One entry of `gate.frozen`, with the meaning of a [`Pattern`].
#[derive(Clone, Debug)]
pub(super) struct Frozen {
    pattern: Pattern,
    base: PathBuf,
}

impl Frozen {
    pub(super) fn parse(pattern: &str) -> Result<Self, GateError> {
        let pattern = Pattern::new(pattern)?;
        Ok(Self {
            base: pattern.base().into(),
            pattern,
        })
    }

    /// Whether it covers `path`, be it there or not.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.pattern.matches(path.as_os_str().as_bytes())
    }

    /// Adds the files that it names below `root`, and a plain path also when
    /// nothing is there.
    pub(super) fn collect(
        &self,
        root: &Path,
        stop: &AtomicBool,
        paths: &mut BTreeSet<PathBuf>,
    ) -> Result<(), GateError> {
        let is_open = self.base.as_os_str().is_empty();
        let walk = Walk {
            root,
            passed_by: if is_open { &MADE } else { &[] },
            stop,
        };
        let before = paths.len();
        walk.run(&self.base, |path| {
            if self.covers(path) {
                paths.insert(path.to_owned());
            }
        })?;
        if self.pattern.is_plain() && paths.len() == before && !is_open {
            paths.insert(self.base.clone());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    // rows: D-13, G-19
    // cases: 121
    #[test]
    fn paths_folders_and_patterns_name_files() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "verify.sh",
            "tests/a.rs",
            "tests/deep/b.rs",
            "tests/node_modules/c.rs",
            "node_modules/x/conftest.py",
            "pkg/conftest.py",
            "target/conftest.py",
            ".git/conftest.py",
            "scripts-old/a",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("tests", root.path().join("link")).unwrap();
        let stop = AtomicBool::new(false);
        for (pattern, expected) in [
            ("verify.sh", &["verify.sh"][..]),
            ("./verify.sh", &["verify.sh"]),
            (
                "tests",
                &["tests/a.rs", "tests/deep/b.rs", "tests/node_modules/c.rs"],
            ),
            (
                "tests/",
                &["tests/a.rs", "tests/deep/b.rs", "tests/node_modules/c.rs"],
            ),
            ("tests/*.rs", &["tests/a.rs"]),
            (
                "tests/**/*.rs",
                &["tests/a.rs", "tests/deep/b.rs", "tests/node_modules/c.rs"],
            ),
            ("**/conftest.py", &["pkg/conftest.py"]),
            ("target/**", &["target/conftest.py"]),
            ("scripts", &["scripts"]),
            ("*.toml", &[]),
            ("link", &["link"]),
            ("link/a.rs", &["link/a.rs"]),
        ] {
            let mut paths = BTreeSet::new();
            Frozen::parse(pattern)
                .unwrap()
                .collect(root.path(), &stop, &mut paths)
                .unwrap();
            let expected: BTreeSet<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(paths, expected, "{pattern}");
        }
        assert!(Frozen::parse("a[").is_err());
    }
}
