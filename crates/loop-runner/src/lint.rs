//! What is allowed in a loop and yet most likely a mistake.

use crate::harness::{HarnessSettings, role_config};
use crate::setup::Setup;
use crate::tasks::ReadError;
use loop_core::Role;
use loop_prompts::{CommandToken, Resolution, Resolver};

/// The roles that a loop calls, in the order of a tick.
#[must_use]
pub fn called_roles(setup: &Setup) -> Vec<Role> {
    let mut roles = vec![Role::Implement, Role::Verify];
    if setup.config.roles().orchestrate.is_some() {
        roles.push(Role::Orchestrate);
    }
    roles
}

/// Lists the prompts that a loop names and nobody has.
#[must_use]
pub fn missing_prompts(setup: &Setup) -> Vec<(Role, String)> {
    let resolver = Resolver::new(setup.dir.root(), setup.home.root());
    called_roles(setup)
        .into_iter()
        .filter_map(|role| {
            let prompt = role_config(&setup.config, role)?.prompt.clone()?;
            let found = matches!(resolver.find(&prompt).result, Resolution::Found { .. });
            (!found).then_some((role, prompt))
        })
        .collect()
}

/// Says in words what a person should look at before a tick spends anything.
#[must_use]
pub fn suspicions(setup: &Setup) -> Vec<String> {
    let mut found: Vec<String> = missing_prompts(setup)
        .into_iter()
        .map(|(role, prompt)| format!("roles.{}.prompt: there is no {prompt}", role.as_str()))
        .collect();
    found.extend(
        called_roles(setup)
            .into_iter()
            .filter_map(|role| sends_nothing(setup, role)),
    );
    if let Some(task) = &setup.config.work_source().task
        && let Err(ReadError::Missing { .. }) = setup.tasks.read(task.as_str())
    {
        found.push(format!(
            "work_source.task: there is no task {}",
            task.as_str()
        ));
    }
    found
}

/// A role that has a prompt, and a command that never hands it over.
fn sends_nothing(setup: &Setup, role: Role) -> Option<String> {
    role_config(&setup.config, role)?.prompt.as_ref()?;
    let command = HarnessSettings::of(&setup.config, role).command;
    let sends = |element: &String| {
        CommandToken::Prompt.is_in(element) || CommandToken::PromptContent.is_in(element)
    };
    (!command.iter().any(sends)).then(|| {
        format!(
            "the command of {} hands no prompt over: it has neither {{prompt}} nor {{prompt_content}}",
            role.as_str()
        )
    })
}
