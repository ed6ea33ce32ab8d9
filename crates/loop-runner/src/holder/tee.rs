//! A child's standard output, handed on as it comes.
//!
//! What is captured is bounded, so that it cannot tell what a long call has used in
//! its middle. Whoever has to know hears everything here, and keeps what it needs.

use std::{
    io::{self, ErrorKind, Read, Write},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

/// How many pieces may wait for the listener; beyond them the child waits.
const PIECES: usize = 64;
/// The longest piece, in bytes.
const PIECE: usize = 64 * 1024;

/// Where a supervisor hands its child's output on to.
pub(super) type Tee = Box<dyn Write + Send>;

/// Makes a listener's two ends.
pub(super) fn channel() -> (Pieces, Receiver<Vec<u8>>) {
    let (sender, receiver) = sync_channel(PIECES);
    (Pieces(sender), receiver)
}

/// The end that is spoken into. It fails when nobody listens any more.
pub(super) struct Pieces(SyncSender<Vec<u8>>);

impl Pieces {
    /// Hands all that `from` has to say on, on a thread of its own.
    #[cfg(target_os = "linux")]
    pub(super) fn relay(mut self, mut from: impl Read + Send + 'static) {
        thread::spawn(move || {
            let mut buffer = vec![0; PIECE];
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) if self.write_all(&buffer[..length]).is_ok() => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => break,
                }
            }
        });
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        let sent = self.0.send(piece.to_vec());
        sent.map_err(|_| ErrorKind::BrokenPipe)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
