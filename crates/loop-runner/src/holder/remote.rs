//! The engine's end of a holder.

use super::{
    Command, How, StartError, WaitError,
    process::Process,
    protocol::{Job, Order, Report, send},
    running::News,
    scope::exit_of,
    strays::{self, Known},
    supervise::Ask,
    tee::Pieces,
};
use rustix::process::{Pid, Signal};
use std::{
    io::{self, BufRead, BufReader},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Duration,
};

/// The argument by which the binary knows that it is to be a holder.
pub(super) const HIDDEN_ARGUMENT: &str = "__holder";
/// This binary, even if its file was replaced or removed since it was started.
const THIS_BINARY: &str = "/proc/self/exe";
/// How long the report of a holder that has exited may take to be read.
const REPORT_LIMIT: Duration = Duration::from_secs(2);

/// A holder that runs.
#[derive(Debug)]
pub(super) struct Holder {
    process: Process,
    /// Closed, it tells the holder that its engine is gone.
    orders: Option<ChildStdin>,
}

impl Holder {
    /// Starts a holder and gives it its command, whose standard output is handed on
    /// to `heard`.
    pub(super) fn start(
        program: &Path,
        command: &Command,
        heard: Option<Pieces>,
    ) -> Result<(Self, Receiver<News>), StartError> {
        let trouble = |source| StartError::Io {
            doing: "start the process that holds commands".into(),
            source,
        };
        let mut child = launch(heard.is_some()).map_err(trouble)?;
        let orders = child.stdin.take();
        let reports = child.stdout.take();
        if let (Some(heard), Some(output)) = (heard, child.stderr.take()) {
            heard.relay(output);
        }
        // Not reaped yet, so that this finds it even if it has ended.
        let process = Process::find(child.id());
        let (sender, news) = mpsc::channel();
        let (Some(process), Some(reports)) = (process, reports) else {
            return Err(trouble(io::Error::other("/proc is not readable")));
        };
        let known = Known::new(process);
        thread::spawn(move || attend(child, known, reports, &sender));
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

fn launch(heard: bool) -> io::Result<Child> {
    let shown = std::env::args_os().next();
    std::process::Command::new(THIS_BINARY)
        .arg0(shown.unwrap_or_else(|| THIS_BINARY.into()))
        .arg(HIDDEN_ARGUMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(if heard { Stdio::piped() } else { Stdio::null() })
        .spawn()
}

/// Tells how the holder ended, when nothing that it held is left.
fn attend(mut child: Child, holder: Known, reports: ChildStdout, news: &Sender<News>) {
    let (sender, last_report) = mpsc::channel();
    let process = holder.process();
    let started = news.clone();
    thread::spawn(move || {
        // Nobody waits for what a holder said that was killed.
        drop(sender.send(relay(reports, process, &started)));
    });
    // A holder that exits by itself has ended all that it held. What others
    // say in its place, a child that opens its pipe for one, counts for nothing.
    let report = if exit_of(Pid::from_child(&child)) == How::Exited(0) {
        last_report.recv_timeout(REPORT_LIMIT).ok().flatten()
    } else {
        strays::end(&holder);
        None
    };
    let status = child.wait();
    drop(holder);
    let end = match (report, status) {
        (Some(report), _) => report.into(),
        (None, Ok(status)) => News::Lost(WaitError::HolderLost { status }),
        (None, Err(_)) => News::Lost(WaitError::HolderHung),
    };
    // The receiver is gone when the end is of no interest.
    drop(news.send(end));
}

/// Passes on that the command has started, and returns what is said last.
fn relay(reports: ChildStdout, holder: Process, news: &Sender<News>) -> Option<Report> {
    let mut last = None;
    for line in BufReader::new(reports).lines() {
        match line.ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(started @ Report::Started { .. }) => drop(news.send(started.into())),
            Some(end) => last = Some(end),
            None => break,
        }
    }
    if last.is_none() {
        // Whatever it does now, it cannot tell.
        holder.signal(Signal::KILL);
    }
    last
}
