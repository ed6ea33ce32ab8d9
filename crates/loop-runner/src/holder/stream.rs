//! The pipes between a child and the process that supervises it.

use super::{Captured, capture::Capture, supervise::Event, tee::Tee};
use std::os::fd::AsFd;
use std::{
    io::{self, ErrorKind, Read, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    thread,
    time::Instant,
};

/// The room of a child's pipe: what Linux gives to everyone, in bytes.
#[cfg(target_os = "linux")]
const PIPE: usize = 1024 * 1024;
/// How much is read from a pipe at once: as much as a pipe holds.
const CHUNK: usize = 64 * 1024;

/// One of a child's output streams.
#[derive(Clone)]
pub(super) struct Stream(Arc<Mutex<State>>);

struct State {
    /// Absent once the stream is finished.
    capture: Option<Capture>,
    heard: Instant,
}

impl Stream {
    /// Creates the file that the stream goes to.
    pub(super) fn create(path: &Path, cap: u64) -> io::Result<Self> {
        let state = State {
            capture: Some(Capture::create(path, cap)?),
            heard: Instant::now(),
        };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Reads `from` on a thread of its own until all its writers have closed it, and hands
    /// it on to `tee`, as long as that takes it.
    ///
    /// Some agents exit with bytes in hand that the pipe had no room for, and these are
    /// lost: so it gets as much room as the system gives.
    pub(super) fn follow(
        &self,
        mut from: impl Read + AsFd + Send + 'static,
        mut tee: Option<Tee>,
        events: Sender<Event>,
    ) {
        #[cfg(target_os = "linux")]
        let _as_it_is = rustix::pipe::fcntl_setpipe_size(&from, PIPE);
        let stream = self.clone();
        thread::spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) => {
                        stream.push(&buffer[..length]);
                        // Not while the stream is locked: the listener may take its time.
                        if tee
                            .as_mut()
                            .is_some_and(|tee| tee.write_all(&buffer[..length]).is_err())
                        {
                            tee = None;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Nobody listens any more if the supervisor gave up on the stream.
            let _ = events.send(Event::Closed);
        });
    }

    /// Returns when the last byte came, or when the stream was created.
    pub(super) fn heard(&self) -> Instant {
        self.state().heard
    }

    /// Completes the file; what comes later is lost.
    pub(super) fn finish(&self) -> Captured {
        let capture = self.state().capture.take();
        capture.map(Capture::finish).unwrap_or_default()
    }

    fn push(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.heard = Instant::now();
        if let Some(capture) = &mut state.capture {
            capture.push(bytes);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes `bytes` on a thread of its own, so that a child that reads nothing
/// blocks nobody.
pub(super) fn feed(mut to: impl Write + Send + 'static, bytes: Vec<u8>) {
    thread::spawn(move || {
        // A closed pipe means that the child has read what it wanted.
        drop(to.write_all(&bytes));
    });
}
