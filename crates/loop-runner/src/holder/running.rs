//! The engine's view of a command.

use super::{
    Command, Containment, Ended, StartError, WaitError,
    error::Refusal,
    lock::{Owner, StepLock},
    scope::Scope,
    supervise::{Ask, Event, KILL_LIMIT, Supervisor, after},
    tee::{self, Pieces, Tee},
};
use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

#[cfg(target_os = "linux")]
use super::remote::Holder;

/// How often the caller is asked for its wish.
const POLL: Duration = Duration::from_millis(100);
/// How much later than its limits say a holder may report.
const SLACK: Duration = Duration::from_secs(30);

/// What the caller of [`Running::wait`] wants, from the mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// The command goes on.
    GoOn,
    /// The command ends: SIGTERM to all of it, and SIGKILL after its grace.
    End,
    /// The command ends without grace.
    Kill,
}

/// A command that has been started.
///
/// Dropped, it ends the command and blocks until it is gone.
#[must_use = "dropping it ends the command"]
#[derive(Debug)]
pub struct Running {
    link: Link,
    news: Receiver<News>,
    output: Option<Receiver<Vec<u8>>>,
    pid: u32,
    program: PathBuf,
    timeout: Duration,
    grace: Duration,
    over: bool,
}

/// What comes from the holder, or from the thread that stands in for it.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "the thread only tells the end")
)]
pub(super) enum News {
    Started { pid: u32 },
    Refused(Refusal),
    Ended(Box<Ended>),
    Lost(WaitError),
}

#[derive(Debug)]
enum Link {
    #[cfg(target_os = "linux")]
    Holder(Holder),
    Thread(Sender<Event>),
}

/// Starts a command under a holder, or, in a program that has not called
/// [`main_if_holder`](super::main_if_holder), in a process group of its own.
///
/// Returns when the command has been started. That takes up to the command's
/// `lock_patience` if an earlier step is still alive, else an instant.
///
/// # Errors
///
/// Returns a [`StartError`] if nothing of the command has been run.
pub fn spawn(command: &Command) -> Result<Running, StartError> {
    let program = command.preflight()?;
    let (heard, output) = command.heard.then(tee::channel).unzip();
    let Started { link, news, pid } = start(&program, command, heard)?;
    Ok(Running {
        link,
        news,
        output,
        pid,
        program,
        timeout: command.timeout,
        grace: command.grace,
        over: false,
    })
}

impl Running {
    /// Returns the child's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the file that was executed.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns what the child writes to its standard output, in pieces as they come,
    /// if the command is [`heard`](Command::heard) and nobody has asked before.
    ///
    /// The child waits for a listener that is too slow, and goes on without one that is
    /// dropped. The pieces end soon after the command.
    pub fn output(&mut self) -> Option<Receiver<Vec<u8>>> {
        self.output.take()
    }

    /// Returns what is ended together with the child.
    pub fn containment(&self) -> Containment {
        match self.link {
            #[cfg(target_os = "linux")]
            Link::Holder(_) => Containment::Holder,
            Link::Thread(_) => Containment::ProcessGroup,
        }
    }

    /// Waits until everything of the command is gone, also when its holder was
    /// killed. Only what SIGKILL does not end in ten seconds may be left, and
    /// without a holder what has left the process group.
    ///
    /// `poll` is called at least every 200 ms and says whether the command may
    /// go on. Once it has said that it may not, that stands.
    ///
    /// # Errors
    ///
    /// Returns a [`WaitError`] if the holder was killed or hung, so that what
    /// became of the command is not known.
    pub fn wait(mut self, mut poll: impl FnMut() -> Wish) -> Result<Ended, WaitError> {
        let mut asked = Wish::GoOn;
        let mut give_up = after(self.timeout.saturating_add(self.last_resort()));
        loop {
            if let Some(end) = self.next(POLL) {
                return end;
            }
            let wish = poll();
            if wish > asked {
                asked = wish;
                self.link.ask(if wish == Wish::Kill {
                    Ask::Kill
                } else {
                    Ask::End
                });
                give_up = give_up.min(after(self.last_resort()));
            }
            if Instant::now() >= give_up {
                self.destroy();
                return Err(WaitError::HolderHung);
            }
        }
    }

