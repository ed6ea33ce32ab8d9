//! Commands under a holder, with real processes.
//!
//! The test binary is the engine of most tests and the holder of all, so its
//! `main` begins like that of any program that embeds the crate.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "clippy knows tests only by the standard runner's attribute"
)]

mod ending;
mod engine;
mod output;
mod runner;
mod start;
mod support;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, folder, script] = &arguments[..]
        && mode == "engine-without-holder"
    {
        return support::play_engine(folder.as_ref(), script);
    }
    if let Some(code) = loop_runner::holder::main_if_holder() {
        return code;
    }
    if let [mode, folder, script] = &arguments[..]
        && mode == "engine"
    {
        return support::play_engine(folder.as_ref(), script);
    }
    if let [mode, folder, script] = &arguments[..]
        && mode == "engine-of-two"
    {
        return support::play_engine_of_two(folder.as_ref(), script);
    }
    runner::run(
        &arguments,
        &[ending::TESTS, engine::TESTS, output::TESTS, start::TESTS],
    )
}
