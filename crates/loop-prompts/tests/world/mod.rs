//! A loop's folder and a home for the tests of resolving and preparing.

#![allow(dead_code, reason = "each test binary uses its part")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use loop_prompts::{Job, Prepared, PromptName, Resolver, Role, Values};
use tempfile::TempDir;

/// A loop's folder and a framework home, both empty.
pub(crate) struct World {
    pub(crate) dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir_all(world.in_loop("")).unwrap();
        fs::create_dir_all(world.in_home("")).unwrap();
        world
    }

    pub(crate) fn in_loop(&self, name: &str) -> PathBuf {
        self.dir.path().join("loops/L").join(name)
    }

    pub(crate) fn in_home(&self, name: &str) -> PathBuf {
        self.dir.path().join("home/prompts").join(name)
    }

    pub(crate) fn resolver(&self) -> Resolver {
        Resolver::new(self.in_loop(""), self.dir.path().join("home"))
    }

    pub(crate) fn prepare(&self, prompt_ref: &str, values: &Values<'_>) -> Prepared {
        self.resolver().prepare(&job(prompt_ref, values)).unwrap()
    }

    /// Lists what is in `outputs/`, or `None` if there is no such folder.
    pub(crate) fn outputs(&self) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.in_loop("outputs")).ok()?;
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        Some(names)
    }
}

pub(crate) fn job<'a>(prompt_ref: &'a str, values: &'a Values<'a>) -> Job<'a> {
    let role = values.role().unwrap_or(Role::Implement);
    Job {
        prompt_ref: Some(prompt_ref),
        name: PromptName::new(1, role),
        values,
        addendum: None,
    }
}

pub(crate) fn put(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    fs::write(path, text).unwrap();
}
