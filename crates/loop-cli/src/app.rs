//! From arguments to an exit code.

use crate::args::{Cli, Color, Command};
use crate::command;
use crate::context::Context;
use crate::failure::Failure;
use crate::log_file;
use crate::show;
use clap::Parser;
use clap::error::ErrorKind;
use loop_core::exit;
use std::process::ExitCode;

/// Runs the command that was typed.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let code = dispatch(&cli).unwrap_or_else(|failure| {
        show::error(&failure);
        failure.code
    });
    let code = match code {
        exit::DONE if show::is_unsaid() => {
            show::error(&Failure::failed("cannot write to standard output"));
            exit::FAILED
        }
        code => code,
    };
    ExitCode::from(code)
}

/// Shows help on standard output, and a wrong usage on standard error.
fn usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // The reader may be gone; there is nobody left to tell.
            let _gone = error.print();
        }
        _ => {
            let text = error.render().to_string();
            show::error(&Failure::usage(what_is_wrong(&text)));
            let usage = text.lines().find(|line| line.starts_with("Usage:"));
            if let Some(usage) = usage {
                show::note(usage);
            }
        }
    }
    ExitCode::from(if error.use_stderr() {
        exit::USAGE
    } else {
        exit::DONE
    })
}

/// Takes from clap's paragraphs what is wrong, and its tip, as one line.
fn what_is_wrong(text: &str) -> String {
    let mut paragraphs = text.split("\n\n").map(show::one_line);
    let wrong = paragraphs.next().unwrap_or_default();
    let wrong = wrong.strip_prefix("error: ").unwrap_or(&wrong);
    let tip = paragraphs.find_map(|text| text.strip_prefix("tip: ").map(str::to_owned));
    match tip {
        Some(tip) => format!("{wrong}; {tip}"),
        None => wrong.to_owned(),
    }
}

fn dispatch(cli: &Cli) -> Result<u8, Failure> {
    match &cli.command {
        Command::Demo => return command::demo::run(cli.quiet),
        Command::DemoAgent { prompt } => return command::demo::agent::run(prompt),
        Command::Help { all, command } => return command::help::run(*all, command),
        Command::Schema { of } => return command::schema::run(*of),
        Command::Completions { shell } => return command::completions::run(*shell),
        Command::Man { folder } => return command::man::run(folder.as_deref()),
        _ => {}
    }
    if let Command::Tick(args) = &cli.command
        && let Some(log) = &args.log
    {
        log_file::take_over(log);
    }
    let context = Context::new(cli)?;
    match &cli.command {
        Command::Init(args) => command::init::run(&context, args),
        Command::Create(args) => command::create::run(&context, args),
        Command::Tick(args) => command::tick::run(&context, args),
        Command::Start(args) => command::start::run(&context, args),
        Command::Run(args) => command::run::run(&context, args),
        Command::Iterate(args) => command::run::iterate(&context, args),
        Command::List(args) => command::list::run(&context, args),
        Command::Show(args) => command::show::run(&context, args),
        Command::Log(args) => command::log::run(&context, args),
        Command::Diff(args) => command::diff::run(&context, args),
        Command::Approve(args) => command::ask::approve(&context, args),
        Command::Pause(args) => command::ask::pause(&context, args),
        Command::Resume(args) => command::ask::resume(&context, args),
        Command::Stop(args) => command::ask::stop(&context, args),
        Command::SetTask(args) => command::ask::set_task(&context, args),
        Command::Task(task) => command::task::run(&context, task),
        Command::Schedule(schedule) => command::schedule::run(&context, schedule),
        Command::Worktree(worktree) => command::worktree::run(&context, worktree),
        Command::Audit(args) => command::audit::run(&context, args),
        Command::Gate(gate) => command::gate::run(&context, gate),
        Command::Harness(harness) => command::harness::run(&context, harness),
        Command::Prompt(prompt) => command::prompt::run(&context, prompt),
        Command::Doctor(args) => command::doctor::run(&context, args),
        Command::Trust(args) => command::trust::run(&context, args),
        Command::Validate(args) => command::validate::run(&context, args),
        Command::Config(args) => command::config::run(&context, args),
        Command::Demo
        | Command::DemoAgent { .. }
        | Command::Help { .. }
        | Command::Schema { .. }
        | Command::Completions { .. }
        | Command::Man { .. } => Ok(exit::DONE),
    }
}
