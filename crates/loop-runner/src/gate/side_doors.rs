//! Files besides the tests that decide what a test run means.
//!
//! Who changes one of them need not touch a test to make it pass. They are
//! listed when a gate is set up, with an offer to freeze them.

use super::frozen::MADE;
use super::path_text::to_text;
use super::walk::Walk;
use super::{GateContext, GateError};
use crate::git::plain_file;
use serde::Serialize;
use std::path::Path;

/// How many are listed.
const MAX_LISTED: usize = 200;
/// The longest file that is looked into, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A file that decides what a test run means, and is not frozen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SideDoor {
    /// Its path below the project.
    pub path: String,
    /// What it can do, in a few words.
    pub why: &'static str,
}

/// Names of files, and what they can do. A name that ends in `*` is a start.
const NAMES: [(&str, &str); 37] = [
    ("pytest.ini", "settings of pytest"),
    (".pytest.ini", "settings of pytest"),
    ("tox.ini", "settings of tox and pytest"),
    ("noxfile.py", "sessions of nox"),
    ("conftest.py", "code that pytest runs around every test"),
    (".coveragerc", "settings of coverage"),
    (
        "sitecustomize.py",
        "code that Python runs before everything else",
    ),
    (
        "usercustomize.py",
        "code that Python runs before everything else",
    ),
    ("jest.config.*", "settings of jest"),
    ("vitest.config.*", "settings of vitest"),
    ("vitest.workspace.*", "settings of vitest"),
    ("vite.config.*", "settings of vitest"),
    ("playwright.config.*", "settings of playwright"),
    ("karma.conf.*", "settings of karma"),
    (".mocharc*", "settings of mocha"),
    ("babel.config.*", "how tests are compiled"),
    (".babelrc*", "how tests are compiled"),
    ("tsconfig.json", "how tests are compiled"),
    ("package.json", "the scripts that npm runs"),
    (".npmrc", "settings of npm"),
    ("deno.json*", "settings and tasks of deno"),
    ("bunfig.toml", "settings of bun"),
    ("Cargo.toml", "which tests are built, and how"),
    ("build.rs", "code that cargo runs before it builds"),
    ("rust-toolchain*", "which compiler is used"),
    ("go.work", "which modules are built"),
    ("Makefile", "what make runs"),
    ("makefile", "what make runs"),
    ("GNUmakefile", "what make runs"),
    ("justfile", "what just runs"),
    ("Justfile", "what just runs"),
    ("Taskfile.y*", "what task runs"),
    ("CMakeLists.txt", "which tests are built, and how"),
    ("Rakefile", "what rake runs"),
    (".rspec", "settings of rspec"),
    ("phpunit.xml*", "settings of phpunit"),
    (".env*", "variables that many tools read"),
];

/// Ends of paths, and what they can do.
const ENDS: [(&str, &str); 7] = [
    (
        ".cargo/config.toml",
        "settings of cargo, such as what runs the tests",
    ),
    (
        ".cargo/config",
        "settings of cargo, such as what runs the tests",
    ),
    (
        ".config/nextest.toml",
        "settings of nextest, such as which tests count",
    ),
    (".snap", "what a snapshot test compares with"),
    (".snap.new", "what a snapshot test compares with"),
    (".pth", "code that Python runs before everything else"),
    (".ambr", "what a snapshot test compares with"),
];

/// Names of files that matter when they hold a text.
const HOLDING: [(&str, &str, &str); 3] = [
    ("pyproject.toml", "[tool.pytest", "settings of pytest"),
    ("setup.cfg", "[tool:pytest]", "settings of pytest"),
    ("setup.cfg", "[aliases]", "commands of setuptools"),
];

/// Lists the side doors of a project that its gate does not freeze, sorted by
/// path; at most 200.
///
/// # Errors
///
/// [`GateError`] when the project cannot be read.
pub fn side_doors(context: &GateContext<'_>) -> Result<Vec<SideDoor>, GateError> {
    let frozen = super::Fingerprint::of(context, &[])?;
    let folder = context.folder();
    let mut doors = Vec::new();
    let walk = Walk {
        root: &folder,
        passed_by: &MADE,
        stop: context.stop,
    };
    walk.run(Path::new(""), |path| {
        if doors.len() < MAX_LISTED
            && let Some(why) = what_it_does(&folder, path)
        {
            let path = to_text(path);
            if !frozen.files().contains_key(&path) {
                doors.push(SideDoor { path, why });
            }
        }
    })?;
    Ok(doors)
}

/// Whether a name, also of a folder, is one that tools look for in every folder
/// above their own.
pub(super) fn is_setting(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        matches!(
            name,
            ".cargo" | ".config" | "node_modules" | "pyproject.toml" | "setup.cfg"
        ) || NAMES.iter().any(|(pattern, _)| is_named(name, pattern))
    })
}

fn is_named(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

fn what_it_does(folder: &Path, path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let full = path.to_str()?;
    let by_name = NAMES.iter().find(|(pattern, _)| is_named(name, pattern));
    let by_end = || {
        let mut ends = ENDS.iter();
        ends.find(|(end, _)| match end.contains('/') {
            true => path.ends_with(end),
            false => full.ends_with(end),
        })
    };
    if let Some((_, why)) = by_name.or_else(by_end) {
        return Some(why);
    }
    let mut holding = HOLDING.iter().filter(|(pattern, _, _)| name == *pattern);
    holding.clone().next()?;
    let content = plain_file::read(&folder.join(path), MAX_FILE).ok()??;
    let text = String::from_utf8_lossy(&content);
    holding.find_map(|(_, held, why)| text.contains(held).then_some(*why))
}
