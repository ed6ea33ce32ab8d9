//! `loop help`: the commands that people need first, or all of them.

use crate::args::Cli;
use crate::failure::Failure;
use crate::show;
use clap::{Command, CommandFactory};
use loop_core::exit;

/// The four groups, and the commands in each. What is named nowhere is for setting
/// up.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Start",
        &["demo", "create", "tick", "start", "run", "iterate"],
    ),
    (
        "Watch",
        &[
            "list",
            "show",
            "log",
            "diff",
            "audit",
            "task list",
            "task show",
            "worktree list",
        ],
    ),
    (
        "Decide",
        &[
            "approve",
            "pause",
            "resume",
            "stop",
            "set-task",
            "task create",
            "task transition",
            "task approve",
            "worktree prune",
            "gate freeze",
        ],
    ),
    ("Set up", &[]),
];

/// Prints help.
pub(crate) fn run(all: bool, named: &[String]) -> Result<u8, Failure> {
    if !named.is_empty() {
        return explain(named);
    }
    if !all {
        show::line(include_str!("../help.txt").trim_end());
        return Ok(exit::DONE);
    }
    show::line("Usage: loop COMMAND [--project DIR] [--quiet] [--color WHEN]");
    let mut commands = Vec::new();
    list(&Cli::command(), "", &mut commands);
    for (heading, _) in GROUPS {
        show::line(format!("\n{heading}"));
        for (name, about) in commands.iter().filter(|(name, _)| group(name) == heading) {
            show::line(format!("  {name:<18} {about}"));
        }
    }
    Ok(exit::DONE)
}

/// Explains one command, as its `--help` does.
fn explain(named: &[String]) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    for name in named {
        let sub = command.find_subcommand(name).cloned();
        command = sub.ok_or_else(|| {
            let named = named.join(" ");
            Failure::usage(format!(
                "there is no command `{named}`; see: loop help --all"
            ))
        })?;
    }
    show::line(command.render_help().to_string().trim_end());
    Ok(exit::DONE)
}

/// Lists every command with what it does.
fn list(command: &Command, before: &str, commands: &mut Vec<(String, String)>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("{before}{}", sub.get_name());
        if sub.has_subcommands() {
            list(sub, &format!("{name} "), commands);
        } else {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            commands.push((name, about));
        }
    }
}

fn group(command: &str) -> &'static str {
    let named = GROUPS.iter().find(|(_, names)| names.contains(&command));
    named.map_or("Set up", |(heading, _)| heading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_names_commands_that_exist() {
        let command = Cli::command();
        let known: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        let named: Vec<_> = include_str!("../help.txt")
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(named.len(), 10);
        for name in named {
            assert!(known.contains(&name), "{name}");
        }
        Cli::command().debug_assert();
    }

    // rows: D-14
    #[test]
    fn the_groups_name_commands_that_exist_and_none_twice() {
        let mut commands = Vec::new();
        list(&Cli::command(), "", &mut commands);
        let mut named: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        for name in &named {
            assert!(commands.iter().any(|(known, _)| known == *name), "{name}");
        }
        named.sort_unstable();
        named.dedup();
        let all: usize = GROUPS.iter().map(|(_, names)| names.len()).sum();
        assert_eq!(named.len(), all);
    }
}
