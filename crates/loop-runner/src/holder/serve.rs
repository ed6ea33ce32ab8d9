//! The holder's own life.

use super::{
    Command, Ended,
    error::Refusal,
    lock::{Owner, StepLock},
    process::Process,
    protocol::{Order, Report, send},
    scope::Scope,
    supervise::{Ask, Event, Supervisor},
    tee::Tee,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{getpid, set_child_subreaper, setsid},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
    io::{self, BufRead},
    path::Path,
    process::ExitCode,
    sync::mpsc::Sender,
    thread,
};

/// Runs one command for the engine at the other end of stdin and stdout.
pub(super) fn serve() -> ExitCode {
    match hold() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads it: either the engine is gone or this is not its doing.
        Err(_) => ExitCode::FAILURE,
    }
}

fn hold() -> io::Result<()> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let Order::Start(job) = serde_json::from_str(&line)? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let (program, command) = job.into_parts();
    let report = match hold_command(&program, &command) {
        Ok(ended) => Report::Ended(Box::new(ended)),
        Err(refusal) => Report::Refused(refusal),
    };
    send(&mut io::stdout(), &report)
}

/// Takes the lock, makes sure that the engine is there, and only then starts.
///
/// In this order an engine that finds the lock free knows that no command of an
/// earlier engine will ever start: its holder finds the pipe closed.
fn hold_command(program: &Path, command: &Command) -> Result<Ended, Refusal> {
    let this = enclose().map_err(Refusal::io("hold a command"))?;
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(Refusal::io("handle signals"))?;
    let mut lock = StepLock::take(&command.step_lock, command.lock_patience, engine_is_there)?;
    let owner = Owner::Holder {
        pid: this.pid(),
        start: this.start(),
    };
    lock.sign(owner).map_err(Refusal::io(format!(
        "write {}",
        command.step_lock.display()
    )))?;
    if !engine_is_there() {
        return Err(Refusal::EngineGone);
    }
    let _guard = PanicGuard(this);
    // The engine has the other end of this stream where it wants to hear.
    let tee = command.heard.then(|| Box::new(io::stderr()) as Tee);
    let supervisor = Supervisor::start(program, command, Scope::Descendants(this), tee)?;
    obey_signals(signals, supervisor.sender());
    obey_engine(supervisor.sender());
    let pid = supervisor.pid();
    // If the engine has gone, its orders end and with them the command.
    drop(send(&mut io::stdout(), &Report::Started { pid }));
    let ended = supervisor.run();
    // The engine may start its next step as soon as it knows.
    drop(lock);
    Ok(ended)
}

/// Kills what is left if this process panics: nobody else could find it.
struct PanicGuard(Process);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.kill_descendants();
        }
    }
}

/// Leaves the engine's session and becomes the parent of all orphans.
fn enclose() -> io::Result<Process> {
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    Process::find(std::process::id()).ok_or_else(|| io::Error::other("/proc is not readable"))
}

/// Tells whether anyone has the other end of stdin.
fn engine_is_there() -> bool {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // A hang-up is reported whether asked for or not.
    match poll(&mut fds, Some(&now)) {
        Ok(_) => !fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR),
        Err(_) => false,
    }
}

fn obey_signals(mut signals: Signals, events: Sender<Event>) {
    thread::spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::Ask(Ask::End)).is_err() {
                break;
            }
        }
    });
}

fn obey_engine(events: Sender<Event>) {
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let ask = match line.map(|line| serde_json::from_str(&line)) {
                Ok(Ok(Order::Kill)) => Ask::Kill,
                _ => Ask::End,
            };
            if events.send(Event::Ask(ask)).is_err() {
                return;
            }
        }
        let _ = events.send(Event::Ask(Ask::End));
    });
}
