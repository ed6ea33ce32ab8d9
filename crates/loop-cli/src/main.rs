//! The `loop` command: arguments in, text or JSON out.

mod app;
mod args;
mod command;
mod context;
mod failure;
mod log_file;
mod show;
mod signals;
mod span;
mod terminal;
mod width;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A harness is started by this same program; see loop_runner::holder.
    loop_runner::holder::main_if_holder().unwrap_or_else(app::run)
}
