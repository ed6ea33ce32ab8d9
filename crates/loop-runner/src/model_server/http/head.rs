//! The lines before the body of a request.

use super::{HEAD_LIMIT, NoRequest};
use std::io::{BufRead, Read};

/// What the lines before a body say.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    /// The path without its query.
    pub(super) path: String,
    /// Whether the client wants to ask for more over the same connection.
    pub(super) stays: bool,
    /// Whether the client waits for a word before it sends the body.
    pub(super) asks_first: bool,
    pub(super) length: Length,
}

/// How long a body is.
#[derive(Debug)]
pub(super) enum Length {
    Known(u64),
    Chunked,
}

impl Head {
    /// Reads everything before the body.
    pub(super) fn read(from: &mut impl BufRead) -> Result<Self, NoRequest> {
        let mut lines = from.take(HEAD_LIMIT);
        let first = line(&mut lines)?;
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version)) =
            (words.next(), words.next(), words.next())
        else {
            return Err(NoRequest::Refused(400, "this is no request of HTTP"));
        };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let mut head = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            stays: version == "HTTP/1.1",
            asks_first: false,
            length: Length::Known(0),
        };
        loop {
            let line = line(&mut lines)?;
            if line.is_empty() {
                return Ok(head);
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(NoRequest::Refused(400, "a line of the head has no colon"));
            };
            head.take(
                &name.to_ascii_lowercase(),
                &value.trim().to_ascii_lowercase(),
            )?;
        }
    }

    /// Takes a header; name and value are in lower case.
    fn take(&mut self, name: &str, value: &str) -> Result<(), NoRequest> {
        match name {
            "content-length" => {
                let length = value.parse();
                let length =
                    length.map_err(|_| NoRequest::Refused(400, "content-length is no number"))?;
                // A body in chunks has no other length.
                if matches!(self.length, Length::Known(_)) {
                    self.length = Length::Known(length);
                }
            }
            "transfer-encoding" if value == "chunked" => self.length = Length::Chunked,
            "transfer-encoding" => {
                return Err(NoRequest::Refused(
                    501,
                    "the only transfer-encoding is chunked",
                ));
            }
            "content-encoding" if value != "identity" => {
                return Err(NoRequest::Refused(
                    415,
                    "send the body as it is, without a content-encoding",
                ));
            }
            "expect" => self.asks_first = value == "100-continue",
            "connection" if value.contains("close") => self.stays = false,
            _ => {}
        }
        Ok(())
    }
}

/// Reads a line without its end.
pub(super) fn line(from: &mut impl BufRead) -> Result<String, NoRequest> {
    let mut bytes = Vec::new();
    from.read_until(b'\n', &mut bytes)?;
    match bytes.as_slice() {
        [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => {
            Ok(String::from_utf8_lossy(text).into_owned())
        }
        [] => Err(NoRequest::Gone),
        _ => Err(NoRequest::Refused(431, "a line is broken off or too long")),
    }
}
