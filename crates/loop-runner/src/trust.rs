//! Whether this user has agreed to what a loop starts.
//!
//! A loop that came with a clone names programs, and nobody has looked at them. So
//! nothing of it is started until its user has said `loop trust`. What was agreed
//! to is kept in the framework home, by the project's path and the loop's name: a
//! digest of all that the loop's configuration starts or lets an agent reach. What
//! this user makes on this machine (`loop create`, `loop run`) is agreed to by
//! making it. A later change, by whomever, needs a new word.
//!
//! The digest is taken over the configuration without what starts nothing (see
//! [`starts`]): caps, texts, paths to look at. A brake that was raised after a stop
//! needs no second word. Prompts, briefs and the project's own code are not in it:
//! an agent and a gate act on the whole of a project, which no digest can stand
//! for, and whoever has to agree to every edit agrees to anything.

mod file;
mod pinned;

pub use file::TrustError;
pub use pinned::starts;

use crate::home::Home;
use crate::project::Project;
use crate::setup::{Setup, Surroundings};
use file::{Granted, Grants};
use loop_core::config::Config;
use pinned::Pinned;
use std::ffi::OsString;

/// The variable by which an environment trusts every loop of the project, as a
/// job does that has just made its own checkout and home. Only `1` counts, and no
/// child of the engine has it.
pub const VARIABLE: &str = "AUTOMATON_TRUST";

/// How a loop stands with this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// What it starts was agreed to.
    Trusted,
    /// Nobody has agreed to it on this machine.
    New,
    /// It starts something else than what was agreed to.
    Changed {
        /// What it starts now and did not, a line each.
        added: Vec<String>,
        /// What it no longer starts.
        gone: Vec<String>,
    },
}

/// Why nothing of a loop may be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untrusted {
    /// Nobody has agreed to it on this machine.
    #[error("nobody has agreed on this machine to what `{name}` starts")]
    New {
        /// The loop.
        name: String,
    },
    /// It starts something else than what was agreed to.
    #[error("what `{name}` starts is not what was agreed to{}", first(added, gone))]
    Changed {
        /// The loop.
        name: String,
        /// What it starts now and did not, a line each.
        added: Vec<String>,
        /// What it no longer starts.
        gone: Vec<String>,
    },
    /// What was agreed to cannot be read.
    #[error(transparent)]
    Unknown(#[from] TrustError),
}

/// Names the first thing that was changed; `loop trust --show` has them all.
fn first(added: &[String], gone: &[String]) -> String {
    match (added.first(), gone.first()) {
        (Some(line), _) => format!("; now: {line}"),
        (None, Some(line)) => format!("; no longer: {line}"),
        (None, None) => "; a value that is not shown was changed".to_owned(),
    }
}

/// Tells how a loop stands, whatever the environment says.
///
/// # Errors
///
/// [`TrustError`] when what was agreed to cannot be read.
pub fn standing(setup: &Setup) -> Result<Standing, TrustError> {
    standing_of(&setup.home, &setup.kept_in, &setup.name, &setup.config)
}

fn standing_of(
    home: &Home,
    project: &Project,
    name: &str,
    config: &Config,
) -> Result<Standing, TrustError> {
    let grants = Grants::read(home)?;
    let now = Pinned::of(config);
    let Some(granted) = grants.of(project.root(), name) else {
        return Ok(Standing::New);
    };
    if granted.digest == now.digest {
        return Ok(Standing::Trusted);
    }
    let without = |lines: &[String], others: &[String]| {
        let lines = lines.iter().filter(|line| !others.contains(line));
        lines.cloned().collect()
    };
    Ok(Standing::Changed {
        added: without(&now.lines, &granted.starts),
        gone: without(&granted.starts, &now.lines),
    })
}

/// Checks that something of a loop may be started: this user has agreed to it, or
/// the environment trusts the project ([`VARIABLE`]).
///
/// # Errors
///
/// [`Untrusted`]; fails closed when what was agreed to cannot be read.
pub fn check(setup: &Setup) -> Result<(), Untrusted> {
    if by_environment(&setup.environment) {
        return Ok(());
    }
    let name = setup.name.clone();
    match standing(setup)? {
        Standing::Trusted => Ok(()),
        Standing::New => Err(Untrusted::New { name }),
        Standing::Changed { added, gone } => Err(Untrusted::Changed { name, added, gone }),
    }
}

/// Whether something of the loop called `name` may be started, for those who have
/// read no more of it than its configuration.
#[must_use]
pub fn holds(around: &Surroundings, name: &str, config: &Config) -> bool {
    by_environment(&around.environment)
        || standing_of(&around.home, &around.project, name, config)
            .is_ok_and(|standing| standing == Standing::Trusted)
}

fn by_environment(environment: &[(OsString, OsString)]) -> bool {
    let mut variables = environment.iter();
    variables.any(|(name, value)| name == VARIABLE && value == "1")
}

/// Keeps that `by` agrees to what the loop starts now. A program that makes its
/// loops itself calls this for each.
///
/// # Errors
///
/// [`TrustError`] when that cannot be read or written.
pub fn trust(setup: &Setup, by: &str) -> Result<(), TrustError> {
    let Pinned { digest, lines } = Pinned::of(&setup.config);
    let granted = Granted {
        digest,
        starts: lines,
        by: by.to_owned(),
        at: setup.clock.now(),
    };
    Grants::change(&setup.home, |grants| {
        grants.put(setup.kept_in.root(), &setup.name, granted);
    })
}

/// Returns the file that holds what was agreed to.
#[must_use]
pub fn path(home: &Home) -> std::path::PathBuf {
    file::path(home)
}
