//! `loop harness`: the profiles of agents.

use crate::args::{HarnessChoice, HarnessCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::config::{Argv, Harness, HarnessRef, ProfileName};
use loop_core::exit;
use loop_core::profile::Profile;
use loop_runner::profiles::{self, Found};
use loop_runner::trial::{CheckResult, Trial, TrialError};
use serde_json::json;
use std::sync::Arc;

pub(crate) fn run(context: &Context, command: &HarnessCommand) -> Result<u8, Failure> {
    match command {
        HarnessCommand::List(args) => list(context, args.json),
        HarnessCommand::Show { profile } => show(context, profile),
        HarnessCommand::Test {
            profile,
            offline,
            json,
        } => test(context, profile, *offline, *json),
    }
}

/// Reads `--harness` and `--harness-command`.
pub(super) fn choice(given: &HarnessChoice) -> Result<Option<HarnessRef>, Failure> {
    if let Some(name) = &given.harness {
        let name = (name.parse::<ProfileName>())
            .map_err(|error| Failure::usage(format!("--harness: {error}")))?;
        return Ok(Some(HarnessRef::Profile(name)));
    }
    let Some(command) = &given.harness_command else {
        return Ok(None);
    };
    let command: Argv = serde_json::from_str(command).map_err(|error| {
        Failure::usage(format!(
            "--harness-command: {error}; give a JSON array such as [\"my-agent\",\"{{prompt}}\"]"
        ))
    })?;
    let harness = Harness::of_command(command);
    Ok(Some(HarnessRef::Described(Box::new(harness))))
}

fn list(context: &Context, json: bool) -> Result<u8, Failure> {
    let found = find(context)?;
    if json {
        let profiles: Vec<_> = (found.profiles.values())
            .map(|profile| {
                json!({
                    "name": profile.name(),
                    "program": program(profile),
                    "installed": is_installed(context, profile),
                    "prompt_via": profile.prompt_via(),
                    "reports_cost": profile.reports_cost(),
                    "reports_tokens": profile.reports_tokens(),
                    "file": found.files.get(profile.name()),
                })
            })
            .collect();
        let broken: Vec<_> = found.broken.values().collect();
        show::json(&json!({"v": 1, "profiles": profiles, "broken": broken}))?;
        return Ok(exit::DONE);
    }
    let width = found.profiles.keys().map(|name| name.as_str().len()).max();
    for profile in found.profiles.values() {
        let reports = match (profile.reports_cost(), profile.reports_tokens()) {
            (true, true) => "reports cost and tokens",
            (true, false) => "reports cost",
            (false, true) => "reports tokens, not cost",
            (false, false) => "reports neither cost nor tokens",
        };
        let missing = match is_installed(context, profile) {
            true => String::new(),
            false => format!("; `{}` is not installed", program(profile)),
        };
        let file = found.files.get(profile.name());
        let file = file.map_or_else(String::new, |path| format!("; {}", path.display()));
        let name = format!(
            "{:width$}",
            profile.name().as_str(),
            width = width.unwrap_or(0)
        );
        show::line(format!("{name}  {reports}{missing}{file}"));
    }
    for what in found.broken.values() {
        show::warning(what);
    }
    Ok(exit::DONE)
}

/// Prints the profile as it is read: a start for one of the user's own.
fn show(context: &Context, name: &str) -> Result<u8, Failure> {
    let found = find(context)?;
    match profiles::text(&found, name) {
        Some(Ok(text)) => {
            show::line(text.trim_end());
            Ok(exit::DONE)
        }
        Some(Err(error)) => Err(Failure::of(&error)),
        None => Err(unknown(&found, name)),
    }
}

/// Tries a profile out, a line for each check.
fn test(context: &Context, name: &str, offline: bool, json: bool) -> Result<u8, Failure> {
    context.person_only("try a harness out")?;
    let found = find(context)?;
    let known = found
        .profiles
        .iter()
        .find(|(known, _)| known.as_str() == name);
    let (_, profile) = known.ok_or_else(|| unknown(&found, name))?;
    let interrupt = signals::interrupt().map_err(|error| Failure::of(&error))?;
    let trial = Trial {
        home: &context.around.home,
        environment: &context.around.environment,
        profile: Arc::clone(profile),
        offline,
    };
    let mut unsaid = None;
    let well = trial.run(&interrupt, &mut |finding| {
        if json {
            let line = json!({
                "v": 1,
                "check": finding.check.as_str(),
                "result": word(finding.result),
                "what": finding.what,
            });
            unsaid = show::json(&line).err();
        } else {
            let (result, check) = (word(finding.result), finding.check.as_str());
            show::line(format!("{result:<7} {check:<12}  {}", finding.what));
        }
    });
    match (well, unsaid) {
        (Ok(_), _) if interrupt.asked() > 0 => Ok(exit::INTERRUPTED),
        (Ok(_), Some(failure)) => Err(failure),
        (Ok(true), None) => Ok(exit::DONE),
        (Ok(false), None) => Ok(exit::FAILED),
        (Err(error @ TrialError::NoProgram { .. }), _) => {
            Err(Failure::with(exit::ENVIRONMENT, error.to_string()))
        }
        (Err(error), _) => Err(Failure::of(&error)),
    }
}

fn word(result: CheckResult) -> &'static str {
    match result {
        CheckResult::Passed => "ok",
        CheckResult::Failed => "failed",
        CheckResult::Skipped => "skipped",
    }
}

fn unknown(found: &Found, name: &str) -> Failure {
    if let Some(what) = found.broken(name) {
        return Failure::usage(what);
    }
    let known: Vec<_> = found.profiles.keys().map(ProfileName::as_str).collect();
    Failure::failed(format!(
        "there is no harness profile `{name}`; there are {}",
        known.join(", ")
    ))
}

fn find(context: &Context) -> Result<Found, Failure> {
    profiles::find(&context.around.home).map_err(|error| Failure::of(&error))
}

fn program(profile: &Profile) -> &str {
    profile
        .command()
        .as_slice()
        .first()
        .map_or("", String::as_str)
}

fn is_installed(context: &Context, profile: &Profile) -> bool {
    profiles::program(&context.around.environment, profile).is_some()
}
