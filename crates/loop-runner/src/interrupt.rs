//! How a signal to the engine reaches a running tick.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the signals that ask the engine to end. Clones count together.
///
/// The program that embeds the driver has the signal handlers; each signal calls
/// [`Interrupt::ask`].
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signals: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Makes one that nothing has asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the end once more. The first time, the running step is ended
    /// with grace; the second time, without.
    pub fn ask(&self) {
        self.signals.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how often the end was asked for.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.signals.load(Ordering::Relaxed)
    }
}
