//! `loop completions`: what a shell needs to complete commands and options.

use crate::args::{Cli, shown};
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use loop_core::exit;
use std::io::{self, Write};

/// Prints the script for a shell.
pub(crate) fn run(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut shown(Cli::command()), "loop", &mut script);
    // A reader that is gone needs no script.
    let _gone = io::stdout().write_all(&script);
    Ok(exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_knows_the_commands_and_not_the_hidden_ones() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            generate(*shell, &mut shown(Cli::command()), "loop", &mut script);
            let script = String::from_utf8(script).unwrap();
            for command in ["start", "list", "worktree", "--from-template"] {
                let named = script.contains(command.trim_start_matches('-'));
                assert!(named, "{shell}: {command}");
            }
            assert!(!script.contains("__demo-agent"), "{shell}");
        }
    }
}
