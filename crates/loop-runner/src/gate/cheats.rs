//! Well-known ways to make a gate green without the work.
//!
//! They are planted in throw-away checkouts only, to see what a gate accepts
//! before anybody relies on it.

mod cargo;
mod forged;
mod general;
mod go;
mod node;
mod python;

use super::GateError;
use super::fingerprint::Fingerprint;
use super::frozen::MADE;
use super::lay::Tree;
use super::path_text::to_text;
use super::walk::{Walk, is_real};
use crate::git::plain_file;
use loop_core::gate::TestReport;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The longest file that a cheat is put into, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// How many files one cheat touches.
const MAX_TOUCHED: usize = 200;

/// A way to make a gate green without the work.
pub(super) struct Cheat {
    /// What it is called.
    pub(super) name: &'static str,
    /// Plants it; tells whether there was anything to plant it in.
    pub(super) plant: fn(&Ground<'_>) -> Result<bool, GateError>,
}

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Cheat> {
    [
        general::CHEATS,
        python::CHEATS,
        cargo::CHEATS,
        node::CHEATS,
        go::CHEATS,
        forged::CHEATS,
    ]
    .into_iter()
    .flatten()
}

/// A throw-away checkout to plant in.
pub(super) struct Ground<'a> {
    pub(super) root: &'a Path,
    pub(super) argv: &'a [String],
    pub(super) frozen: &'a Fingerprint,
    /// What ran without a cheat.
    pub(super) tests: Option<&'a TestReport>,
    pub(super) stop: &'a AtomicBool,
}

impl Ground<'_> {
    fn has(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    fn read(&self, path: &Path) -> Option<String> {
        if !is_real(self.root, path) {
            return None;
        }
        let content = plain_file::read(&self.root.join(path), MAX_FILE).ok()??;
        String::from_utf8(content).ok()
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), GateError> {
        self.write_as(path, text, 0o644)
    }

    fn write_program(&self, path: impl AsRef<Path>, text: &str) -> Result<(), GateError> {
        self.write_as(path, text, 0o755)
    }

    fn write_as(&self, path: impl AsRef<Path>, text: &str, mode: u32) -> Result<(), GateError> {
        let tree = Tree { root: self.root };
        tree.file(path.as_ref(), &mut text.as_bytes(), mode)
            .map(drop)
    }

    /// Lists the files that `wanted` takes.
    fn files(&self, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, GateError> {
        let mut files = Vec::new();
        let walk = Walk {
            root: self.root,
            passed_by: &MADE,
            stop: self.stop,
        };
        walk.run(Path::new(""), |path| {
            if files.len() < MAX_TOUCHED && wanted(path) {
                files.push(path.to_owned());
            }
        })?;
        Ok(files)
    }

    /// Lists the product's files with the extension: no tests, nothing frozen.
    fn product(&self, extension: &str) -> Result<Vec<PathBuf>, GateError> {
        self.files(|path| {
            path.extension().is_some_and(|found| found == extension)
                && !is_test(path)
                && !self.frozen.files().contains_key(&to_text(path))
        })
    }

    /// Puts a text before the content of files; tells whether there were any.
    fn put_before(&self, files: &[PathBuf], text: &str) -> Result<bool, GateError> {
        self.edit(files, |content| {
            // A first line for the system has to stay the first.
            match content.split_once('\n') {
                Some((first, rest)) if first.starts_with("#!") => format!("{first}\n{text}{rest}"),
                _ => format!("{text}{content}"),
            }
        })
    }

    fn edit(&self, files: &[PathBuf], edit: impl Fn(&str) -> String) -> Result<bool, GateError> {
        let mut any = false;
        for path in files {
            if let Some(content) = self.read(path) {
                self.write(path, &edit(&content))?;
                any = true;
            }
        }
        Ok(any)
    }
}

/// Whether a file looks like a test.
fn is_test(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let in_folder = path
        .iter()
        .rev()
        .skip(1)
        .any(|part| part == "test" || part == "tests" || part == "__tests__" || part == "spec");
    in_folder
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem == "conftest"
        || stem == "tests"
        || name.contains(".test.")
        || name.contains(".spec.")
}
