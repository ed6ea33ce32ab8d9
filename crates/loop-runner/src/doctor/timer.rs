//! What a timer gives a tick, which is less than a shell does.

use super::Finding;
use crate::home::Home;
use crate::schedule::{Backend, Host, Standing, Timer, status};
use crate::setup::{Setup, Surroundings};
use std::ffi::{OsStr, OsString};

/// The search path of a timer that nobody has set another for.
const PATH: &str = "/usr/bin:/bin";
/// What a timer has from its user beside the path.
const KEPT: [&str; 3] = ["HOME", "LOGNAME", "USER"];

/// Returns the environment of a timer, the poorest that there is: cron's.
pub(super) fn environment(here: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let kept = here.iter().filter(|(name, _)| is_kept(name));
    let mut bare: Vec<_> = kept.cloned().collect();
    bare.push(("PATH".into(), PATH.into()));
    bare.push(("SHELL".into(), "/bin/sh".into()));
    bare
}

fn is_kept(name: &OsStr) -> bool {
    KEPT.iter().any(|kept| name == *kept)
}

/// Looks at what of the surroundings a timer does not have.
pub(super) fn checks(here: &Surroundings, bare: &Surroundings) -> Vec<Finding> {
    let mut found = vec![Finding::ok(
        "timer",
        format!("looked at with PATH={PATH}, without a terminal, as a bare timer has it"),
    )];
    let user_home = value(bare, "HOME");
    if user_home.is_none() {
        found.push(Finding::problem(
            "timer",
            "HOME is not set: an agent finds neither its settings nor its login",
            "set HOME where the timer is set up",
        ));
    }
    let project = here.project.root();
    let theirs = Home::find(None, user_home, project);
    if value(here, "AUTOMATON_HOME").is_some() && theirs.as_ref() != Ok(&here.home) {
        let home = here.home.root().display();
        found.push(Finding::warning(
            "timer",
            format!("AUTOMATON_HOME is set here, and a timer does not have it: {home}"),
            format!("set AUTOMATON_HOME={home} where the timer is set up"),
        ));
    }
    found
}

/// Returns what a timer of this loop has, and what is to be said of it: where `loop
/// schedule install` has put one, its own search path and home.
pub(super) fn of_loop(
    here: &Surroundings,
    bare: &Surroundings,
    name: &str,
) -> (Surroundings, Option<Finding>) {
    let unknown = || (bare.clone(), None);
    let (Ok(setup), Ok(program)) = (Setup::read(here, name), std::env::current_exe()) else {
        return unknown();
    };
    let Ok(timer) = Timer::of(&setup, &program) else {
        return unknown();
    };
    let host = Host::look(&here.environment);
    let standing = |backend| status(backend, Ok(&timer), &timer.unit, &host).ok();
    let all: Vec<_> = Backend::ALL.into_iter().filter_map(standing).collect();
    let is = |standing| all.iter().any(|status| status.standing == standing);
    if is(Standing::Current) {
        let mut around = bare.clone();
        for (name, value) in &timer.environment {
            around.environment.retain(|(known, _)| known != name);
            around.environment.push(((*name).into(), value.into()));
        }
        let said = "looked at with the PATH that its timer was installed with";
        return (around, Some(Finding::ok("timer", said)));
    }
    let install = format!("loop schedule install {name}");
    let said = if is(Standing::Stale) {
        "its timer is not what would be written now; looked at with the PATH of a bare one"
    } else {
        "it has no timer of ours, whose PATH would be yours; looked at with that of a bare one"
    };
    (bare.clone(), Some(Finding::warning("timer", said, install)))
}

fn value<'a>(around: &'a Surroundings, name: &str) -> Option<&'a OsStr> {
    let mut variables = around.environment.iter();
    let (_, value) = variables.find(|(known, value)| known == name && !value.is_empty())?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    // cases: 141, 142
    #[test]
    fn a_timer_has_little() {
        let here = [
            ("PATH", "/home/ada/.local/bin:/bin"),
            ("HOME", "/home/ada"),
            ("API_KEY", "k"),
            ("AUTOMATON_TRUST", "1"),
            ("TERM", "xterm"),
        ];
        let here: Vec<_> = here.map(|(name, value)| (name.into(), value.into())).into();
        let bare = environment(&here);
        let names: Vec<_> = bare
            .iter()
            .map(|(name, _)| name.to_str().unwrap())
            .collect();
        assert_eq!(names, ["HOME", "PATH", "SHELL"]);
        assert!(bare.contains(&("PATH".into(), PATH.into())));
    }
}
