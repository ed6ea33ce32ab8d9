//! Parts of the engine that take long, and what keeps them from their end.

use super::Driver;
use super::perform::since;
use crate::holder::Wish;
use crate::store::HeldError;
use crate::workplace::Unready;
use loop_core::StepAnswer;
use loop_core::outcome::Interruption;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often a step inside the engine looks at requests and signals.
const POLL: Duration = Duration::from_millis(100);

impl Driver<'_> {
    /// Runs a part of the engine on a thread of its own, so that requests and
    /// signals are looked at meanwhile. Returns what it gave and how long it took.
    pub(super) fn in_thread<T: Send>(
        &mut self,
        work: impl FnOnce(&AtomicBool) -> T + Send,
    ) -> (T, u64) {
        let started = self.setup.clock.monotonic();
        let stop = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            let (send, receive) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped when the work is over, however it is over.
                let _send = send;
                work(&stop)
            });
            while receive.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if self.poll() != Wish::GoOn {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join()
        });
        let elapsed = since(&*self.setup.clock, started);
        match done {
            Ok(done) => (done, elapsed),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Says what ended a step. A store that broke is no signal: it ends the
    /// whole call, and the next one finds the step open.
    pub(super) fn interrupted(&mut self) -> Result<StepAnswer, HeldError> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let by = self.stopping().unwrap_or(Interruption::Signal);
        Ok(StepAnswer::Interrupted(by))
    }

    /// Turns what kept a part of the engine from its end into the answer.
    pub(super) fn ready<T>(
        &mut self,
        made: Result<T, Unready>,
    ) -> Result<Result<T, StepAnswer>, HeldError> {
        match made {
            Ok(made) => Ok(Ok(made)),
            Err(unready) => self.unready(unready).map(Err),
        }
    }

    pub(super) fn unready(&mut self, unready: Unready) -> Result<StepAnswer, HeldError> {
        match unready {
            Unready::Fault(fault) => Ok(StepAnswer::Failed(fault)),
            Unready::Stopped => self.interrupted(),
        }
    }
}
