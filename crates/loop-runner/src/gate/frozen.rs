//! Which files `gate.frozen` names.

use super::GateError;
use super::walk::Walk;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The characters that make a path a pattern.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

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

/// One entry of `gate.frozen`.
///
/// A path covers itself and, if it is a folder, everything below; `*` and `?`
/// do not cross a `/`, `**` does.
#[derive(Clone, Debug)]
pub(super) struct Frozen {
    /// The part before the first component with a glob.
    base: PathBuf,
    glob: Option<GlobMatcher>,
}

impl Frozen {
    pub(super) fn parse(pattern: &str) -> Result<Self, GateError> {
        let parts: Vec<_> = pattern
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let plain = parts.iter().take_while(|part| !part.contains(GLOB)).count();
        let base = parts[..plain].iter().collect();
        if plain == parts.len() {
            return Ok(Self { base, glob: None });
        }
        let glob = GlobBuilder::new(&parts.join("/"))
            .literal_separator(true)
            .build()
            .map_err(|error| GateError::Pattern {
                pattern: pattern.to_owned(),
                what: error.kind().to_string(),
            })?;
        Ok(Self {
            base,
            glob: Some(glob.compile_matcher()),
        })
    }

    /// Whether it covers `path`, be it there or not.
    pub(super) fn covers(&self, path: &Path) -> bool {
        match &self.glob {
            Some(glob) => glob.is_match(path),
            None => path.starts_with(&self.base),
        }
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
        if self.glob.is_none() && paths.len() == before && !is_open {
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
