//! Keys that are read, but whose feature this version of the engine does not have.
//!
//! A limit that is accepted and ignored is the worst kind of bug here, so a tick refuses a
//! configuration that asks for one.

use super::{Config, GitAccess, HarnessChoice, HarnessRef, PromptVia, Sandbox};

/// What a version of the engine enforces: everything but a list.
#[derive(Clone, Copy, Debug)]
pub struct Supported {
    missing: &'static [Missing],
}

/// A key that is not enforced, and whether a configuration gives it a value that asks for
/// something.
#[derive(Clone, Copy, Debug)]
enum Missing {
    /// A key at a fixed path.
    Key(&'static str, fn(&Config) -> bool),
    /// A key of every harness, or with an empty name the harness itself.
    Harness(&'static str, fn(&HarnessChoice) -> bool),
}

use Missing::{Harness, Key};

impl Supported {
    /// What this version enforces. A feature that is built takes its lines out.
    #[rustfmt::skip]
    pub const THIS_VERSION: Self = Self {
        missing: &[
            Harness("", |harness| matches!(harness, HarnessChoice::Fallbacks(_))),
            Harness("", |harness| matches!(harness, HarnessChoice::One(HarnessRef::Profile(_)))),
            Harness("profile", |h| described(h).is_some_and(|h| h.profile.is_some())),
            Harness("prompt_via", |h| described(h).is_some_and(|h| h.prompt_via() != PromptVia::Argv)),
            Key("brakes.max_tokens", |c| c.brakes().max_tokens().is_some()),
            Key("blast_radius.sandbox", |c| c.blast_radius().sandbox() != Sandbox::Off),
            Key("blast_radius.writable", |c| !c.blast_radius().writable().is_empty()),
            Key("blast_radius.deny_read", |c| !c.blast_radius().deny_read().is_empty()),
            Key("blast_radius.git", |c| c.blast_radius().git() != GitAccess::Read),
            Key("schedule.window", |c| c.schedule().is_some_and(|s| s.window.is_some())),
            Key("notify", |c| !c.notify().is_empty()),
        ],
    };
}

fn described(choice: &HarnessChoice) -> Option<&super::Harness> {
    match choice {
        HarnessChoice::One(harness) => harness.described(),
        HarnessChoice::Fallbacks(_) => None,
    }
}

impl Config {
    /// Returns the paths of the keys that ask for something `supported` does not have, in the
    /// order of the file's documentation. A value that asks for nothing, such as an empty list or
    /// `"off"`, is not among them.
    #[must_use]
    pub fn not_enforced(&self, supported: &Supported) -> Vec<String> {
        let mut paths = Vec::new();
        for missing in supported.missing {
            match missing {
                Key(path, is_set) if is_set(self) => paths.push((*path).to_owned()),
                Key(..) => {}
                Harness(name, is_set) => {
                    let set = self
                        .harnesses()
                        .into_iter()
                        .filter(|(_, harness)| is_set(harness));
                    let joint = if name.is_empty() { "" } else { "." };
                    paths.extend(set.map(|(path, _)| format!("{path}{joint}{name}")));
                }
            }
        }
        paths
    }

    /// Returns every harness that is named or described, with its path.
    fn harnesses(&self) -> Vec<(String, &HarnessChoice)> {
        let own = self.roles().all().filter_map(|(name, role)| {
            Some((format!("roles.{name}.harness"), role?.harness.as_ref()?))
        });
        let shared = self
            .harness()
            .map(|harness| ("harness".to_owned(), harness));
        own.chain(shared).collect()
    }
}
