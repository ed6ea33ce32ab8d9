//! What a timer gives a tick, which is less than a shell does.

use super::Finding;
use crate::home::Home;
use crate::setup::Surroundings;
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
        format!("looked at with PATH={PATH}, without a terminal, as a timer has it"),
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
