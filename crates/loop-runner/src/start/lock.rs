//! One foreground driver of a loop at a time.
//!
//! The loop's own lock is held for a tick; between two ticks a second driver could
//! make the next one as well.

use crate::store::{LoopDir, open_to_write};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};

/// The name of the file, in the loop's folder.
const FILE: &str = ".start.lock";

/// The lock while it is held. The kernel frees it when its process ends.
#[derive(Debug)]
pub(super) struct StartLock {
    _file: File,
}

/// Why a driver does not get it.
#[derive(Debug)]
pub(super) enum NotOurs {
    /// Another one has it: its process, if it said so.
    Held(Option<u32>),
    /// The system refused.
    Io(io::Error),
}

impl StartLock {
    pub(super) fn acquire(dir: &LoopDir) -> Result<Self, NotOurs> {
        let path = dir.root().join(FILE);
        let mut file =
            open_to_write(&path, OpenOptions::new().read(true).write(true)).map_err(NotOurs::Io)?;
        match file.try_lock() {
            Ok(()) => {
                leave_number(&mut file).map_err(NotOurs::Io)?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => Err(NotOurs::Held(number(&mut file))),
            Err(TryLockError::Error(error)) => Err(NotOurs::Io(error)),
        }
    }
}

/// Leaves our number for people; the lock does not depend on it.
fn leave_number(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn number(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
