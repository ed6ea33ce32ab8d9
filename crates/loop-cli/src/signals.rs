//! Signals to the engine: the first ends the running step with grace, the
//! second without.

use loop_runner::interrupt::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::thread;

/// Counts the signals that ask the engine to end.
pub(crate) fn interrupt() -> io::Result<Interrupt> {
    interrupt_and(|| {})
}

/// The same, and calls `wake` after each.
pub(crate) fn interrupt_and(wake: impl Fn() + Send + 'static) -> io::Result<Interrupt> {
    let interrupt = Interrupt::new();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let asked = interrupt.clone();
    thread::spawn(move || {
        for _signal in signals.forever() {
            asked.ask();
            wake();
        }
    });
    Ok(interrupt)
}
