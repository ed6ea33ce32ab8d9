//! What a harness's program says of itself: its version, and the options it knows.
//!
//! Nothing of this is a call: no model is asked, and nothing is spent.

use super::Finding;
use super::harness::environment;
use crate::errand;
use crate::harness::policy;
use crate::holder::{self, How, Wish};
use crate::home::expand_tilde;
use crate::setup::Setup;
use loop_core::harness::CalledHarness;
use loop_core::notice::Secrets;
use loop_core::profile::Profile;
use loop_core::text::{cut, without_controls};
use std::path::Path;
use std::time::Duration;

/// How long a program may think about its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Looks at the program of a harness that has a profile.
pub(super) fn checks(setup: &Setup, harness: &CalledHarness) -> Vec<Finding> {
    let Some(profile) = &harness.profile else {
        return Vec::new();
    };
    let name = &harness.name;
    let mut findings = Vec::new();
    if let Some(version) = profile.version() {
        match says(setup, harness, version.as_slice()) {
            Some(said) => {
                let line = said.lines().map(str::trim).find(|line| !line.is_empty());
                let line = cut(&without_controls(line.unwrap_or("")), 100);
                findings.push(Finding::ok("version", format!("{name}: {line}")));
            }
            // That it is missing is told already.
            None => return findings,
        }
        findings.extend(unknown_options(setup, harness, profile));
    }
    findings.extend(never_used(setup, harness));
    findings
}

/// An option that the program does not name in its help is gone, or was renamed.
fn unknown_options(setup: &Setup, harness: &CalledHarness, profile: &Profile) -> Option<Finding> {
    let is_word = |word: &&String| !word.starts_with('-') && !word.contains('{');
    let mut help: Vec<String> = harness
        .command
        .iter()
        .take_while(is_word)
        .cloned()
        .collect();
    help.push("--help".to_owned());
    let text = says(setup, harness, &help)?;
    let options = harness.command.iter().filter(|word| word.starts_with("--"));
    let missing: Vec<_> = options
        .map(|option| option.split('=').next().unwrap_or(option))
        .filter(|option| !option[2..].is_empty() && !text.contains(option))
        .collect();
    if missing.is_empty() {
        return None;
    }
    Some(Finding::warning(
        "options",
        format!(
            "{}: `{}` does not name {}",
            harness.name,
            help.join(" "),
            missing.join(", ")
        ),
        format!(
            "see what its version has instead: loop harness show {0}, and keep what is right as \
             templates/harnesses/{0}.json in the home",
            profile.name().as_str()
        ),
    ))
}

/// Who has logged in has left something in the tool's own folder.
fn never_used(setup: &Setup, harness: &CalledHarness) -> Option<Finding> {
    let profile = harness.profile.as_ref()?;
    let environment = environment(setup, &policy(&harness.env));
    let has_login =
        (environment.iter()).any(|(name, _)| name.to_str().is_some_and(Secrets::is_secret));
    let home = environment.get("HOME");
    let there = |dir: &String| expand_tilde(Path::new(dir), home).exists();
    if has_login || profile.state_dirs().is_empty() || profile.state_dirs().iter().any(there) {
        return None;
    }
    Some(Finding::warning(
        "login",
        format!(
            "{}: it was never used here ({} is not there), and no variable looks like a login",
            harness.name,
            profile.state_dirs().join(", ")
        ),
        format!(
            "log in with {}, or try it: loop harness test {}",
            harness.name,
            profile.name().as_str()
        ),
    ))
}

/// Returns what a command prints, if it ends well in time.
fn says(setup: &Setup, harness: &CalledHarness, argv: &[String]) -> Option<String> {
    // Doctor leaves nothing in the loop's folder.
    let folder = tempfile::tempdir().ok()?;
    let mut command = errand::command(setup, argv, setup.project.root(), "doctor", None);
    command.environment = environment(setup, &policy(&harness.env));
    command.stdout = folder.path().join("stdout");
    command.stderr = folder.path().join("stderr");
    command.step_lock = folder.path().join("lock");
    command.timeout = PATIENCE;
    let ended = holder::spawn(&command).ok()?.wait(|| Wish::GoOn).ok()?;
    if ended.how != How::Exited(0) {
        return None;
    }
    let mut said = Vec::new();
    for (captured, path) in [
        (&ended.stdout, &command.stdout),
        (&ended.stderr, &command.stderr),
    ] {
        captured.copy(path, &mut said).ok()?;
    }
    Some(String::from_utf8_lossy(&said).into_owned())
}
