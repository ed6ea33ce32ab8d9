//! What belongs to a child: how it is signaled, and how it is known to be gone.

use super::{Containment, How, supervise::Event};
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};
use std::{process::Child, sync::mpsc::Sender, thread};

#[cfg(target_os = "linux")]
use super::process::Process;
#[cfg(target_os = "linux")]
use rustix::process::{WaitOptions, wait};

/// What belongs to a child.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// All descendants of this process, which is a subreaper and has no other
    /// children: orphans come to it, so that it is without children exactly
    /// when nothing is left.
    #[cfg(target_os = "linux")]
    Descendants(Process),
    /// The child's process group.
    Group,
}

impl Scope {
    /// Reports to `events` the end of `child` and, if it can be known, of all.
    pub(super) fn watch(self, child: &Child, events: Sender<Event>) {
        let pid = Pid::from_child(child);
        thread::spawn(move || match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(_) => reap_all(pid, &events),
            Self::Group => await_exit(pid, &events),
        });
    }

    /// Sends a signal to all that is there.
    ///
    /// What is born meanwhile may be missed: repeat what must reach everyone.
    pub(super) fn signal(self, child: &Child, signal: Signal) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(this) => {
                for process in this.descendants() {
                    process.signal(signal);
                }
            }
            Self::Group => {
                // Fails only when the group is gone already.
                let _ = kill_process_group(Pid::from_child(child), signal);
            }
        }
    }

    /// Tells whether all is gone, given that the child is, where no
    /// [`Event::Empty`] tells it.
    ///
    /// The members of a group cannot be counted, so those that hold no pipe go
    /// unseen until [`close`](Self::close) kills them.
    pub(super) fn is_silently_empty(self, open_outputs: usize, killing: bool) -> bool {
        matches!(self, Self::Group) && (open_outputs == 0 || killing)
    }

    /// Does what is left to do at the end, and names what could not be ended.
    pub(super) fn close(self, child: &mut Child) -> Vec<u32> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(this) => this.descendants().into_iter().map(Process::pid).collect(),
            Self::Group => {
                // Before the reaping: while the leader is a zombie, the number
                // of the group cannot be another's.
                self.signal(child, Signal::KILL);
                match child.try_wait() {
                    Ok(Some(_)) => Vec::new(),
                    Ok(None) | Err(_) => vec![child.id()],
                }
            }
        }
    }

    pub(super) fn containment(self) -> Containment {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(_) => Containment::Holder,
            Self::Group => Containment::ProcessGroup,
        }
    }
}

/// Reaps the child and all orphans until there is none.
#[cfg(target_os = "linux")]
fn reap_all(child: Pid, events: &Sender<Event>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => {
                let how = ending(status.exit_status(), status.terminating_signal());
                let _ = events.send(Event::Exited(how));
            }
            Ok(_) | Err(Errno::INTR) => {}
            // ECHILD: nobody is left.
            Err(_) => break,
        }
    }
    // The supervisor may have given up.
    let _ = events.send(Event::Empty);
}

fn await_exit(child: Pid, events: &Sender<Event>) {
    let _ = events.send(Event::Exited(exit_of(child)));
}

/// Waits for a child's exit without reaping it.
pub(super) fn exit_of(child: Pid) -> How {
    let status = loop {
        match waitid(
            WaitId::Pid(child),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        ) {
            Err(Errno::INTR) => {}
            Ok(status) => break status,
            Err(_) => break None,
        }
    };
    let (code, signal) = status.map_or((None, None), |status| {
        (status.exit_status(), status.terminating_signal())
    });
    ending(code, signal)
}

fn ending(code: Option<i32>, signal: Option<i32>) -> How {
    match (code, signal) {
        (Some(code), _) => How::Exited(code),
        (None, Some(signal)) => How::Signaled(signal),
        // Only a process that someone else reaped ends unknown.
        (None, None) => How::Ended,
    }
}
