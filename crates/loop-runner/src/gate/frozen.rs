//! Which files `gate.frozen` names.

use super::GateError;
use super::walk::{Walk, is_real};
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

/// Folders in which tools keep what they made of the files beside them.
pub(super) const CACHES: [&str; 1] = ["__pycache__"];

/// Where frozen files are looked for.
pub(super) struct Look<'a> {
    pub(super) root: &'a Path,
    /// Names of folders that a pattern with a fixed start passes by.
    pub(super) passed_by: &'a [&'a str],
    pub(super) stop: &'a AtomicBool,
}

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

    /// Whether it names one path or folder, and not what looks like something.
    pub(super) fn is_plain(&self) -> bool {
        self.pattern.is_plain()
    }

    /// Adds the files that it names, and a plain path also when nothing is there.
    /// A file behind a link is added by its real path. Tells whether there are any.
    pub(super) fn collect(
        &self,
        look: &Look<'_>,
        paths: &mut BTreeSet<PathBuf>,
    ) -> Result<bool, GateError> {
        let is_open = self.base.as_os_str().is_empty();
        let walk = Walk {
            root: look.root,
            passed_by: if is_open { &MADE } else { look.passed_by },
            stop: look.stop,
        };
        let mut any = false;
        if let Some(start) = self.start(look.root) {
            walk.run(&start, |path| {
                let rest = path.strip_prefix(&start).unwrap_or(path);
                let named: PathBuf = self.base.iter().chain(rest).collect();
                if self.covers(&named) {
                    any = true;
                    paths.insert(path.to_owned());
                }
            })?;
        }
        if self.is_plain() && !any && !is_open {
            paths.insert(self.base.clone());
        }
        Ok(any)
    }

    /// Returns the link by which it leads elsewhere in the project, if it does:
    /// who changes that changes what is named.
    pub(super) fn link_to_it(&self, root: &Path) -> Option<PathBuf> {
        let above: Vec<_> = self.base.ancestors().collect();
        let mut links = above.into_iter().rev();
        let link = links.find(|path| root.join(path).is_symlink() && *path != Path::new(""));
        link.map(Path::to_owned)
    }

    /// Returns where to begin to look, which no link leads to; `None` when nothing
    /// is there, or it lies outside of the project.
    fn start(&self, root: &Path) -> Option<PathBuf> {
        // A plain path may be a link itself, which is frozen like a file.
        let is_link = || root.join(&self.base).is_symlink();
        if is_real(root, &self.base) && (self.is_plain() || !is_link()) {
            return Some(self.base.clone());
        }
        let real = root.join(&self.base).canonicalize().ok()?;
        let inside = real.strip_prefix(root.canonicalize().ok()?).ok()?;
        Some(inside.to_owned())
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
            "tests/__pycache__/a.pyc",
            "deep/__pycache__/b.pyc",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("tests", root.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("out")).unwrap();
        let look = Look {
            root: root.path(),
            passed_by: &CACHES,
            stop: &AtomicBool::new(false),
        };
        let missing = ["scripts", "*.toml", "link/missing", "out/hostname"];
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
            ("link/a.rs", &["tests/a.rs"]),
            ("link/deep", &["tests/deep/b.rs"]),
            ("link/*.rs", &["tests/a.rs"]),
            ("link/missing", &["link/missing"]),
            ("out/hostname", &["out/hostname"]),
            ("deep/__pycache__", &["deep/__pycache__/b.pyc"]),
        ] {
            let mut paths = BTreeSet::new();
            let frozen = Frozen::parse(pattern).unwrap();
            let any = frozen.collect(&look, &mut paths).unwrap();
            assert_eq!(any, !missing.contains(&pattern), "{pattern}");
            // What is named twice is named by both.
            assert_eq!(frozen.collect(&look, &mut paths).unwrap(), any, "{pattern}");
            let link = ["link", "out"]
                .iter()
                .find(|link| pattern.starts_with(**link));
            assert_eq!(
                frozen.link_to_it(root.path()),
                link.map(PathBuf::from),
                "{pattern}"
            );
            let expected: BTreeSet<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(paths, expected, "{pattern}");
        }
        assert!(Frozen::parse("a[").is_err());
    }
}
