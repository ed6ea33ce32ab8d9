//! What a server remembers of a request.

use super::api::Api;
use super::conversation::Conversation;

/// A request that was made, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method: `POST`, `GET`, ...
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The API, if it was for an answer of the model.
    pub api: Option<Api>,
    /// What the user said last; the first 64 KiB of it.
    pub text: String,
    /// The names of the tools that the agent has.
    pub tools: Vec<String>,
    /// The marker of the role that was found in the conversation.
    pub role: Option<String>,
    /// Which step of that role was taken, counted from 0.
    pub step: Option<usize>,
    /// The status of the answer; `None` where the script gives no answer.
    pub status: Option<u16>,
}

const TEXT_LIMIT: usize = 64 << 10;

impl Request {
    pub(super) fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            api: None,
            text: String::new(),
            tools: Vec::new(),
            role: None,
            step: None,
            status: None,
        }
    }

    pub(super) fn describe(&mut self, conversation: &Conversation) {
        let text = conversation.texts().next().unwrap_or_default();
        self.text = text[..text.floor_char_boundary(TEXT_LIMIT)].to_owned();
        let names = conversation.tools.iter().map(|tool| tool.name.clone());
        self.tools = names.collect();
    }
}
