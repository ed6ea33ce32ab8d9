//! As much of HTTP/1.1 as clients of models need, with a limit on everything.

mod head;

use super::encode::Event;
use head::{Head, Length, line};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long a client may wait between two requests.
const IDLE_LIMIT: Duration = Duration::from_secs(300);
/// How long a request may take to arrive, and one write of an answer to be taken.
const TRANSFER_LIMIT: Duration = Duration::from_secs(30);
/// How long a request may go without an answer, for scripts that give none.
const SILENCE_LIMIT: Duration = Duration::from_secs(3600);
/// How long a client that was refused may take to hear of it.
const LINGER_LIMIT: Duration = Duration::from_secs(5);
/// All lines before the body, and all after it.
const HEAD_LIMIT: u64 = 64 << 10;
const BODY_LIMIT: u64 = 32 << 20;

/// A request as it came.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) method: String,
    /// The path without its query.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum NoRequest {
    /// The client has gone, or was too slow.
    Gone,
    /// It cannot be served; the status and what to tell the client.
    Refused(u16, &'static str),
}

impl From<io::Error> for NoRequest {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// A connection with one client.
#[derive(Debug)]
pub(super) struct Connection {
    reader: BufReader<Timed>,
    writer: TcpStream,
    stays: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_write_timeout(Some(TRANSFER_LIMIT))?;
        stream.set_nodelay(true)?;
        let timed = Timed {
            stream: stream.try_clone()?,
            until: Instant::now(),
        };
        Ok(Self {
            reader: BufReader::new(timed),
            writer: stream,
            stays: false,
        })
    }

    /// Whether the client wants to ask for more over the same connection.
    pub(super) const fn stays(&self) -> bool {
        self.stays
    }

    /// Reads the next request.
    pub(super) fn next(&mut self) -> Result<Incoming, NoRequest> {
        self.reader.get_mut().until = Instant::now() + IDLE_LIMIT;
        if self.reader.fill_buf()?.is_empty() {
            return Err(NoRequest::Gone);
        }
        self.reader.get_mut().until = Instant::now() + TRANSFER_LIMIT;
        let head = Head::read(&mut self.reader)?;
        self.stays = head.stays;
        if head.asks_first {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = match head.length {
            Length::Known(length) => self.bytes(length)?,
            Length::Chunked => self.chunks()?,
        };
        Ok(Incoming {
            method: head.method,
            path: head.path,
            body,
        })
    }

    /// Reads a body of a known length.
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, NoRequest> {
        if length > BODY_LIMIT {
            return Err(TOO_LARGE);
        }
        let mut body = Vec::new();
        let read = self.reader.by_ref().take(length).read_to_end(&mut body)?;
        if (read as u64) < length {
            return Err(NoRequest::Gone);
        }
        Ok(body)
    }

    /// Reads a body that comes in chunks.
    fn chunks(&mut self) -> Result<Vec<u8>, NoRequest> {
        const BROKEN: NoRequest = NoRequest::Refused(400, "the chunks of the body are broken");
        let mut body = Vec::new();
        loop {
            let size = line(&mut self.reader.by_ref().take(HEAD_LIMIT))?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_| BROKEN)?;
            if size > BODY_LIMIT.saturating_sub(body.len() as u64) {
                return Err(TOO_LARGE);
            }
            if size == 0 {
                break;
            }
            let read = self.reader.by_ref().take(size).read_to_end(&mut body)?;
            if (read as u64) < size || !line(&mut self.reader.by_ref().take(2))?.is_empty() {
                return Err(BROKEN);
            }
        }
        let mut trailers = self.reader.by_ref().take(HEAD_LIMIT);
        while !line(&mut trailers)?.is_empty() {}
        Ok(body)
    }

    /// Sends an answer in one piece; `has_body` is false for `HEAD`.
    pub(super) fn send(
        &mut self,
        status: u16,
        retry_after: Option<u32>,
        body: &str,
        has_body: bool,
    ) -> io::Result<()> {
        let reason = if status < 400 { "OK" } else { "Error" };
        let mut text = format!(
            "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        if !self.stays {
            text.push_str("connection: close\r\n");
        }
        if let Some(seconds) = retry_after {
            text.push_str(&format!("retry-after: {seconds}\r\n"));
        }
        text.push_str("\r\n");
        if has_body {
            text.push_str(body);
        }
        self.writer.write_all(text.as_bytes())
    }

    /// Sends a refusal and ends the connection.
    ///
    /// What the client is still sending is read and dropped first: a connection
    /// that is closed over unread bytes is reset, and the refusal lost.
    pub(super) fn refuse(&mut self, status: u16, body: &str) -> io::Result<()> {
        self.stays = false;
        self.send(status, None, body, true)?;
        self.writer.shutdown(Shutdown::Write)?;
        self.reader.get_mut().until = Instant::now() + LINGER_LIMIT;
        io::copy(
            &mut self.reader.by_ref().take(2 * BODY_LIMIT),
            &mut io::sink(),
        )
        .map(drop)
    }

    /// Sends the head of an answer in one piece and half of its body, and closes.
    pub(super) fn send_half(&mut self, body: &str) -> io::Result<()> {
        let half = body.floor_char_boundary(body.len() / 2);
        write!(
            self.writer,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
            body.len(),
            &body[..half]
        )?;
        self.close()
    }

    /// Sends an answer as a stream of events, one chunk each.
    pub(super) fn stream(&mut self, events: &[Event]) -> io::Result<()> {
        self.writer.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )?;
        for event in events {
            let name = event.name.map(|name| format!("event: {name}\n"));
            let text = format!("{}data: {}\n\n", name.unwrap_or_default(), event.data);
            write!(self.writer, "{:x}\r\n{text}\r\n", text.len())?;
        }
        Ok(())
    }

    /// Says that the stream of events is whole.
    pub(super) fn end_stream(&mut self) -> io::Result<()> {
        self.writer.write_all(b"0\r\n\r\n")
    }

    /// Says nothing until the client has gone, or the server ends.
    pub(super) fn hang(&mut self) -> io::Result<()> {
        self.writer.set_read_timeout(Some(SILENCE_LIMIT))?;
        self.writer.peek(&mut [0]).map(drop)
    }

    /// Ends the connection at once.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.writer.shutdown(Shutdown::Both)
    }
}

const TOO_LARGE: NoRequest = NoRequest::Refused(413, "the body is too large");

/// A stream that gives up at a moment, however slowly bytes come in.
#[derive(Debug)]
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}
