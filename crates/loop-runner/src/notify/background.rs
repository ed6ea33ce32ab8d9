//! Messages that are sent while the next tick of the same process runs.

use super::{Messages, report};
use crate::interrupt::Interrupt;
use crate::setup::Setup;
use crate::watch::Watch;
use loop_core::notice::Notice;
use std::thread::{self, JoinHandle};

/// Sends messages beside the ticks of a run, which must not wait for them.
#[derive(Debug, Default)]
pub struct Background {
    sending: Vec<JoinHandle<Vec<String>>>,
}

impl Background {
    /// Starts to tell of `notices`.
    pub fn tell(&mut self, setup: &Setup, notices: &[Notice], interrupt: &Interrupt) {
        let messages = Messages::new(setup, notices);
        if messages.is_empty() {
            return;
        }
        let interrupt = interrupt.clone();
        self.sending
            .push(thread::spawn(move || messages.send(&interrupt)));
    }

    /// Waits until everybody was told, and says who was not.
    pub fn finish(self, setup: &Setup, watch: &mut dyn Watch) {
        let told = self.sending.into_iter();
        let failures: Vec<_> = told
            .flat_map(|thread| {
                let lost = |_| vec!["notify: a message was lost".to_owned()];
                thread.join().unwrap_or_else(lost)
            })
            .collect();
        report(setup, &failures, watch);
    }
}
