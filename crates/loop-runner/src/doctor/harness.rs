//! Whether the programs of a loop are there, and what they are given.

use super::{Finding, tool};
use crate::errand;
use crate::harness::policy;
use crate::holder::{Environment, Place, Policy, StartError};
use crate::lint::called_roles;
use crate::setup::{Setup, Surroundings};
use crate::trust;
use loop_core::Role;
use loop_core::harness::CalledHarness;
use loop_core::notice::Secrets;

/// Looks at the harnesses of each role that is called: is the program found, and may
/// it be executed, in the environment that the role's calls get; and where a profile
/// says how, which version it is, and whether it knows the options that it is called
/// with.
pub(super) fn harness_checks(setup: &Setup) -> Vec<Finding> {
    let mut findings = Vec::new();
    let trusted = trust::check(setup).is_ok();
    let mut asked: Vec<&[String]> = Vec::new();
    for role in called_roles(setup) {
        for harness in setup.harnesses.of_role(role) {
            findings.push(harness_check(setup, role, harness));
            // Several roles often have the same one.
            // And what nobody has agreed to is not even asked for its version.
            if trusted && !asked.contains(&&*harness.command) {
                asked.push(&harness.command);
                findings.extend(tool::checks(setup, harness));
            }
        }
    }
    findings
}

fn harness_check(setup: &Setup, role: Role, harness: &CalledHarness) -> Finding {
    let program = &harness.command[..harness.command.len().min(1)];
    let mut command = errand::command(setup, program, setup.project.root(), "doctor", None);
    command.environment = environment(setup, &policy(&harness.env));
    let name = role.as_str();
    let whose = match &harness.profile {
        Some(profile) => format!(", by the profile {}", profile.name().as_str()),
        None if harness.is_default => ", the default as harness.command names none".to_owned(),
        None => String::new(),
    };
    match command.preflight() {
        Ok(path) => Finding::ok("harness", format!("{name}: {}{whose}", path.display())),
        Err(error) => Finding::problem(
            "harness",
            format!("{name}: {error}{whose}"),
            mend(&error, &command.environment, "harness.command"),
        ),
    }
}

/// Looks at every other program that the configuration names.
pub(super) fn program_checks(setup: &Setup) -> Vec<Finding> {
    let config = &setup.config;
    let source = config.work_source();
    let gate = config.gate();
    let mut programs = vec![
        ("gate.command".to_owned(), gate.map(|gate| &gate.command)),
        (
            "gate.setup".to_owned(),
            gate.and_then(|gate| gate.setup.as_ref()),
        ),
        (
            "blast_radius.setup".to_owned(),
            config.blast_radius().setup.as_ref(),
        ),
        ("work_source.command".to_owned(), source.command.as_ref()),
        (
            "work_source.done_command".to_owned(),
            source.done_command.as_ref(),
        ),
    ];
    for (index, notify) in config.notify().iter().enumerate() {
        programs.push((format!("notify[{index}].command"), Some(&notify.command)));
    }
    programs
        .into_iter()
        .filter_map(|(key, argv)| Some((key, argv?)))
        .map(|(key, argv)| {
            let program = &argv.as_slice()[..1];
            let folder = setup.project.root();
            let command = errand::command(setup, program, folder, "doctor", None);
            match command.preflight() {
                Ok(path) => Finding::ok("program", format!("{key}: {}", path.display())),
                Err(error) => Finding::problem(
                    "program",
                    format!("{key}: {error}"),
                    mend(&error, &command.environment, &key),
                ),
            }
        })
        .collect()
}

fn mend(error: &StartError, environment: &Environment, key: &str) -> String {
    match error {
        StartError::ProgramNotFound { .. } => {
            let path = environment.get("PATH").unwrap_or_default();
            format!(
                "install it, or give {key} its whole path; PATH is {}",
                path.display()
            )
        }
        StartError::NotExecutable { path } => format!("chmod +x {}", path.display()),
        _ => format!("mend {key} in loop.json"),
    }
}

pub(super) fn environment(setup: &Setup, policy: &Policy) -> Environment {
    Environment::new(setup.environment.iter().cloned(), policy, &place_of(setup))
}

fn place_of(setup: &Setup) -> Place {
    Place {
        loop_name: setup.name.clone().into(),
        role: None,
        tick: None,
        project: setup.kept_in.root().into(),
        home: setup.home.root().into(),
        diff: None,
    }
}

/// Names the variables that a harness is given here, and would not be given by a
/// timer: those that its configuration asks for, and those that look like a login.
pub(super) fn timer_checks(setup: &Setup, here: &Surroundings) -> Vec<Finding> {
    let mut missing: Vec<String> = Vec::new();
    let harnesses = called_roles(setup).into_iter();
    for harness in harnesses.flat_map(|role| setup.harnesses.of_role(role)) {
        let policy = policy(&harness.env);
        let bare = environment(setup, &policy);
        let full = Environment::new(here.environment.iter().cloned(), &policy, &place_of(setup));
        let wanted = |name: &str| {
            let asked = policy.pass.iter().flatten().any(|pass| pass == name);
            asked || Secrets::is_secret(name)
        };
        let lost = full
            .iter()
            .filter(|(name, _)| bare.get(name).is_none())
            .filter_map(|(name, _)| name.to_str())
            .filter(|name| wanted(name))
            .map(str::to_owned);
        missing.extend(lost);
    }
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        return Vec::new();
    }
    let names = missing.join(", ");
    vec![Finding::warning(
        "timer",
        format!("a harness is given these here, and a timer does not have them: {names}"),
        "set them where the timer is set up, or let the harness find its login in its own files",
    )]
}
