//! Runs one command to its end, in the holder or, without one, in the engine.
//!
//! Everything that can happen comes through one channel into one loop.

use super::{
    Captured, Command, Ended, How, Stdin,
    error::Refusal,
    scope::Scope,
    stream::{self, Stream},
    tee::Tee,
};
use rustix::process::Signal;
use std::{
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

/// How long what the child leaves behind may take to finish by itself.
const DRAIN: Duration = Duration::from_millis(200);
/// How long the pipes are read after everything that should have them is gone.
const CLOSE: Duration = Duration::from_secs(2);
/// How often SIGKILL is sent to what is still there.
const KILL_AGAIN: Duration = Duration::from_millis(20);
/// How long SIGKILL may take before what is left is reported as surviving.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(10);
/// Longer waits than this are as good as none, and would overflow a clock.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Everything that can happen to a running command.
#[derive(Debug)]
pub(super) enum Event {
    /// The child itself has ended.
    Exited(How),
    /// The child and all its descendants have ended.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "a group cannot tell")
    )]
    Empty,
    /// An output stream has no writer any more.
    Closed,
    /// The end is wished.
    Ask(Ask),
}

/// How the end is wished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// SIGTERM, and after the grace SIGKILL.
    End,
    /// SIGKILL.
    Kill,
}

/// Where in its life a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// The child has exited; until then, what it left may finish.
    Draining(Instant),
    /// SIGTERM has been sent; until then there is grace.
    Terminating(Instant),
    /// SIGKILL is being sent; until then it may take effect.
    Killing(Instant),
    /// All processes are gone; until then the last output may be read.
    Closing(Instant),
    Over,
}

/// A command that runs.
pub(super) struct Supervisor {
    child: Child,
    scope: Scope,
    timeout: Duration,
    idle_timeout: Option<Duration>,
    grace: Duration,
    began: Instant,
    outputs: [Stream; 2],
    open_outputs: usize,
    events: Receiver<Event>,
    sender: Sender<Event>,
    phase: Phase,
    exit: Option<How>,
    /// Why we ended it, if we did.
    cause: Option<How>,
    leaked: bool,
}

