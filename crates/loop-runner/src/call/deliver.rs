//! How a prompt reaches a harness, and what can be known to stand in its way.

use crate::holder::Stdin;
use loop_core::Usd;
use loop_core::answer::StepFault;
use loop_core::config::PromptVia;
use loop_core::harness::CalledHarness;
use loop_core::outcome::EnvironmentFault;
use loop_core::step::Budget;
use std::path::Path;

/// The token that puts the whole prompt into an argument.
const INLINE: &str = "{prompt_content}";

/// Checks what a profile knows of its program, before anything is spent.
///
/// A prompt that starts with `-` is an option to most programs. Under the
/// default command that is certain, elsewhere it may be meant (decision D-8).
pub(super) fn check(
    harness: &CalledHarness,
    content: &str,
    warnings: &mut Vec<String>,
) -> Result<(), StepFault> {
    let name = &harness.name;
    let inline = harness.command.iter().any(|e| e.contains(INLINE));
    let most = harness.profile.as_ref().map(|p| p.max_prompt_bytes());
    if let Some(most) = most.filter(|most| inline && content.len() as u64 > *most) {
        let what = format!(
            "the prompt has {} bytes, and `{name}` takes {most} in an argument",
            content.len()
        );
        return Err(unsendable(EnvironmentFault::PromptTooLarge, what));
    }
    let bare = harness.command.iter().any(|element| element == INLINE);
    if !(bare && content.starts_with('-')) {
        return Ok(());
    }
    if harness.refuses_dash() {
        let whose = if harness.is_default {
            "the default harness".to_owned()
        } else {
            format!("`{name}`")
        };
        let what = format!("the prompt starts with `-`, which {whose} takes for an option");
        return Err(unsendable(EnvironmentFault::PromptUnsendable, what));
    }
    warnings.push("the prompt starts with `-`; the harness may take it for an option".to_owned());
    Ok(())
}

fn unsendable(reason: EnvironmentFault, what: String) -> StepFault {
    StepFault::Environment {
        reason,
        what,
        until: None,
    }
}

/// Returns what the harness reads from its standard input.
pub(super) fn stdin(harness: &CalledHarness, content: &str) -> Stdin {
    match harness.prompt_via {
        PromptVia::Stdin => Stdin::Bytes(content.as_bytes().to_vec()),
        PromptVia::Argv | PromptVia::File => Stdin::Null,
    }
}

/// Returns the command with its tokens, and with the option that keeps the harness
/// itself inside what is left of the cost cap, where it has one.
pub(super) fn command(harness: &CalledHarness, budget: Budget) -> Vec<String> {
    let mut command = harness.command.clone();
    let flag = harness.profile.as_ref().and_then(|p| p.max_usd_flag());
    let (Some(flag), Some(left)) = (flag, budget.usd) else {
        return command;
    };
    // The limit of the loop stands above one of the command's own.
    let joined = format!("{flag}=");
    let mut has_one = false;
    for at in 0..command.len() {
        if command[at].starts_with(&joined) {
            command[at] = format!("{joined}{left}");
            has_one = true;
        } else if command[at] == flag && at + 1 < command.len() {
            command[at + 1] = left.to_string();
            has_one = true;
        }
    }
    // Behind the program, as what follows may be the end of the options; another program
    // in front of it would not know the option.
    if !has_one && is_program(harness, &command) {
        command.splice(1..1, [flag.to_owned(), left.to_string()]);
    }
    command
}

/// Returns the option by which a harness would keep itself inside the cost cap, if its
/// command leaves no place for it.
pub(crate) fn limit_without_place(harness: &CalledHarness) -> Option<&str> {
    let flag = harness.profile.as_ref().and_then(|p| p.max_usd_flag())?;
    let budget = Budget {
        usd: Some(Usd::default()),
        tokens: None,
    };
    let given = command(harness, budget);
    let has_it = given.iter().any(|element| {
        element == flag
            || element
                .strip_prefix(flag)
                .is_some_and(|rest| rest.starts_with('='))
    });
    (!has_it).then_some(flag)
}

/// Whether a command begins with the program that the profile is about.
fn is_program(harness: &CalledHarness, command: &[String]) -> bool {
    let name = |first: Option<&String>| {
        let path = Path::new(first?);
        path.file_name().map(ToOwned::to_owned)
    };
    let profile = harness.profile.as_ref();
    let own = profile.and_then(|profile| name(profile.command().as_slice().first()));
    own.is_some() && own == name(command.first())
}