    /// Waits up to `patience` for the command's end.
    fn next(&mut self, patience: Duration) -> Option<Result<Ended, WaitError>> {
        let end = match self.news.recv_timeout(patience) {
            Ok(News::Ended(ended)) => Ok(*ended),
            Ok(News::Lost(error)) => Err(error),
            Err(RecvTimeoutError::Disconnected) => Err(WaitError::HolderHung),
            Ok(_) | Err(RecvTimeoutError::Timeout) => return None,
        };
        self.over = true;
        Some(end)
    }

    /// Ends the command in spite of its supervisor, and waits until that is done.
    fn destroy(&mut self) {
        self.link.destroy();
        let give_up = after(KILL_LIMIT);
        while !self.over && Instant::now() < give_up {
            drop(self.next(POLL));
        }
        self.over = true;
    }

    /// How long an end may take that has begun.
    fn last_resort(&self) -> Duration {
        self.grace.saturating_add(KILL_LIMIT + SLACK)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        self.link.hang_up();
        let give_up = after(self.last_resort());
        while self.next(POLL).is_none() {
            if Instant::now() >= give_up {
                return self.destroy();
            }
        }
    }
}

struct Started {
    link: Link,
    news: Receiver<News>,
    pid: u32,
}

#[cfg(target_os = "linux")]
fn start(program: &Path, command: &Command, heard: Option<Pieces>) -> Result<Started, StartError> {
    match Containment::available() {
        Containment::Holder => start_holder(program, command, heard),
        Containment::ProcessGroup => start_here(program, command, heard),
    }
}

#[cfg(not(target_os = "linux"))]
fn start(program: &Path, command: &Command, heard: Option<Pieces>) -> Result<Started, StartError> {
    start_here(program, command, heard)
}

#[cfg(target_os = "linux")]
fn start_holder(
    program: &Path,
    command: &Command,
    heard: Option<Pieces>,
) -> Result<Started, StartError> {
    let (holder, news) = Holder::start(program, command, heard)?;
    match news.recv_timeout(command.lock_patience.saturating_add(SLACK)) {
        Ok(News::Started { pid }) => {
            let link = Link::Holder(holder);
            Ok(Started { link, news, pid })
        }
        Ok(News::Refused(refusal)) => Err(refusal.into_start_error(program, command)),
        Ok(_) | Err(_) => {
            holder.destroy();
            // Told when nothing is left.
            drop(news.recv_timeout(KILL_LIMIT));
            Err(StartError::HolderFailed)
        }
    }
}

/// Runs the command under this process itself, on a thread.
fn start_here(
    program: &Path,
    command: &Command,
    heard: Option<Pieces>,
) -> Result<Started, StartError> {
    let refused = |refusal: Refusal| refusal.into_start_error(program, command);
    let mut lock =
        StepLock::take(&command.step_lock, command.lock_patience, || true).map_err(refused)?;
    let pid = std::process::id();
    lock.sign(Owner::Engine { pid })
        .map_err(Refusal::io(format!(
            "write {}",
            command.step_lock.display()
        )))
        .map_err(refused)?;
    let tee = heard.map(|pieces| Box::new(pieces) as Tee);
    let supervisor = Supervisor::start(program, command, Scope::Group, tee).map_err(refused)?;
    let (sender, news) = mpsc::channel();
    let started = Started {
        link: Link::Thread(supervisor.sender()),
        news,
        pid: supervisor.pid(),
    };
    thread::spawn(move || {
        let ended = supervisor.run();
        drop(lock);
        // The receiver is gone when the end is of no interest.
        drop(sender.send(News::Ended(Box::new(ended))));
    });
    Ok(started)
}

impl Link {
    fn ask(&mut self, ask: Ask) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Holder(holder) => holder.ask(ask),
            Self::Thread(events) => {
                // A thread that is done needs no wish.
                let _ = events.send(Event::Ask(ask));
            }
        }
    }

    /// Ends the command for want of anyone who waits for it.
    fn hang_up(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Holder(holder) => holder.hang_up(),
            Self::Thread(_) => self.ask(Ask::End),
        }
    }

    /// Ends the command in spite of a supervisor that does not.
    fn destroy(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Holder(holder) => holder.destroy(),
            Self::Thread(_) => self.ask(Ask::Kill),
        }
    }
}
