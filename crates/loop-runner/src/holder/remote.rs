//! The engine's end of a holder.

use super::{
    Command, StartError, WaitError,
    process::Process,
    protocol::{Job, Order, Report, send},
    running::News,
    supervise::Ask,
};
use std::{
    io::{self, BufRead, BufReader},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

/// The argument by which the binary knows that it is to be a holder.
pub(super) const HIDDEN_ARGUMENT: &str = "__holder";
/// This binary, even if its file was replaced or removed since it was started.
const THIS_BINARY: &str = "/proc/self/exe";

/// A holder that runs.
#[derive(Debug)]
pub(super) struct Holder {
    process: Process,
    /// Closed, it tells the holder that its engine is gone.
    orders: Option<ChildStdin>,
}

impl Holder {
    /// Starts a holder and gives it its command.
    pub(super) fn start(
        program: &Path,
        command: &Command,
    ) -> Result<(Self, Receiver<News>), StartError> {
        let trouble = |source| StartError::Io {
            doing: "start the process that holds commands".into(),
            source,
        };
        let mut child = launch().map_err(trouble)?;
        let orders = child.stdin.take();
        let reports = child.stdout.take();
        // Not reaped yet, so that this finds it even if it has ended.
        let process = Process::find(child.id());
        let (sender, news) = mpsc::channel();
        let (Some(process), Some(reports)) = (process, reports) else {
            return Err(trouble(io::Error::other("/proc is not readable")));
        };
        thread::spawn(move || relay(reports, child, process, &sender));
        let mut holder = Self { process, orders };
        let job = Order::Start(Box::new(Job::new(program, command)));
        holder.send(&job).map_err(trouble)?;
        Ok((holder, news))
    }

    /// Passes a wish on.
    pub(super) fn ask(&mut self, ask: Ask) {
        let order = match ask {
            Ask::End => Order::End,
            Ask::Kill => Order::Kill,
        };
        // A holder that is gone is told by the end of its reports.
        drop(self.send(&order));
    }

    /// Tells the holder that nobody is interested any more.
    pub(super) fn hang_up(&mut self) {
        self.orders = None;
    }

    /// Kills the holder's descendants, then the holder.
    pub(super) fn destroy(&self) {
        self.process.kill_family();
    }

    fn send(&mut self, order: &Order) -> io::Result<()> {
        match &mut self.orders {
            Some(orders) => send(orders, order),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl From<Report> for News {
    fn from(report: Report) -> Self {
        match report {
            Report::Started { pid } => Self::Started { pid },
            Report::Refused(refusal) => Self::Refused(refusal),
            Report::Ended(ended) => Self::Ended(ended),
        }
    }
}

fn launch() -> io::Result<Child> {
    let shown = std::env::args_os().next();
    std::process::Command::new(THIS_BINARY)
        .arg0(shown.unwrap_or_else(|| THIS_BINARY.into()))
        .arg(HIDDEN_ARGUMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// Passes on what the holder says, and cleans up if it ends too early.
fn relay(reports: ChildStdout, mut child: Child, process: Process, news: &Sender<News>) {
    let mut complete = false;
    for line in BufReader::new(reports).lines() {
        let Some(report) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
            break;
        };
        complete |= !matches!(report, Report::Started { .. });
        // The receiver is gone when the end is of no interest.
        drop(news.send(report.into()));
    }
    if !complete {
        // The holder is not reaped yet, so that its session is still its own.
        process.kill_session();
    }
    let lost = match child.wait() {
        Ok(status) => WaitError::HolderLost { status },
        Err(_) => WaitError::HolderHung,
    };
    if !complete {
        drop(news.send(News::Lost(lost)));
    }
}
