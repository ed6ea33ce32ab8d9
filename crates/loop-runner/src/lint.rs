//! What is allowed in a loop and yet most likely a mistake.

use crate::harness::role_config;
use crate::setup::Setup;
use crate::tasks::ReadError;
use loop_core::Role;
use loop_core::config::PromptVia;
use loop_core::harness::CalledHarness;
use loop_prompts::{CommandToken, Resolution, Resolver};
use std::fs;

/// The roles that a loop calls, in the order of a tick.
#[must_use]
pub fn called_roles(setup: &Setup) -> Vec<Role> {
    let mut roles = Vec::new();
    if setup.config.roles().plan.is_some() {
        roles.push(Role::Plan);
    }
    roles.push(Role::Implement);
    if setup.config.has_judge() {
        roles.push(Role::Verify);
    }
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
    found.extend(left_out_of_worktrees(setup).map(str::to_owned));
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

/// A worktree gets no submodules, and filtered files as they are stored; a
/// set-up command can bring both.
fn left_out_of_worktrees(setup: &Setup) -> Option<&'static str> {
    let blast_radius = setup.config.blast_radius();
    if !blast_radius.use_worktree() || blast_radius.setup.is_some() {
        return None;
    }
    let top = setup.repository.as_ref()?.top_level()?;
    if top.join(".gitmodules").is_file() {
        return Some(
            "the repository has submodules, which are empty in a worktree; set blast_radius.setup",
        );
    }
    let attributes = fs::read_to_string(top.join(".gitattributes")).unwrap_or_default();
    attributes.contains("filter=").then_some(
        "the repository filters files, as Git LFS does; a worktree has them as they are stored; \
         set blast_radius.setup",
    )
}

/// A role that has a prompt, and a command that never hands it over.
fn sends_nothing(setup: &Setup, role: Role) -> Option<String> {
    role_config(&setup.config, role)?.prompt.as_ref()?;
    let sends = |harness: &CalledHarness| {
        harness.prompt_via == PromptVia::Stdin
            || harness.command.iter().any(|element| {
                CommandToken::Prompt.is_in(element) || CommandToken::PromptContent.is_in(element)
            })
    };
    (!setup.harnesses.of_role(role).iter().all(sends)).then(|| {
        format!(
            "the command of {} hands no prompt over: it has neither {{prompt}} nor \
             {{prompt_content}}, and prompt_via is not \"stdin\"",
            role.as_str()
        )
    })
}
