//! Keys that are read, but whose feature this version of the engine does not have.
//!
//! A limit that is accepted and ignored is the worst kind of bug here, so a tick refuses a
//! configuration that asks for one.

use super::{Config, GitAccess, Sandbox};

/// What a version of the engine enforces: everything but a list.
#[derive(Clone, Copy, Debug)]
pub struct Supported {
    missing: &'static [Missing],
}

/// The path of a key that is not enforced, and whether a configuration gives it a value
/// that asks for something.
type Missing = (&'static str, fn(&Config) -> bool);

impl Supported {
    /// What this version enforces. A feature that is built takes its lines out.
    #[rustfmt::skip]
    pub const THIS_VERSION: Self = Self {
        missing: &[
            ("blast_radius.sandbox", |c| c.blast_radius().sandbox() != Sandbox::Off),
            ("blast_radius.writable", |c| !c.blast_radius().writable().is_empty()),
            ("blast_radius.deny_read", |c| !c.blast_radius().deny_read().is_empty()),
            ("blast_radius.git", |c| c.blast_radius().git() != GitAccess::Read),
        ],
    };
}

impl Config {
    /// Returns the paths of the keys that ask for something `supported` does not have, in the
    /// order of the file's documentation. A value that asks for nothing, such as an empty list or
    /// `"off"`, is not among them.
    #[must_use]
    pub fn not_enforced(&self, supported: &Supported) -> Vec<String> {
        let asked = supported.missing.iter().filter(|(_, is_set)| is_set(self));
        asked.map(|(path, _)| (*path).to_owned()).collect()
    }
}
