//! One loop, from its configuration to its record.

use super::{Exam, Finding, Report, Severity, gate, harness, state};
use crate::call::limit_without_place;
use crate::causes::with_causes;
use crate::lint::{called_roles, suspicions};
use crate::preview;
use crate::setup::{Setup, Surroundings};
use crate::trust::{self, Untrusted};
use std::collections::BTreeMap;

pub(super) fn check(name: &str, exam: &Exam<'_>, around: &Surroundings, report: &mut Report) {
    let setup = match Setup::read(around, name) {
        Ok(setup) => setup,
        Err(error) => {
            report.config_is_wrong = true;
            let mend = format!("mend it; loop validate {name} checks it");
            let wrong = Finding::problem("config", with_causes(&error), mend);
            report.findings.push(wrong.of_loop(name));
            return;
        }
    };
    let mut found = vec![config(&setup), trusted(&setup)];
    report.config_is_wrong |= found[0].severity == Severity::Problem;
    found.extend(brakes(&setup));
    found.extend(limits(&setup));
    found.extend(worktree(&setup));
    found.extend(harness::harness_checks(&setup));
    found.extend(harness::program_checks(&setup));
    if exam.as_scheduled {
        found.extend(harness::timer_checks(&setup, exam.around));
    }
    found.extend(prompts(&setup));
    let (recorded, snapshot) = state::checks(&setup);
    found.extend(recorded);
    if let Some(snapshot) = snapshot {
        found.extend(state::waits(&setup.name, &snapshot.state));
        found.extend(gate::checks(&setup, &snapshot.state));
    }
    let found = found.into_iter().map(|finding| finding.of_loop(name));
    report.findings.extend(found);
}

/// Whether a tick would take the configuration: every limit in it holds.
fn config(setup: &Setup) -> Finding {
    match setup.check_runnable() {
        Ok(()) => Finding::ok("config", "it is right, and every limit in it holds"),
        Err(error) => Finding::problem(
            "config",
            with_causes(&error),
            format!("mend it; loop validate {} checks it", setup.name),
        ),
    }
}

fn trusted(setup: &Setup) -> Finding {
    let name = &setup.name;
    let agree = format!("see what it starts: loop trust {name} --show; then: loop trust {name}");
    match trust::check(setup) {
        Ok(()) => Finding::ok("trust", "what it starts may be started"),
        Err(error @ Untrusted::Unknown(_)) => Finding::problem(
            "trust",
            with_causes(&error),
            format!(
                "rm {}; then: loop trust",
                trust::path(&setup.home).display()
            ),
        ),
        Err(error) => Finding::problem("trust", with_causes(&error), agree),
    }
}

/// Says in words which caps are off (decision D-3).
fn brakes(setup: &Setup) -> Vec<Finding> {
    let name = &setup.name;
    let mend =
        format!("give it one under brakes in loop.json; loop config {name} shows what holds");
    let needs = "a cap needs a profile that reports it (loop harness list), for cost at least an \
                 estimate in harness.cost_per_call_usd";
    let untold = |words: &str| words.starts_with("cost") && words.ends_with("reports none");
    let off = setup.config.uncapped(&setup.harnesses).into_iter();
    off.map(|words| match untold(&words) {
        true => Finding::warning("brakes", words, needs),
        false => Finding::warning("brakes", words, mend.clone()),
    })
    .collect()
}

/// Says which harnesses cannot be told of the cost cap, so that it holds only between their calls.
fn limits(setup: &Setup) -> Vec<Finding> {
    if setup.config.brakes().max_cost().is_none() {
        return Vec::new();
    }
    let roles = called_roles(setup).into_iter();
    let harnesses = roles.flat_map(|role| setup.harnesses.of_role(role));
    let mut told = BTreeMap::new();
    for harness in harnesses {
        if let Some(flag) = limit_without_place(harness) {
            told.insert(&harness.name, flag);
        }
    }
    told.into_iter()
        .map(|(harness, flag)| {
            Finding::warning(
                "brakes",
                format!("{flag} cannot be given to `{harness}`: the cost cap holds between its calls only"),
                format!("begin its command with the program itself, or write {flag} into it"),
            )
        })
        .collect()
}

/// A loop that works in a worktree needs a commit to begin from.
fn worktree(setup: &Setup) -> Option<Finding> {
    if !setup.config.blast_radius().use_worktree() {
        return None;
    }
    let root = setup.project.root().display();
    let commit = setup
        .repository
        .as_ref()
        .and_then(|repository| repository.head().ok()?.commit);
    commit.is_none().then(|| {
        Finding::problem(
            "worktree",
            "it works in a worktree, and the project has no commit to make one from",
            format!("git -C {root} init, and commit something"),
        )
    })
}

fn prompts(setup: &Setup) -> Vec<Finding> {
    let see = format!("see more: loop prompt check {}", setup.name);
    let mut found: Vec<_> = suspicions(setup)
        .into_iter()
        .map(|what| Finding::warning("prompts", what, "mend what it names"))
        .collect();
    for role in called_roles(setup) {
        let checked = match preview::check(setup, role) {
            Ok(checked) => checked,
            Err(error) => {
                let why = format!("{}: {}", role.as_str(), with_causes(&error));
                found.push(Finding::problem("prompts", why, see.clone()));
                continue;
            }
        };
        for finding in checked.findings {
            let why = format!("{}: {finding}", role.as_str());
            found.extend(match finding.kind.severity() {
                loop_prompts::Severity::Error => {
                    Some(Finding::problem("prompts", why, see.clone()))
                }
                loop_prompts::Severity::Warning => {
                    Some(Finding::warning("prompts", why, see.clone()))
                }
                loop_prompts::Severity::Note => None,
            });
        }
    }
    if found.is_empty() {
        found.push(Finding::ok("prompts", "nothing is wrong with them"));
    }
    found
}