impl Supervisor {
    /// Starts `command`, whose program was found at `program`, and hands its
    /// standard output on to `tee`.
    pub(super) fn start(
        program: &Path,
        command: &Command,
        scope: Scope,
        tee: Option<Tee>,
    ) -> Result<Self, Refusal> {
        let outputs = [
            create_output(&command.stdout, command.output_cap)?,
            create_output(&command.stderr, command.output_cap)?,
        ];
        let mut child = prepare(program, command)?
            .spawn()
            .map_err(|error| Refusal::Exec {
                errno: error.raw_os_error(),
            })?;
        let began = Instant::now();
        let (sender, events) = mpsc::channel();
        if let (Stdin::Bytes(bytes), Some(pipe)) = (&command.stdin, child.stdin.take()) {
            stream::feed(pipe, bytes.clone());
        }
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            outputs[0].follow(stdout, tee, sender.clone());
            outputs[1].follow(stderr, None, sender.clone());
        }
        scope.watch(&child, sender.clone());
        Ok(Self {
            child,
            scope,
            timeout: command.timeout,
            idle_timeout: command.idle_timeout,
            grace: command.grace,
            began,
            open_outputs: outputs.len(),
            outputs,
            events,
            sender,
            phase: Phase::Running,
            exit: None,
            cause: None,
            leaked: false,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns where to send wishes.
    pub(super) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Waits until everything of the command is gone.
    pub(super) fn run(mut self) -> Ended {
        while self.phase != Phase::Over {
            let patience = self.wake_at().saturating_duration_since(Instant::now());
            match self.events.recv_timeout(patience) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => self.wake(),
            }
            self.settle();
        }
        let survivors = self.scope.close(&mut self.child);
        let [stdout, stderr]: [Captured; 2] = self.outputs.each_ref().map(Stream::finish);
        Ended {
            how: self.cause.or(self.exit).unwrap_or(How::Ended),
            stdout,
            stderr,
            leaked: self.leaked,
            survivors,
            elapsed: self.began.elapsed(),
            containment: self.scope.containment(),
        }
    }

    fn wake_at(&self) -> Instant {
        match self.phase {
            Phase::Running => {
                let time_up = self.time_up_at();
                self.idle_at().map_or(time_up, |idle| idle.min(time_up))
            }
            Phase::Killing(until) => until.min(Instant::now() + KILL_AGAIN),
            Phase::Draining(until) | Phase::Terminating(until) | Phase::Closing(until) => until,
            Phase::Over => Instant::now(),
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Exited(how) => {
                self.exit = Some(how);
                if self.phase == Phase::Running {
                    self.phase = Phase::Draining(after(DRAIN));
                }
            }
            Event::Empty => self.phase = Phase::Closing(after(CLOSE)),
            Event::Closed => self.open_outputs -= 1,
            Event::Ask(ask) => self.obey(ask),
        }
    }

    fn obey(&mut self, ask: Ask) {
        match (ask, self.phase) {
            (_, Phase::Killing(_) | Phase::Closing(_) | Phase::Over) => {}
            (Ask::End, Phase::Terminating(_)) => {}
            (Ask::End, _) => self.terminate(How::Ended),
            (Ask::Kill, _) => {
                self.cause.get_or_insert(How::Ended);
                self.kill();
            }
        }
    }

    /// The time of the phase is up.
    fn wake(&mut self) {
        let now = Instant::now();
        match self.phase {
            Phase::Running if self.time_up_at() <= now => self.terminate(How::TimedOut),
            Phase::Running if self.idle_at().is_some_and(|idle| idle <= now) => {
                self.terminate(How::IdleTimedOut);
            }
            Phase::Draining(_) => self.terminate(How::Ended),
            Phase::Terminating(_) => self.kill(),
            Phase::Killing(until) if until <= now => self.phase = Phase::Over,
            Phase::Killing(_) => self.scope.signal(&self.child, Signal::KILL),
            Phase::Closing(_) => {
                // Someone who is no descendant was given the pipe.
                self.leaked = true;
                self.phase = Phase::Over;
            }
            Phase::Running | Phase::Over => {}
        }
    }

    /// Moves on where what is awaited has come.
    fn settle(&mut self) {
        let killing = matches!(self.phase, Phase::Killing(_));
        let closing = matches!(self.phase, Phase::Closing(_) | Phase::Over);
        if !closing
            && self.exit.is_some()
            && self.scope.is_silently_empty(self.open_outputs, killing)
        {
            self.phase = Phase::Closing(after(CLOSE));
        }
        if matches!(self.phase, Phase::Closing(_)) && self.open_outputs == 0 {
            self.phase = Phase::Over;
        }
    }

    /// Begins to end what is there: all of it because of `cause`, or only what
    /// the child has left behind.
    fn terminate(&mut self, cause: How) {
        if self.exit.is_none() {
            self.cause.get_or_insert(cause);
        }
        self.leaked |= self.exit.is_some();
        self.phase = Phase::Terminating(after(self.grace));
        self.scope.signal(&self.child, Signal::TERM);
        // A stopped process sees SIGTERM only when it goes on.
        self.scope.signal(&self.child, Signal::CONT);
    }

    fn kill(&mut self) {
        self.leaked |= self.exit.is_some();
        self.phase = Phase::Killing(after(KILL_LIMIT));
        self.scope.signal(&self.child, Signal::KILL);
    }

    fn time_up_at(&self) -> Instant {
        self.began + self.timeout.min(FOREVER)
    }

    fn idle_at(&self) -> Option<Instant> {
        let limit = self.idle_timeout?.min(FOREVER);
        self.outputs
            .iter()
            .map(|output| output.heard() + limit)
            .max()
    }
}

/// Describes the child: a group of its own, no descriptors but its three.
fn prepare(program: &Path, command: &Command) -> Result<std::process::Command, Refusal> {
    let mut child = std::process::Command::new(program);
    if let Some((name, arguments)) = command.argv.split_first() {
        child.arg0(name).args(arguments);
    }
    child
        .current_dir(&command.directory)
        .env_clear()
        .envs(command.environment.iter())
        .process_group(0)
        .stdin(match &command.stdin {
            Stdin::Null => Stdio::null(),
            Stdin::Bytes(_) => Stdio::piped(),
            Stdin::File(path) => open_input(path)?.into(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(child)
}

fn open_input(path: &Path) -> Result<File, Refusal> {
    File::open(path).map_err(Refusal::io(format!("read {}", path.display())))
}

fn create_output(path: &Path, cap: u64) -> Result<Stream, Refusal> {
    let created: io::Result<Stream> = Stream::create(path, cap);
    created.map_err(Refusal::io(format!("write {}", path.display())))
}

/// The time that is `wait` from now.
pub(super) fn after(wait: Duration) -> Instant {
    Instant::now() + wait.min(FOREVER)
}
