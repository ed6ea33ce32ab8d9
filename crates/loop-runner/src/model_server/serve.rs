//! The listener and its connections, one thread each.

use super::Request;
use super::encode;
use super::http::{Connection, Incoming, NoRequest};
use super::reply::{Replies, Reply};
use super::script::Script;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More clients than this at once are turned away.
const CLIENTS: usize = 64;
/// How many requests are remembered.
const REMEMBERED: usize = 4096;

/// What all connections have in common.
#[derive(Debug)]
pub(super) struct Shared {
    replies: Mutex<Replies>,
    requests: Mutex<VecDeque<Request>>,
    stops: AtomicBool,
}

impl Shared {
    pub(super) fn new(script: Script) -> Self {
        Self {
            replies: Mutex::new(Replies::new(script)),
            requests: Mutex::default(),
            stops: AtomicBool::new(false),
        }
    }

    pub(super) fn stop(&self) {
        self.stops.store(true, Ordering::SeqCst);
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        lock(&self.requests).iter().cloned().collect()
    }

    /// Decides on an answer and remembers the request before it is sent.
    fn reply(&self, incoming: &Incoming) -> Reply {
        let (reply, request) = lock(&self.replies).to(incoming);
        self.remember(request);
        reply
    }

    fn remember(&self, request: Request) {
        let mut requests = lock(&self.requests);
        if requests.len() == REMEMBERED {
            requests.pop_front();
        }
        requests.push_back(request);
    }
}

/// Nothing is left half done under these locks, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes clients until the server stops, and then ends them all.
pub(super) fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut clients: Vec<Client> = Vec::new();
    while let accepted = listener.accept()
        && !shared.stops.load(Ordering::SeqCst)
    {
        clients.retain(|client| !client.thread.is_finished());
        let taken = match accepted {
            Ok((stream, _)) if clients.len() < CLIENTS => Client::take(stream, shared),
            Ok((stream, _)) => turn_away(stream).map(|()| None),
            Err(error) => Err(error),
        };
        match taken {
            Ok(client) => clients.extend(client),
            // No descriptor or no thread was to be had: let some go first.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    for client in &clients {
        drop(client.stream.shutdown(Shutdown::Both));
    }
    for client in clients {
        drop(client.thread.join());
    }
}

/// A client and the thread that answers it.
struct Client {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Client {
    fn take(stream: TcpStream, shared: &Arc<Shared>) -> io::Result<Option<Self>> {
        let connection = Connection::new(stream.try_clone()?)?;
        let shared = Arc::clone(shared);
        let builder = thread::Builder::new().name("model-client".to_owned());
        let thread = builder.spawn(move || serve(connection, &shared))?;
        Ok(Some(Self { stream, thread }))
    }
}

fn turn_away(stream: TcpStream) -> io::Result<()> {
    let body = encode::error(None, 503, "too many clients at once").to_string();
    Connection::new(stream)?.send(503, Some(1), &body, true)
}

/// Answers one client until either side has enough.
fn serve(mut connection: Connection, shared: &Shared) {
    loop {
        match connection.next() {
            Ok(incoming) => {
                let reply = shared.reply(&incoming);
                let sent = send(&mut connection, &reply, incoming.method != "HEAD");
                if sent.is_err() || !connection.stays() {
                    break;
                }
            }
            Err(NoRequest::Gone) => break,
            Err(NoRequest::Refused(status, why)) => {
                let mut request = Request::new("", "");
                request.status = Some(status);
                shared.remember(request);
                let body = encode::error(None, status, why).to_string();
                drop(connection.refuse(status, &body));
                break;
            }
        }
    }
    // The client may be gone already.
    drop(connection.close());
}

fn send(connection: &mut Connection, reply: &Reply, has_body: bool) -> io::Result<()> {
    match reply {
        Reply::Whole {
            status,
            retry_after,
            body,
        } => connection.send(*status, *retry_after, &body.to_string(), has_body),
        Reply::Events(events) => {
            connection.stream(events)?;
            connection.end_stream()
        }
        Reply::HalfWhole(body) => connection.send_half(&body.to_string()),
        Reply::HalfEvents(events) => {
            connection.stream(events)?;
            connection.close()
        }
        Reply::Silence => connection.hang(),
    }
}
