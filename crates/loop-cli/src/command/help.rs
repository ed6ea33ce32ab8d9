//! `loop help`: the eight commands that people need first, or all of them.

use crate::args::Cli;
use crate::failure::Failure;
use crate::show;
use clap::{Command, CommandFactory};
use loop_core::exit;

/// Prints help.
pub(crate) fn run(all: bool) -> Result<u8, Failure> {
    if !all {
        show::line(include_str!("../help.txt").trim_end());
        return Ok(exit::DONE);
    }
    show::line("Usage: loop COMMAND [--project DIR] [--quiet] [--color WHEN]\n");
    print(&Cli::command(), "");
    Ok(exit::DONE)
}

fn print(command: &Command, before: &str) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("{before}{}", sub.get_name());
        if sub.has_subcommands() {
            print(sub, &format!("{name} "));
        } else {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            show::line(format!("  {name:<18} {about}"));
        }
    }
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
        assert_eq!(named.len(), 9);
        for name in named {
            assert!(known.contains(&name), "{name}");
        }
        Cli::command().debug_assert();
    }
}
