//! Processes as `/proc` shows them.

use super::supervise::KILL_LIMIT;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::{
    collections::HashSet,
    fs, thread,
    time::{Duration, Instant},
};

/// How often killing is repeated.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// A process that cannot be mistaken for a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: Pid,
    /// When it started, in clock ticks since boot.
    start: u64,
}

impl Process {
    /// Finds the process that has the number `pid` now.
    pub(super) fn find(pid: u32) -> Option<Self> {
        let pid = to_pid(pid)?;
        Entry::read(pid).map(|entry| entry.process)
    }

    /// Names a process that may be gone, from what was noted about it.
    pub(super) fn noted(pid: u32, start: u64) -> Option<Self> {
        let pid = to_pid(pid)?;
        Some(Self { pid, start })
    }

    pub(super) fn pid(self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn start(self) -> u64 {
        self.start
    }

    /// Sends a signal; does nothing if the process is gone.
    pub(super) fn signal(self, signal: Signal) {
        // The descriptor pins whatever has the number now; only after that can
        // looking at the start time tell that it is still this process.
        let Ok(pinned) = pidfd_open(self.pid, PidfdFlags::empty()) else {
            return;
        };
        if Entry::read(self.pid).is_some_and(|entry| entry.process == self) {
            // It may have ended meanwhile, or be another user's; whoever waits
            // for its end has a deadline.
            let _ = pidfd_send_signal(pinned, signal);
        }
    }

    /// Lists the living descendants.
    ///
    /// `/proc` is not read at one instant: a process that is born or whose
    /// parent dies meanwhile may be missed, so repeat until none is left.
    pub(super) fn descendants(self) -> Vec<Self> {
        Entry::family([self.pid], Entry::all())
            .into_iter()
            .filter(|entry| !entry.dead)
            .map(|entry| entry.process)
            .collect()
    }
}

impl Process {
    /// Kills the descendants, then the process itself.
    ///
    /// In this order: without their ancestor they could not be told from other
    /// processes.
    pub(super) fn kill_family(self) {
        self.kill_descendants();
        self.signal(Signal::KILL);
    }

    /// Kills the descendants until none is left, or gives up after a while.
    pub(super) fn kill_descendants(self) {
        end_all(
            || self.descendants(),
            |process| process.signal(Signal::KILL),
        );
    }
}

/// Ends what `list` finds until it finds nothing, or gives up after a while.
pub(super) fn end_all<T>(list: impl Fn() -> Vec<T>, end: impl Fn(T)) {
    let give_up = Instant::now() + KILL_LIMIT;
    loop {
        let left = list();
        if left.is_empty() || Instant::now() >= give_up {
            return;
        }
        left.into_iter().for_each(&end);
        thread::sleep(KILL_AGAIN);
    }
}

/// What is needed of one `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) process: Process,
    pub(super) parent: Option<Pid>,
    /// Absent if its leader is not visible from here.
    pub(super) session: Option<Pid>,
    /// It has no thread that could do anything.
    pub(super) dead: bool,
}

impl Entry {
    /// Finds the descendants of `ancestors` among `others`.
    pub(super) fn family(ancestors: impl IntoIterator<Item = Pid>, others: Vec<Self>) -> Vec<Self> {
        let mut family: HashSet<Pid> = ancestors.into_iter().collect();
        let (mut found, mut others) = (Vec::new(), others);
        loop {
            let (children, rest): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|entry| entry.parent.is_some_and(|parent| family.contains(&parent)));
            if children.is_empty() {
                return found;
            }
            family.extend(children.iter().map(|entry| entry.process.pid));
            found.extend(children);
            others = rest;
        }
    }

    pub(super) fn all() -> Vec<Self> {
        let Ok(folders) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        folders
            .flatten()
            .filter_map(|folder| parse_pid(folder.file_name().to_str()?))
            .filter_map(Self::read)
            .collect()
    }

    pub(super) fn read(pid: Pid) -> Option<Self> {
        let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Self::parse(pid, &String::from_utf8_lossy(&stat))
    }

    /// Reads the line that proc_pid_stat(5) describes.
    fn parse(pid: Pid, stat: &str) -> Option<Self> {
        // Field 2, the name, may hold spaces and parentheses.
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            process: Process {
                pid,
                start: field(22)?.parse().ok()?,
            },
            parent: field(4).and_then(parse_pid),
            session: field(6).and_then(parse_pid),
            // A zombie with several threads is one whose first thread has ended
            // before the others.
            dead: matches!(field(3)?, "Z" | "X" | "x") && matches!(field(20)?, "0" | "1"),
        })
    }
}

/// Reads a process number; of a process that vanishes just now, numbers are -1.
fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(to_pid)
}

fn to_pid(number: u32) -> Option<Pid> {
    number.try_into().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_line_with_an_odd_name_is_read() {
        let pid = Pid::from_raw(42).unwrap();
        let line = "42 (a) S 1 (b) Z 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3\n";
        let entry = Entry::parse(pid, line).unwrap();
        assert_eq!(
            entry,
            Entry {
                process: Process { pid, start: 98_765 },
                parent: Pid::from_raw(7),
                session: Pid::from_raw(9),
                dead: true,
            }
        );
        let vanishing = "42 (a) X -1 -1 -1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3\n";
        let entry = Entry::parse(pid, vanishing).unwrap();
        assert_eq!((entry.parent, entry.session), (None, None));
        assert_eq!(Entry::parse(pid, "42 (cut) S 1 2"), None);
        assert_eq!(Entry::parse(pid, ""), None);
    }

    #[test]
    fn a_process_with_another_start_is_not_signaled() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let process = Process::find(child.id()).unwrap();
        let impostor = Process {
            start: process.start + 1,
            ..process
        };
        impostor.signal(Signal::KILL);
        assert_eq!(child.try_wait().unwrap(), None);
        process.signal(Signal::KILL);
        assert!(!child.wait().unwrap().success());
    }
}
