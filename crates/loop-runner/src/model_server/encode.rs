//! An answer in the shape of each API: whole, and as a stream of events.

mod chat;
mod generate;
mod messages;
mod responses;

use super::act::Act;
use super::api::Api;
use super::script::Usage;
use serde_json::{Value, json};

/// An answer in both forms; the client says which one it wants.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) whole: Value,
    pub(super) events: Vec<Event>,
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: Option<&'static str>,
    pub(super) data: String,
}

impl Event {
    fn plain(data: &Value) -> Self {
        Self {
            name: None,
            data: data.to_string(),
        }
    }

    fn named(name: &'static str, data: &Value) -> Self {
        Self {
            name: Some(name),
            data: data.to_string(),
        }
    }
}

/// What an answer is made of.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) act: &'a Act,
    pub(super) usage: Usage,
    pub(super) model: &'a str,
    /// A number that no other answer of this server has.
    pub(super) number: u64,
}

/// The moment at which every answer says it was made, so that answers are the same each time.
const CREATED: u64 = 1_700_000_000;

impl Answer<'_> {
    pub(super) fn encode(&self, api: Api) -> Encoded {
        match api {
            Api::Chat => chat::encode(self),
            Api::Responses => responses::encode(self),
            Api::Messages => messages::encode(self),
            Api::Generate => generate::encode(self),
        }
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_{}", self.number)
    }
}

/// Cuts a text into the pieces that a stream gives it in.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(24)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// Returns the body of an error.
pub(super) fn error(api: Option<Api>, status: u16, message: &str) -> Value {
    let kind = match status {
        400 | 413 | 415 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "server_error",
    };
    match api {
        Some(Api::Messages) => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Some(Api::Generate) => {
            let name = match status {
                400 => "INVALID_ARGUMENT",
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            json!({"error": {"code": status, "message": message, "status": name}})
        }
        Some(Api::Chat | Api::Responses) | None => {
            let code = match status {
                401 => "invalid_api_key".into(),
                429 => "rate_limit_exceeded".into(),
                _ => Value::Null,
            };
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
    }
}

/// Returns the list of models, in the shapes of all APIs at once.
pub(super) fn models() -> Value {
    const NAME: &str = "scripted";
    json!({
        "object": "list",
        "data": [{
            "id": NAME, "object": "model", "created": CREATED, "owned_by": "script",
            "type": "model", "display_name": NAME, "created_at": "2023-11-14T22:13:20Z",
        }],
        "has_more": false,
        "models": [],
    })
}
